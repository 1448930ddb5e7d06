"""A missing extra is told with a command that works from wherever the package was installed."""

import re
import sys
from importlib.metadata import requires

import pytest

from dataservice.extras import install_command


@pytest.mark.parametrize("extra", ["mcp", "redis", "postgres"])
def test_the_command_installs_the_packages_of_the_extra_into_this_python(extra):
    command = install_command(extra)
    assert command.startswith(f"{sys.executable} -m pip install ")
    (package,) = re.findall(r'"([^"]+)"', command)
    assert any(
        line.startswith(package) and f"extra == '{extra}'" in line.replace('"', "'")
        for line in requires("dataservice-addin")
    )


def test_no_page_message_or_code_advises_to_install_our_name_from_an_index(project):
    folders = ("addin", "dataservice", "udfs", "docs")
    files = [
        path
        for folder in folders
        for path in (project / folder).rglob("*")
        if path.suffix in {".py", ".md", ".js", ".html"}
    ]
    files += [project / "README.md", project / "CONTRIBUTING.md"]
    advised = re.compile(r"(pip|pipx|uv tool|uv pip) install [^`\n]*dataservice[-_]addin(?![^`\n]*\.whl)")
    assert [str(path) for path in files if advised.search(path.read_text(encoding="utf-8"))] == []
