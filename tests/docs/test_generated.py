"""The generated parts of the pages are up to date."""

import asyncio
import difflib
import re
from datetime import date

import pytest

from docs.generate.functions.examples import EXAMPLES, Examples, worked_out
from docs.generate.functions.stub import stubs
from docs.generate.pages import DOCS, NAVIGATION, PART, all_parts, renewed, renewed_navigation
from docs.generate.protocol import protocol_files
from udfs import REGISTRY
from udfs.errors import CellError


@pytest.fixture(scope="module")
def parts() -> dict[str, str]:
    return all_parts()


def test_every_page_says_what_the_code_says(parts):
    outdated = []
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        difference = difflib.unified_diff(text.splitlines(), renewed(text, parts).splitlines(), lineterm="", n=0)
        if lines := list(difference):
            outdated += [str(page.relative_to(DOCS)), *lines[:10]]
    assert outdated == [], "regenerate them with: make reference"


def test_the_navigation_the_type_stubs_and_the_protocols_readers_say_what_the_code_says():
    navigation = NAVIGATION.read_text(encoding="utf-8")
    assert navigation == renewed_navigation(navigation), "regenerate it with: make reference"
    files = {**stubs(), **protocol_files()}
    outdated = [path for path, text in files.items() if path.read_text(encoding="utf-8") != text]
    assert outdated == [], "regenerate them with: make reference"


def test_every_part_stands_in_a_page(parts):
    standing = {
        found["name"] for page in DOCS.rglob("*.md") for found in PART.finditer(page.read_text(encoding="utf-8"))
    }
    assert standing == set(parts)


def test_every_function_has_examples_in_the_reference():
    assert set(EXAMPLES) == set(REGISTRY)


def test_the_formulas_to_copy_show_values_on_the_made_up_data():
    copied = {function.id: [_with_text_dates(each) for each in function.examples] for function in REGISTRY.values()}
    alone = {name: Examples([each for each in formulas if _needs_no_cells(each)]) for name, formulas in copied.items()}
    found = asyncio.run(worked_out(alone))
    assert len(found) > 30
    assert {formula: shown for formula, shown in found.items() if isinstance(shown, CellError)} == {}


def _with_text_dates(formula):
    return re.sub(r"DATE\((\d+), (\d+), (\d+)\)", lambda day: f'"{date(*map(int, day.groups()))}"', formula)


def _needs_no_cells(formula):
    return not re.search(r"\b[A-Z]+\d+(?=[:,)])", re.sub('"[^"]*"', "", formula))


def test_a_part_is_replaced_between_its_marks_only():
    page = "before\n<!-- generated: settings -->\nold\n<!-- end of generated -->\nafter\n"
    new = "before\n<!-- generated: settings -->\n\nnew\n\n<!-- end of generated -->\nafter\n"
    assert renewed(page, {"settings": "new"}) == new


def test_a_part_that_nothing_makes_is_an_error():
    with pytest.raises(KeyError, match="colours"):
        renewed("<!-- generated: colours -->\n<!-- end of generated -->\n", {})
