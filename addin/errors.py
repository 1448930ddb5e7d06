"""What goes wrong around the functions: settings, files, ports. A function's own errors are in `udfs.errors`."""

from __future__ import annotations

import os
import shlex
from pathlib import Path


class AddinError(Exception):
    """A problem that the user can solve; the message says what happened and what to do.

    Every command prints the message to stderr and ends with exit code 1, without a traceback.
    """


class SettingsError(AddinError, ValueError):
    """A setting cannot be used; the message says which, where it was set, its value and what is allowed."""


def as_argument(path: Path | str) -> str:
    """A path as one word of a command line of this system, for messages that name a command to type."""
    return shlex.quote(str(path)) if os.name == "posix" else f'"{path}"' if " " in str(path) else str(path)
