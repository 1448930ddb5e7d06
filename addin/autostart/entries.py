"""What makes each system start a command at login, as text: nothing here touches the machine.

Every form is the user's own and needs no administrator. A path may hold anything a file system allows.
"""

from __future__ import annotations

import plistlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

from addin.autostart.form import Form
from addin.config.windows_registry import CURRENT_USER
from addin.errors import AddinError
from addin.tls.trust import Step

LABEL = "org.dataservice.addin"
"""By which systemd, launchd and desktops know us."""

TITLE = "Data Service add-in"
PURPOSE = "Answers the formulas of Excel and Calc"

RUN_KEY = r"Software\Microsoft\Windows\CurrentVersion\Run"
"""Below HKEY_CURRENT_USER: what Windows starts when the user signs in."""

RUN_MAX = 260
"""The length of a command in that key; Windows skips a longer one without a word."""

RESTART_S = 10
"""The pause before a backend that failed is started again, so that one that cannot start costs nothing."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing put on the machine: its place and its text, and the commands that make it work now or end it."""

    form: Form
    place: str
    """A file, or for Windows the registry key; `LABEL` is the value's name."""
    text: str
    start: tuple[Step, ...] = ()
    end: tuple[Step, ...] = ()


def entry(form: Form, command: Sequence[str], *, home: Path, config: Path, uid: int) -> Entry:
    """The entry that starts `command` at login.

    `home` is the user's home folder, `config` the XDG config folder (used on Linux), `uid` the user's number (used on
    Mac). Raises `AddinError` for a command that the form cannot hold.
    """
    match form:
        case Form.WINDOWS:
            return Entry(form, f"{CURRENT_USER}\\{RUN_KEY}", run_value(command))
        case Form.MAC:
            file = home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
            start = ("launchctl", "bootstrap", f"gui/{uid}", str(file))
            end = ("launchctl", "bootout", f"gui/{uid}/{LABEL}")
            return Entry(form, str(file), launch_agent(command), (Step(start, "start it"),), (Step(end, "end it"),))
        case Form.SYSTEMD:
            unit = f"{LABEL}.service"
            systemctl = ("systemctl", "--user")
            enable = Step((*systemctl, "enable", unit), "start it at login")
            start_now = Step((*systemctl, "restart", unit), "start it")
            disable = Step((*systemctl, "disable", "--now", unit), "end it")
            reload = Step((*systemctl, "daemon-reload"), "read the unit")
            place = config / "systemd" / "user" / unit
            return Entry(form, str(place), systemd_unit(command), (reload, enable, start_now), (disable,))
        case Form.XDG:
            return Entry(form, str(config / "autostart" / f"{LABEL}.desktop"), desktop_entry(command))


def run_value(command: Sequence[str]) -> str:
    r"""The command line for Windows' Run key; raises `AddinError` if it is too long for it.

    >>> run_value([r"C:\Program Files\Python\pythonw.exe", "-m", "addin"])
    '"C:\\Program Files\\Python\\pythonw.exe" -m addin'
    """
    line = " ".join(_windows_word(word) for word in command)
    if len(line) > RUN_MAX:
        raise AddinError(
            f"Windows starts no command of more than {RUN_MAX} characters at login, and this one has {len(line)}: "
            f"install the add-in into a folder with a shorter path; the command is {line}"
        )
    return line


def launch_agent(command: Sequence[str]) -> str:
    """The property list of a macOS launch agent."""
    agent = {
        "Label": LABEL,
        "ProgramArguments": list(command),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": RESTART_S,
    }
    return plistlib.dumps(agent, sort_keys=False).decode()


def systemd_unit(command: Sequence[str]) -> str:
    """The unit of a service of the user's own systemd."""
    program, *arguments = command
    if _PLAIN.fullmatch(program):
        words = [program, *map(_unit_word, arguments)]
    else:  # systemd takes no quoted characters in the program's own name
        words = ["/bin/sh", "-c", *map(_unit_word, ('exec "$0" "$@"', *command))]
    return f"""[Unit]
Description={TITLE}: {PURPOSE}
StartLimitIntervalSec=0

[Service]
ExecStart={" ".join(words)}
Restart=on-failure
RestartSec={RESTART_S}

[Install]
WantedBy=default.target
"""


def desktop_entry(command: Sequence[str]) -> str:
    """The entry by which Linux desktops without systemd start a program."""
    line = " ".join(map(_desktop_word, command)).replace("\\", "\\\\")
    return f"""[Desktop Entry]
Type=Application
Name={TITLE}
Comment={PURPOSE}
Exec={line}
NoDisplay=true
Terminal=false
"""


def without_window(python: str) -> str:
    r"""The Python that opens no console window on Windows.

    >>> without_window(r"C:\env\Scripts\python.exe")
    'C:\\env\\Scripts\\pythonw.exe'
    """
    path = PureWindowsPath(python)
    return str(path.with_name("pythonw.exe")) if path.name.casefold() == "python.exe" else python


_PLAIN = re.compile(r"[A-Za-z0-9/._+@-]+")
"""A program that systemd takes as it is written."""


def _unit_word(word: str) -> str:
    return '"' + _one_line(word).replace("\\", r"\\").replace('"', r"\"").replace("%", "%%").replace("$", "$$") + '"'


def _desktop_word(word: str) -> str:
    return '"' + re.sub(r'(["`$\\])', r"\\\1", _one_line(word)).replace("%", "%%") + '"'


def _windows_word(word: str) -> str:
    """A word as Microsoft's own rules read it: backslashes count only in front of a quotation mark."""
    text = re.sub(r'(\\*)"', r"\1\1\"", _one_line(word))
    ending = len(text) - len(text.rstrip("\\"))
    return f'"{text}{chr(92) * ending}"' if not text or re.search(r"[\s\"&|<>^()]", text) else text


def _one_line(word: str) -> str:
    if re.search(r"[\x00-\x1f]", word):
        raise AddinError(f"a path with a control character cannot be started at login: {word!r}")
    return word
