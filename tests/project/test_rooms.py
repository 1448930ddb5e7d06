"""The rooms of the house: small folders, one way through them, and tests beside what they test."""

import re
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

from tests.project.files import PROJECT, files_ending, project_files, read

PACKAGES = {"addin", "dataservice", "udfs"}
MAX_FILES = 15
# Folders that may hold more, and why.
ONE_FILE_EACH = {
    "addin/calc/component": "LibreOffice loads it as one flat package from inside the extension",
    "addin/cli/commands": "one file a command",
    "udfs/functions": "one file a function",
}
TASKPANE = Path("addin/excel/static/taskpane")
# From the top down: a module imports from its own floor or from those below.
FLOORS = ["main.js", "views", "ui", "data"]


def sources() -> list[Path]:
    return [path for path in files_ending(".py", ".js") if path.parts[0] in PACKAGES and path.name != "__init__.py"]


def imports_in(script: Path) -> set[Path]:
    """Return the modules that a script imports, for their values or in a comment for their types."""
    targets = re.findall(r"""(?:\bfrom|\bimport)[\s(]*["'](\.[^"']+)["']""", read(script))
    return {(PROJECT / script.parent / target).resolve().relative_to(PROJECT) for target in targets}


def value_imports_in(script: Path) -> set[Path]:
    code = re.sub(r"/\*.*?\*/", "", read(script), flags=re.DOTALL)
    targets = re.findall(r"""\bfrom\s*["'](\.[^"']+)["']""", code)
    return {(PROJECT / script.parent / target).resolve().relative_to(PROJECT) for target in targets}


def floor(script: Path) -> int:
    return FLOORS.index(script.relative_to(TASKPANE).parts[0])


def taskpane_scripts() -> list[Path]:
    return [path for path in files_ending(".js") if path.is_relative_to(TASKPANE)]


def test_a_folder_shows_at_most_fifteen_files():
    shown = Counter(path.parent.as_posix() for path in sources())
    assert {folder: n for folder, n in shown.items() if n > MAX_FILES and folder not in ONE_FILE_EACH} == {}


def test_a_folder_of_tests_shows_at_most_fifteen_files():
    tests = [path for path in files_ending(".py", ".js") if path.parts[0] == "tests" and path.name != "__init__.py"]
    shown = Counter(path.parent.as_posix() for path in tests)
    one_each = {f"tests/{folder}" for folder in ONE_FILE_EACH}
    assert {folder: n for folder, n in shown.items() if n > MAX_FILES and folder not in one_each} == {}


def test_a_module_lists_its_public_names_only_in_the_init_of_its_package():
    assert [str(path) for path in sources() if path.suffix == ".py" and "__all__" in read(path)] == []


def test_the_task_pane_imports_one_way():
    upwards = [
        f"{script} -> {target}"
        for script in taskpane_scripts()
        for target in imports_in(script)
        if target.is_relative_to(TASKPANE) and floor(target) < floor(script)
    ]
    assert upwards == []
    assert {floor(script) for script in taskpane_scripts()} == set(range(len(FLOORS)))


def test_the_task_pane_imports_in_no_circle():
    TopologicalSorter({script: value_imports_in(script) for script in taskpane_scripts()}).prepare()


def test_every_import_of_the_task_pane_leads_to_a_file():
    files = set(project_files())
    imported = {target for script in taskpane_scripts() for target in imports_in(script)}
    assert [str(target) for target in imported - files] == []


def test_every_test_folder_mirrors_a_folder_of_the_packages():
    tests = [path.relative_to("tests") for path in files_ending(".py") if path.is_relative_to("tests")]
    tested = {path.parent for path in tests if path.parts[0] in PACKAGES and path.name.startswith("test_")}
    rooms = {folder for path in project_files() for folder in path.parents}
    assert tested
    assert sorted(str(folder) for folder in tested - rooms) == []
