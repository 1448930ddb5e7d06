"""Windows for xlwings: stand-ins for the Windows-only modules, and nothing else, in a process of its own.

With them the package xlwings itself does all it does on Windows short of speaking to Excel: its decorators mark, its
generator writes VBA, its dispatcher converts arguments, calls the function and converts what it gives.
"""

from __future__ import annotations

import asyncio  # noqa: F401  loaded for this system before another one is named
import ctypes
import datetime as dt
import json
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

from tests.forking import run_code

MODULES = (
    *("pythoncom", "pywintypes", "win32api", "win32con", "win32event", "win32gui", "win32process", "win32timezone"),
    *("win32com", "win32com.client", "win32com.server", "win32com.server.dispatcher", "win32com.server.exception"),
    *("win32com.server.policy", "win32com.server.util"),
)

MISSING = -2147352572
"""What VBA hands over for an optional argument that was left out."""


def on_windows(code: str, environ: Mapping[str, str]) -> Any:
    """What `code` gives as `answer`, run in a process where xlwings takes itself to be on Windows; through JSON."""
    whole = (
        "from tests.addin.windows import MISSING, call, pretend, vba\npretend()\nimport json, xlwings\n"
        f"{code}\nprint(json.dumps(answer, default=str))"
    )
    done = run_code(whole, environ=environ)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def pretend() -> None:
    """Let xlwings be imported as on Windows."""
    import pandas  # noqa: F401  whatever else asks for the system must have asked before

    import addin.desktop.sync_session  # noqa: F401

    for name in MODULES:
        sys.modules[name] = _StandIn(name)
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, sys.modules[name])
    sys.modules["pythoncom"].__file__ = "pythoncom.dll"
    for name in ("CDispatch", "CoClassBaseClass", "DispatchBaseClass"):
        setattr(sys.modules["win32com.client"], name, type(name, (), {}))
    for module, name in (("pywintypes", "com_error"), ("pywintypes", "error"), ("pythoncom", "ole_error")):
        setattr(sys.modules[module], name, type(name, (Exception,), {}))
    sys.modules["pywintypes"].TimeType = type("TimeType", (dt.datetime,), {})
    sys.modules["win32timezone"].TimeZoneInfo.utc = lambda: dt.UTC
    for name in ("oledll", "windll", "PyDLL"):
        setattr(ctypes, name, MagicMock())
    system, sys.platform = sys.platform, "win32"
    import xlwings  # noqa: F401

    sys.platform = system


def call(module: str, name: str, *args: Any) -> Any:
    """What Excel gets of a function from xlwings' own dispatcher, called from a cell."""
    from xlwings.udfs import call_udf

    return call_udf(module, name, args, None, MagicMock())


def vba(module: Any, into: Path) -> str:
    """The VBA that xlwings' own generator writes for a module."""
    from xlwings.udfs import generate_vba_wrapper

    with into.open("w", encoding="utf-8") as file:
        generate_vba_wrapper(module.__name__, module, file, types.SimpleNamespace(Name="book.xlsm"))
    return into.read_text(encoding="utf-8")


class _StandIn(types.ModuleType):
    """A module that has whatever is asked of it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = MagicMock(name=f"{self.__name__}.{name}")
        setattr(self, name, value)
        return value
