"""Putting an entry on this machine, taking it off, and looking whether it is there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from addin.autostart.entries import LABEL, RUN_KEY, Entry, entry, without_window
from addin.autostart.form import Form
from addin.config.windows_registry import WindowsRegistry
from addin.errors import AddinError
from addin.tls.trust import Platform, platform, run

TIMEOUT_S = 10


class Registry(Protocol):
    """The registry of the user."""

    def set_value(self, key: str, name: str, text: str) -> None:
        """Set a text."""

    def value(self, key: str, name: str) -> str | None:
        """Return a text, or None."""

    def delete_value(self, key: str, name: str) -> bool:
        """Delete a value; whether there was one."""


def form_here() -> Form:
    """Return how this machine starts something at login."""
    return form_of(platform(), has_systemd=_has_systemd())


def form_of(system: Platform, *, has_systemd: bool) -> Form:
    """The form for a system; a Linux session without a systemd of its own starts what its desktop lists."""
    match system:
        case "windows":
            return Form.WINDOWS
        case "mac":
            return Form.MAC
        case "linux":
            return Form.SYSTEMD if has_systemd else Form.XDG


def command_here(form: Form, record: Path) -> tuple[str, ...]:
    """The command that starts our backend with this very Python; `-P`: nothing in the current folder is imported."""
    words = ("-P", "-m", "addin", "autostart", "run")
    if form is Form.WINDOWS:  # where folders do not depend on variables, and the command must be short
        return (without_window(sys.executable), *words)
    return (sys.executable, *words, str(record))


def entry_here(form: Form, command: Sequence[str]) -> Entry:
    """The entry of `form` for this user."""
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return entry(form, command, home=Path.home(), config=config, uid=os.getuid() if os.name == "posix" else 0)


def put(made: Entry, registry: Registry | None = None) -> None:
    """Write the entry in place of an older one; raises `AddinError` if that fails."""
    try:
        if made.form is Form.WINDOWS:
            (registry or WindowsRegistry()).set_value(RUN_KEY, LABEL, made.text)
            return
        _write(Path(made.place), made.text)
    except OSError as error:
        raise AddinError(f"{made.place} cannot be written: {error.strerror or error}") from None


def _write(file: Path, text: str) -> None:
    """Write a whole file or none: a part of an entry would start nothing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError:
        file.unlink(missing_ok=True)
        raise


def found(made: Entry, registry: Registry | None = None) -> str | None:
    """The text of the entry on this machine."""
    if made.form is Form.WINDOWS:
        return (registry or WindowsRegistry()).value(RUN_KEY, LABEL)
    try:
        return Path(made.place).read_text(encoding="utf-8")
    except OSError:
        return None


def take_off(made: Entry, registry: Registry | None = None) -> bool:
    """Delete the entry; whether there was one. Raises `AddinError` if that fails."""
    if made.form is Form.WINDOWS:
        return (registry or WindowsRegistry()).delete_value(RUN_KEY, LABEL)
    file = Path(made.place)
    try:
        existed = file.exists()
        file.unlink(missing_ok=True)
    except OSError as error:
        raise AddinError(f"{file} cannot be deleted: {error.strerror or error}") from None
    return existed


def start_now(made: Entry, command: Sequence[str], environ: Mapping[str, str]) -> str | None:
    """Start what the entry starts at login; None, or why that failed."""
    if made.form is Form.MAC:
        run(made.end)  # one that runs already would keep the new one from being read
    if made.start:
        return run(made.start)
    try:
        start_detached(command, environ)
    except OSError as error:
        return str(error)
    return None


def start_detached(command: Sequence[str], environ: Mapping[str, str] | None = None) -> None:
    """Start a program that goes on when this one ends."""
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
    nothing = subprocess.DEVNULL
    subprocess.Popen(  # noqa: S603 - our own command
        command, env=environ, stdin=nothing, stdout=nothing, stderr=nothing, close_fds=True, creationflags=flags,
        start_new_session=os.name == "posix",
    )  # fmt: skip


def _has_systemd() -> bool:
    """Return whether this user's session has a systemd of its own."""
    program = shutil.which("systemctl")
    if program is None:
        return False
    try:
        asked = [program, "--user", "show-environment"]
        done = subprocess.run(asked, capture_output=True, check=False, timeout=TIMEOUT_S)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
