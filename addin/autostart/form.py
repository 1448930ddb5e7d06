"""The ways in which systems start something at login."""

from __future__ import annotations

from enum import StrEnum


class Form(StrEnum):
    """How a system starts something at login."""

    WINDOWS = "windows"
    MAC = "mac"
    SYSTEMD = "systemd"
    XDG = "xdg"
