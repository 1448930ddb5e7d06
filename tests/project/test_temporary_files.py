"""A test run leaves the temporary directory as it was, and tells which files its tests left."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.files import PROJECT

HOOKS = "from tests.temporary_files import pytest_configure, pytest_sessionfinish, pytest_unconfigure\n"
TIDY = "def test_tidy(tmp_path):\n    (tmp_path / 'x').touch()\n"
UNTIDY = "import tempfile\n\ndef test_untidy():\n    tempfile.mkstemp(prefix='forgotten-')\n"


@pytest.mark.parametrize("workers", [[], ["-p", "xdist", "-n", "1"]], ids=["one process", "with workers"])
@pytest.mark.parametrize(("test", "code"), [(TIDY, 0), (UNTIDY, 1)], ids=["tidy", "untidy"])
def test_what_a_test_leaves_fails_the_run_and_is_removed(test, code, workers, tmp_path: Path):
    tests, outer = tmp_path / "tests", tmp_path / "outer"
    tests.mkdir()
    outer.mkdir()
    (tests / "conftest.py").write_text(HOOKS)
    (tests / "test_it.py").write_text(test)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tests), *workers]
    own = {"TMPDIR": str(outer), "PYTHONPATH": str(PROJECT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environ = {**os.environ, **own}
    done = subprocess.run([*command, str(tests)], env=environ, capture_output=True, text=True, check=False, cwd=tests)
    assert done.returncode == code, done.stdout + done.stderr
    assert ("left in the temporary directory by a test: forgotten-" in done.stdout) is bool(code)
    assert list(outer.iterdir()) == []
