"""A new function is one file and its place in the list: the steps in CONTRIBUTING, done in a copy of the project."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.files import PROJECT, project_files, read

STEP = re.compile(r"^```python title=\"In `?(?P<file>[\w/.]+)`?\"\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)

CHECKS = (
    "tests/project/test_exports.py",
    "tests/udfs/test_library.py",
    "tests/docs/test_names.py",
)
"""What fails if a step is missing; of these, only what concerns functions, exports and generated files."""


@pytest.fixture
def copied(tmp_path) -> Path:
    for path in project_files():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / path, target)
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    return tmp_path


def run(project: Path, *words: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(project)}
    done = subprocess.run(
        [sys.executable, *words], cwd=project, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def follow_the_steps(project: Path) -> None:
    """Write the file that CONTRIBUTING shows, and add the lines that it shows for the list."""
    (own, code), (registry, lines) = (found.groups() for found in STEP.finditer(read(Path("CONTRIBUTING.md"))))
    (project / own).write_text(code, encoding="utf-8")
    imported, entry = (line for line in lines.splitlines() if line and not line.startswith("#"))
    listed = (project / registry).read_text(encoding="utf-8").replace("from udfs", f"{imported}\nfrom udfs", 1)
    (project / registry).write_text(re.sub(r"\)\n\Z", f"{entry}\n)\n", listed), encoding="utf-8")


def test_the_steps_for_a_new_function_are_enough(copied):
    follow_the_steps(copied)
    run(copied, "-m", "docs.generate")
    assert "**Hello, world!**" in (copied / "docs/functions/ds_hello.md").read_text(encoding="utf-8")
    run(
        copied,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        *CHECKS,
        "-k",
        "function or package or HELLO",
    )
    program = "import asyncio, udfs; print(asyncio.run(udfs.Session(None).value('HELLO', ['you'])))"
    assert run(copied, "-c", program) == "Hello, you!\n"
    assert "HELLO(who)" in run(copied, "-m", "addin.cli.main", "functions", "HELLO")
