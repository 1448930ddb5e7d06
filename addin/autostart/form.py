"""The ways in which systems start something at login."""

from __future__ import annotations

from enum import StrEnum


class Form(StrEnum):
    """A system's way to start something at login."""

    WINDOWS = "windows"
    MAC = "mac"
    SYSTEMD = "systemd"
    XDG = "xdg"

    @classmethod
    def named(cls, text: str) -> Form:
        """The form of a system by any of the names that people type; raises `ValueError` with those there are.

        >>> Form.named("macOS"), Form.named("linux")
        (<Form.MAC: 'mac'>, <Form.SYSTEMD: 'systemd'>)
        """
        folded = text.strip().casefold()
        try:
            return cls(_OTHER_NAMES.get(folded, folded))
        except ValueError:
            raise ValueError(f"{text!r} is no system; there are {', '.join(cls)} (also macos, win, linux)") from None


_OTHER_NAMES = {
    **dict.fromkeys(("macos", "mac os", "osx", "os x", "darwin", "apple"), "mac"),
    **dict.fromkeys(("win", "win32", "win64", "windows10", "windows11"), "windows"),
    **dict.fromkeys(("linux", "systemd-user", "ubuntu", "debian", "fedora"), "systemd"),
    "desktop": "xdg",
}
