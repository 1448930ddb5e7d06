"""The make targets that the documentation names exist, and explain themselves."""

import re
import shutil
import subprocess

import pytest

from tests.project.files import PROJECT, files_ending, read

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
TARGETS = set(re.findall(r"^([a-z-]+):.*## ", read(PROJECT / "Makefile"), flags=re.MULTILINE))


def test_make_alone_lists_every_target():
    listed = subprocess.run(["make"], cwd=PROJECT, check=True, capture_output=True, text=True).stdout
    assert set(re.findall(r"^  make ([a-z-]+) ", listed, flags=re.MULTILINE)) == TARGETS


PLANNED = ["demo", "test", "lint", "format", "benchmarks", "reference", "docs", "constraints", "clean"]


@pytest.mark.parametrize("target", PLANNED)
def test_a_target_can_be_planned(target):
    subprocess.run(["make", "--dry-run", target], cwd=PROJECT, check=True, capture_output=True)


def test_documentation_names_only_targets_that_exist():
    named = {target for page in files_ending(".md") for target in re.findall(r"`?make ([a-z-]+)`", read(page))}
    assert named <= TARGETS
