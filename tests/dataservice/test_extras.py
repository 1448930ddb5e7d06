"""A missing extra is told with a command that works from wherever the package was installed."""

import re
import shlex
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest

from dataservice.extras import Environment, install_command

WHEEL = "/opt/me/my wheels/dataservice_addin-0.1.0-py3-none-any.whl"

RECEIPT = """[tool]
requirements = [
    {{ name = "dataservice-addin", {own} }},
    {{ name = "redis", specifier = ">=5" }},
    {{ name = "rich" }},
]
python = "3.11"
entrypoints = [{{ name = "addin", install-path = "/opt/me/.local/bin/addin", from = "dataservice-addin" }}]
"""


def environment(prefix, *, receipt=None, pipx=False, **more):
    if receipt is not None:
        (prefix / "uv-receipt.toml").write_text(RECEIPT.format(own=receipt), encoding="utf-8")
    if pipx:
        (prefix / "pipx_metadata.json").write_text("{}", encoding="utf-8")
    return Environment(prefix=prefix, python=f"{prefix}/bin/python", **more)


@pytest.mark.parametrize("extra", ["mcp", "redis", "postgres"])
def test_the_command_installs_the_packages_of_the_extra_into_this_python(extra):
    command = install_command(extra)
    assert command.startswith(f"{sys.executable} -m pip install ")
    (package,) = re.findall(r'"([^"]+)"', command)
    assert any(
        line.startswith(package) and f"extra == '{extra}'" in line.replace('"', "'")
        for line in requires("dataservice-addin")
    )


@pytest.mark.parametrize(("program", "words"), [("dataservice", ["sample", "made-up"]), ("addin", ["demo", "--once"])])
def test_where_the_embedded_service_is_not_installed_one_sentence_says_how_to_add_it(program, words, tmp_path):
    code = f"import sys; sys.modules['sqlalchemy'] = None; import {program}.cli.main as program; program.main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    told = f"{program}: the embedded service needs more packages: {install_command('service')}\n"
    assert done.stderr == told
    assert all(f'"{name}>=' in told for name in ("fastapi", "pydantic", "sqlalchemy"))


def test_an_environment_without_pip_is_told_to_use_uv(tmp_path):
    found = environment(tmp_path, has_pip=False)
    assert found.install(["mcp>=2"]) == f'uv pip install --python {tmp_path}/bin/python "mcp>=2"'
    assert found.uninstall() == f"uv pip uninstall --python {tmp_path}/bin/python dataservice-addin"


def test_an_environment_of_pipx_is_told_to_use_pipx_with_its_own_name(tmp_path):
    (tmp_path / "dataservice-addin").mkdir()
    found = environment(tmp_path / "dataservice-addin", pipx=True)
    assert found.install(["mcp>=2"]) == 'pipx inject dataservice-addin "mcp>=2"'
    assert found.uninstall() == "pipx uninstall dataservice-addin"


@pytest.mark.parametrize(
    ("own", "source"),
    [
        (f'path = "{WHEEL}"', [WHEEL]),
        ('directory = "/opt/me/addin"', ["/opt/me/addin"]),
        ('editable = "/opt/me/addin"', ["--editable", "/opt/me/addin"]),
        ('git = "https://git.example/addin?rev=main"', ["https://git.example/addin?rev=main"]),
    ],
)
def test_a_tool_of_uv_is_installed_again_from_its_source_with_what_it_has(tmp_path, own, source):
    command = environment(tmp_path, receipt=own).install(["mcp>=2"])
    words = [*("--with", "redis>=5"), *("--with", "rich"), *("--with", "mcp>=2"), *source]
    assert shlex.split(command) == ["uv", "tool", "install", *words]


def test_a_program_that_runs_from_a_checkout_is_removed_by_deleting_it(tmp_path):
    assert str(tmp_path) in environment(tmp_path, is_editable=True).uninstall()


@pytest.mark.parametrize(
    ("python", "command"),
    [
        (r"C:\env\Scripts\python.exe", r'C:\env\Scripts\python.exe -m pip install "mcp>=2"'),
        (r"C:\My Env\Scripts\python.exe", r'& "C:\My Env\Scripts\python.exe" -m pip install "mcp>=2"'),
    ],
)
def test_on_windows_the_command_is_one_for_powershell(python, command):
    assert Environment(prefix=Path("env"), python=python, windows=True).install(["mcp>=2"]) == command


def test_no_page_message_or_code_advises_to_install_our_name_from_an_index(project):
    folders = ("addin", "dataservice", "udfs", "docs")
    files = [
        path
        for folder in folders
        for path in (project / folder).rglob("*")
        if path.suffix in {".py", ".md", ".js", ".html", ".ipynb"}
    ]
    files += [project / "README.md", project / "CONTRIBUTING.md"]
    advised = re.compile(r"(pip|pipx|uv tool|uv pip) install [^`\n]*dataservice[-_]addin(?![^`\n]*\.whl)")
    assert [str(path) for path in files if advised.search(path.read_text(encoding="utf-8"))] == []
