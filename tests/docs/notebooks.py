"""Running a notebook in a kernel of its own, as a user who has nothing cached yet."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat

from tests.udfs.parts.programs import User

# In a process of its own: the machinery of notebooks leaves sockets and loops to the end of its process.
RUNNER = """
import sys, nbclient, nbformat
notebook = nbformat.reads(sys.stdin.read(), as_version=4)
nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
sys.stdout.write(nbformat.writes(notebook))
"""


def executed(notebook: nbformat.NotebookNode, user: User) -> nbformat.NotebookNode:
    """The notebook with the results of all its cells; a cell that fails fails the test."""
    folders = {
        f"{name}_DIR": str(Path(user.home, name)) for name in ("JUPYTER_RUNTIME", "JUPYTER_CONFIG", "JUPYTER_DATA")
    }
    own = {**folders, "IPYTHONDIR": str(user.home / "ipython"), "MPLCONFIGDIR": str(user.home / "matplotlib")}
    done = subprocess.run(
        [sys.executable, "-c", RUNNER],
        input=nbformat.writes(notebook),
        env=user.environment(**own),
        cwd=user.home,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return nbformat.reads(done.stdout, as_version=4)
