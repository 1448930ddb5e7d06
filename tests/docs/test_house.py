"""The picture of the house shows the folders and imports that the code has now."""

import re
from functools import cache
from xml.etree import ElementTree as ET

import pytest

from docs.generate.house.picture import CARDS, PICTURE, WITH_CARD, house, room_of
from docs.generate.imports import reach, without_detours
from tests.docs.pages import PROJECT, pages
from tests.project.files import files_ending, imported_modules

SVG = "{http://www.w3.org/2000/svg}"
PACKAGES = {"addin", "udfs", "dataservice"}


@pytest.fixture(scope="module")
def picture() -> ET.Element:
    return ET.fromstring(PICTURE.read_text(encoding="utf-8"))


def boxes(picture: ET.Element) -> dict[str, dict[str, float]]:
    """The rectangles of the picture by the folder that each shows."""
    groups = [group for group in picture.iter(f"{SVG}g") if group.get("data-folder")]
    return {
        group.attrib["data-folder"]: {name: float(group[0].attrib[name]) for name in ("x", "y", "width", "height")}
        for group in groups
    }


def arrows(picture: ET.Element) -> set[tuple[str, str]]:
    return {
        (path.attrib["data-from"], path.attrib["data-to"])
        for path in picture.iter(f"{SVG}path")
        if "data-from" in path.attrib
    }


@cache
def code_folders() -> set[str]:
    return {path.parent.as_posix() for path in files_ending(".py") if path.parts[0] in PACKAGES}


def card_of(room: str) -> str:
    """The package that a room belongs to."""
    return room if room in CARDS else room.rpartition("/")[0] or room


@cache
def imports_to_show() -> set[tuple[str, str]]:
    """Every import between two rooms of a card, or between two cards, as the files have it.

    A package's own `__init__` only re-exports, and the files directly in a package are shared by all its rooms.
    """
    found = set()
    for path in files_ending(".py"):
        if path.parts[0] in PACKAGES and path.name != "__init__.py":
            for name in imported_modules(path):
                parts = name.split(".")
                ways = ("/".join(parts[:count]) for count in range(len(parts), 0, -1))
                target = next((each for each in ways if each in code_folders()), None)
                if target:
                    found.add((room_of(path.parent.as_posix()), room_of(target)))
    inside = {(a, b) for a, b in found if card_of(a) == card_of(b) and not {a, b} & set(CARDS)}
    between = {(card_of(a), card_of(b)) for a, b in found if {card_of(a), card_of(b)} <= set(CARDS)}
    return {(a, b) for a, b in inside | between if a != b}


def test_the_committed_picture_is_the_one_that_the_code_draws():
    assert PICTURE.read_text(encoding="utf-8") == house(), "draw it again with: make reference"


def test_every_folder_is_named_in_the_picture(picture):
    words = {
        word.strip("().:")
        for text in picture.iter(f"{SVG}text")
        for part in text.itertext()
        for word in re.split(r"[\s/]+", part)
    }
    assert {folder.rpartition("/")[2] for folder in code_folders()} - words == set()
    assert {room_of(folder) for folder in code_folders()} == set(boxes(picture))


def test_every_box_is_a_folder(picture):
    assert set(boxes(picture)) <= code_folders() - set(WITH_CARD)


def test_every_arrow_is_an_import_of_the_code(picture):
    assert arrows(picture) <= imports_to_show()


def test_every_import_is_an_arrow_or_follows_from_arrows(picture):
    assert imports_to_show() - reach(frozenset(arrows(picture))) == set()


def test_all_arrows_point_down(picture):
    at = boxes(picture)
    assert [(a, b) for a, b in arrows(picture) if at[a]["y"] + at[a]["height"] > at[b]["y"]] == []


def test_folders_that_import_each_other_in_a_circle_cannot_be_drawn():
    with pytest.raises(ValueError, match="in a circle: a, b"):
        without_detours(frozenset({("a", "b"), ("b", "a")}))


def test_a_folder_that_nobody_described_is_an_error():
    with pytest.raises(ValueError, match="what lives in addin/attic"):
        room_of("addin/attic")


PATH = re.compile(r"(?<![\w/])(?:addin|udfs|dataservice|tests|docs)/[\w/.-]*\w/?")


def test_the_files_that_the_page_of_the_house_names_are_there():
    page = pages()["docs/architecture.md"]
    assert [path for path in PATH.findall(page) if not (PROJECT / path).exists()] == []


def test_each_step_to_add_something_begins_with_its_file_and_names_what_stands_in_it():
    part = pages()["docs/architecture.md"].partition("{ #where }")[2].partition("{ #imports }")[0]
    steps = re.findall(r"^\d+\. (.*?)(?=^\d+\. |^$)", part, re.MULTILINE | re.DOTALL)
    assert [step for step in steps if not re.match(r"`[\w/.-]+\.(py|md|js|yaml|json|toml)`: ", step)] == []
    missing = []
    for step in steps:
        code = re.findall(r"`([^`]+)`", step)
        texts = [(PROJECT / name).read_text(encoding="utf-8") for name in code if (PROJECT / name).is_file()]
        names = [name for name in code if re.fullmatch(r"[A-Za-z_]\w+", name)]
        missing += [(name, step) for name in names if not any(re.search(rf"\b{name}", text) for text in texts)]
    assert missing == []
