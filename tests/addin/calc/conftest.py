"""What the tests of Calc share: a virtual display."""

import os
import shutil
import subprocess

import pytest

from tests.addin.calc.office import require_soffice


@pytest.fixture(scope="session")
def display():
    """Return the name of a virtual display."""
    require_soffice()
    if shutil.which("Xvfb") is None:
        pytest.skip("no Xvfb here")
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset"]
    with subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL) as server:
        os.close(write)
        with os.fdopen(read) as answer:
            number = answer.readline().strip()
        yield f":{number}"
        server.terminate()
