"""One version, written in one place, and pins that say versions only."""

import json
import re
import tomllib

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from dataservice.version import NEXT, four_numbers, product_version, version_of
from tests.project.files import PROJECT, read

PYPROJECT = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
NAME = PYPROJECT["project"]["name"]
PINS = [line for line in read(PROJECT / "constraints.txt").splitlines() if not line.startswith("#")]


def direct_requirements() -> set[str]:
    groups = PYPROJECT["dependency-groups"]
    extras = PYPROJECT["project"]["optional-dependencies"]
    lines = [*PYPROJECT["project"]["dependencies"], *groups["dev"], *groups["docs"], *extras["redis"], *extras["mcp"]]
    return {canonicalize_name(Requirement(line).name) for line in lines} - {NAME}


def test_the_version_comes_from_the_commit_and_is_higher_than_every_one_in_the_change_log():
    told = re.findall(r"^## \[?([0-9][^\]\s]*)", read(PROJECT / "CHANGELOG.md"), flags=re.MULTILINE)
    assert PYPROJECT["project"]["dynamic"] == ["version"]
    assert Version(product_version()) >= max(map(Version, told))
    assert Version(NEXT) >= max(map(Version, told))


def test_of_two_commits_the_later_one_has_the_higher_version():
    described = [("1a2b3c4", 900), ("5d6e7f8", 901), ("v0.2.0-0-g2b3c4d5", 950), ("v0.2.0-1-g3c4d5e6", 951)]
    versions = [Version(version_of(each, commits, "")) for each, commits in [*described, ("v0.2.1-0-g4d5e6f7", 990)]]
    assert versions == sorted(set(versions))
    assert Version("0.1.0") < versions[0]
    numbers = [tuple(map(int, four_numbers(str(version)).split("."))) for version in versions]
    assert numbers == sorted(set(numbers)), "of what Office sees, too"


def test_changes_that_are_not_committed_are_another_version():
    assert len({version_of("v0.2.0-0-g2b3c4d5", 9, changes) for changes in ("", "one", "other")}) == 3


def test_pins_name_a_package_and_a_version_and_nothing_else():
    assert [line for line in PINS if not re.fullmatch(r"[a-z0-9][a-z0-9._-]*==[0-9][a-z0-9.!+]*", line)] == []


def test_the_page_of_dependencies_names_each_that_users_get_and_no_other():
    project = PYPROJECT["project"]
    lines = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    page = read(PROJECT / "docs" / "dependencies.md")
    named = re.findall(r"^\| ([a-z0-9-]+) \| (?!what|extra)", page, flags=re.MULTILINE)
    assert sorted(named) == sorted(canonicalize_name(Requirement(line).name) for line in lines)


def test_the_file_with_hashes_names_the_same_versions_and_a_hash_of_each():
    text = read(PROJECT / ".ci" / "hashes.txt")
    assert re.findall(r"^([a-z0-9._-]+==[^ ;\\]+)", text, re.MULTILINE) == PINS, "run make constraints"
    blocks = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert [block.split()[0] for block in blocks if not re.search(r"--hash=sha256:[0-9a-f]{64}", block)] == []
    assert "//" not in text, "no address: a mirror has the same files"


def test_pins_are_sorted_and_name_each_package_once():
    names = [line.split("==")[0] for line in PINS]
    assert names == sorted(set(names))


def test_everything_the_project_asks_for_is_pinned():
    assert direct_requirements() - {canonicalize_name(line.split("==")[0]) for line in PINS} == set()


def test_the_project_does_not_pin_itself():
    assert [line for line in PINS if line.startswith(NAME)] == []


def test_the_javascript_test_tools_are_pinned_exactly():
    tools = json.loads(read(PROJECT / "tests/node/package.json"))["devDependencies"]
    assert {name: version for name, version in tools.items() if not re.fullmatch(r"\d+\.\d+\.\d+", version)} == {}
