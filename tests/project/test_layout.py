"""Where things are is part of the promise: people and tools find them by these names."""

from tests.project.files import project_files

TOP_LEVEL = {
    "pyproject.toml",
    "addin",
    "udfs",
    "tests",
    "workbook_template.xlsx",
    "dataservice",
    "docs",
    "benchmarks",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "constraints.txt",
    "mkdocs.yml",
    ".ci",
    ".editorconfig",
    ".gitattributes",
    ".gitignore",
}
VAGUE = {"common", "helper", "helpers", "lib", "manager", "misc", "util", "utils"}


def test_the_top_level_holds_what_it_is_said_to_hold_and_nothing_else():
    assert {path.parts[0] for path in project_files()} == TOP_LEVEL


def test_no_file_or_folder_has_a_name_that_says_nothing():
    assert [str(path) for path in project_files() if VAGUE & {*path.parts[:-1], path.stem}] == []


def test_every_room_of_the_packages_has_tests_of_its_own():
    packages = {path.parts[0] for path in project_files() if path.name == "__init__.py" and len(path.parts) == 2}
    tested = {path.parts[1] for path in project_files() if path.match("tests/*/**/test_*.py")}
    tested |= {path.parts[1] for path in project_files() if path.match("tests/*/test_*.py")}
    assert packages - {"tests", "benchmarks"} <= tested
