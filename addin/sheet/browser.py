"""Opening a page in the user's browser, where someone is there to see it."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Mapping


def open_page(url: str, *, wanted: bool = True) -> bool:
    """Open `url` in the user's browser; whether that was done. A script, or a machine without a screen, opens none."""
    if not wanted or not sys.stdout.isatty() or not has_screen(sys.platform, os.environ):
        return False
    try:
        return webbrowser.open(url)
    except webbrowser.Error:
        return False


def has_screen(platform: str, environ: Mapping[str, str]) -> bool:
    """Return whether a browser would have a window: without one, Python would start a browser for the terminal.

    >>> has_screen("linux", {}), has_screen("linux", {"WAYLAND_DISPLAY": "wayland-0"}), has_screen("win32", {})
    (False, True, True)
    """
    if "SSH_CONNECTION" in environ and "DISPLAY" not in environ:
        return False
    return platform in ("win32", "darwin") or bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))
