"""Who imports whom, and what starting up must not load."""

import subprocess
import sys

import pytest

from docs.generate.commands import commands
from tests.project.files import PROJECT, files_ending, imported_modules

# Loaded only when a command or function needs them: they cost up to a second each.
HEAVY = {"cryptography", "fastapi", "lxml", "openpyxl", "pandas", "sqlalchemy", "uvicorn", "xlsxwriter", "xlwings"}
LOADED_BY_THE_FUNCTIONS = {"httpx", "keyring", "numpy", "orjson", "pydantic", "rich", "udfs"}
EXTRAS = {"authlib", "fastapi", "httpx2", "mcp", "psycopg", "redis", "rfc3161_client", "sqlalchemy"}
# The modules of each extra.
NEEDS_MORE = {
    "addin.cli.demo_server": "service",
    "addin.cli.load.own_backend": "service",
    "addin.mcp.over_http": "mcp",
    "addin.mcp.server": "mcp",
    "dataservice.cache.redis": "redis",
    "dataservice.ledger.redis": "redis",
    "dataservice.server": "service",
    "dataservice.stores.redis": "redis",
    "dataservice.stores.redis_address": "redis",
}
DOORS = (
    "dataservice.client.contract",
    "dataservice.terminal",
    "udfs.arguments",
    "udfs.engine",
    "udfs.records",
    "udfs.timeseries",
)
# What runs inside LibreOffice's own Python; some of it needs UNO, which is only there.
INSIDE_CALC = "addin.calc.component."


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded_by(module: str) -> set[str]:
    return set(run_python(f"import sys, {module}; print(*sys.modules)").split())


def modules() -> list[str]:
    paths = [path for path in files_ending(".py") if path.parts[0] in {"addin", "dataservice", "udfs"}]
    return [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in paths]


def test_imports_point_one_way():
    lint = subprocess.run(
        [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command; lint_imports_command()",
            "--no-cache",
        ],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert lint.returncode == 0, lint.stdout


def test_rooms_that_offer_names_are_entered_by_their_door_from_other_packages():
    """A module inside them is imported by its own package only, so that it can be moved or split."""
    rooms = {name for name in modules() if name.startswith(tuple(f"{room}." for room in DOORS))}
    assert rooms
    inside = [
        f"{path}: {name}"
        for path in files_ending(".py")
        if path.parts[0] in {"addin", "udfs"}
        for name in imported_modules(path) & rooms
        if not name.startswith(f"{path.parts[0]}.")
    ]
    assert inside == []


@pytest.mark.parametrize("module", ["dataservice.client", "udfs"])
def test_the_client_and_the_functions_load_nothing_heavy(module):
    assert (HEAVY | EXTRAS) & loaded_by(module) == set()


@pytest.mark.parametrize("module", ["addin.cli.main", "dataservice.cli.main"])
def test_a_command_starts_without_loading_what_another_command_needs(module):
    assert (HEAVY | EXTRAS | LOADED_BY_THE_FUNCTIONS) & loaded_by(module) == set()


def test_a_formula_on_the_command_line_is_read_without_what_reads_workbooks():
    assert "openpyxl" not in loaded_by("addin.workbook.calculation.single")


SHOW_HELP = """
import contextlib, importlib, io, sys
app = importlib.import_module(sys.argv[1]).app
for words in sys.argv[2:]:
    with contextlib.redirect_stdout(io.StringIO()) as shown, contextlib.suppress(SystemExit):
        app([*words.split(), "--help"])
    print(f"<{words}>", *(sys.modules if "Usage:" in shown.getvalue() else ["no help"]))
"""


@pytest.mark.parametrize("program", ["addin", "dataservice"])
def test_no_help_of_a_command_loads_what_the_command_needs(program):
    asked = [" ".join(words[1:]) for words, _ in commands() if words[0] == program]
    done = subprocess.run(
        [sys.executable, "-c", SHOW_HELP, f"{program}.cli.main", *asked], cwd=PROJECT, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) == len(asked)
    too_much = HEAVY | EXTRAS | LOADED_BY_THE_FUNCTIONS | {"no"}
    assert [line[:30] for line in lines if too_much & set(line.split())] == []


def test_every_module_imports_on_an_installation_without_extras():
    block = "".join(f"sys.modules[{name!r}] = None; " for name in sorted(EXTRAS))
    alone = [name for name in modules() if not name.startswith((INSIDE_CALC, *NEEDS_MORE))]
    imports = "\n".join(f"import {name}" for name in alone)
    run_python(f"import sys; {block}\n{imports}")


def test_the_calc_component_needs_the_standard_library_and_uno_only():
    component = [path for path in files_ending(".py") if path.parts[:3] == ("addin", "calc", "component")]
    outside = {name.split(".")[0] for path in component for name in imported_modules(path)}
    assert outside - sys.stdlib_module_names - {"uno", "unohelper", "com"} == set()
    assert component
