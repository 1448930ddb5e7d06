"""For a LibreOffice that was started with this environment's Python first on PATH: its own Python modules come first.

The LibreOffice of many Linux distributions uses the system's Python library, which looks for its modules beside the
first `python3` on PATH. In an environment it finds neither `uno`, without which it aborts, nor modules that fit the
library exactly. A line in the environment's `site-packages` (`dataservice_addin_libreoffice.pth`) calls this; every
other program skips that line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable


def system_folders(version: str, is_folder: Callable[[str], bool] = os.path.isdir) -> list[str]:
    """The folders that hold the modules of the system's Python of a version such as `3.11`, the standard library first.

    >>> system_folders("3.11", lambda folder: "lib64" not in folder and "site-packages" not in folder)
    ['/usr/lib/python3.11', '/usr/lib/python3.11/lib-dynload', '/usr/lib/python3/dist-packages']
    """
    libraries = [f"/usr/{folder}/python{version}" for folder in ("lib", "lib64")]
    nested = [f"{library}/{part}" for part in ("lib-dynload", "site-packages") for library in libraries]
    return [folder for folder in (*libraries, *nested, "/usr/lib/python3/dist-packages") if is_folder(folder)]


def use_system_modules() -> None:
    """Let imports find the system's modules before those of this environment."""
    sys.path[:0] = system_folders(f"{sys.version_info[0]}.{sys.version_info[1]}")
