"""The pages' modules that need no page: JavaScript's own tests, run by Node.js."""

import shutil
import subprocess

import pytest

from tests.project.files import PROJECT

MODULES = PROJECT / "tests/node/modules"


@pytest.mark.parametrize("file", sorted(path.name for path in MODULES.glob("*.test.mjs")))
def test_the_modules_keep_what_their_own_tests_say(file):
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node.js here")
    ended = subprocess.run(
        [node, "--no-warnings", "--test", str(MODULES / file)], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout[-5_000:]
    assert "\n# pass 0\n" not in ended.stdout
