"""What is put on each system to start a command at login, read back by that system's own rules."""

import configparser
import os
import plistlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addin.autostart.entries import (
    LABEL,
    desktop_entry,
    entry,
    launch_agent,
    run_value,
    systemd_unit,
    without_window,
)
from addin.autostart.form import Form
from addin.errors import AddinError

ODD = ["/opt/the add-in/bin/python", '/opt/zoë/50% off/$HOME/it\'s "here"/py\\thon', "`id`", "$(id)", "%h %%"]
ODD += ["C:\\Program Files\\Ünï\\pythonw.exe", "C:\\ends with\\", "", "a=b", 'C:\\a\\\\"b']
WORDS = st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=20) | st.sampled_from(ODD)
COMMANDS = st.lists(WORDS, min_size=1, max_size=4).map(lambda words: [words[0] or "/bin/python", *words[1:]])


def windows_words(line: str) -> list[str]:
    """The words of a command line as Microsoft's C run time reads them."""
    words, word, quoted, begun, at = [], "", False, False, 0
    while at < len(line):
        slashes = len(line[at:]) - len(line[at:].lstrip("\\"))
        at += slashes
        if at < len(line) and line[at] == '"':
            word += "\\" * (slashes // 2) + ('"' if slashes % 2 else "")
            quoted ^= slashes % 2 == 0
            begun, at = True, at + 1
            continue
        word += "\\" * slashes
        if at == len(line):
            break
        if line[at] in " \t" and not quoted:
            words, word, begun = [*words, word] if word or begun else words, "", False
        else:
            word += line[at]
        at += 1
    return [*words, word] if word or begun else words


def unit_words(unit: str) -> list[str]:
    """The words that a unit starts, by systemd's rules of quoting, specifiers and variables."""
    line = re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE)[1]
    words = [quoted or plain for quoted, plain in re.findall(r'"((?:[^"\\]|\\.)*)"(?: |$)|([^ "]+)', line)]
    unescaped = [re.sub(r"\\(.)", r"\1", word).replace("%%", "%").replace("$$", "$") for word in words]
    return unescaped[3:] if unescaped[:3] == ["/bin/sh", "-c", 'exec "$0" "$@"'] else unescaped


@given(COMMANDS)
def test_windows_reads_back_the_command(command):
    try:
        assert windows_words(run_value(command)) == command
    except AddinError:
        assert len(" ".join(command)) > 150


@given(COMMANDS)
def test_launchd_reads_back_the_command_and_starts_it_at_login(command):
    agent = plistlib.loads(launch_agent(command).encode())
    assert agent["ProgramArguments"] == command
    assert (agent["Label"], agent["RunAtLoad"]) == (LABEL, True)


@given(COMMANDS.filter(lambda words: "" not in words))
def test_systemd_reads_back_the_command(command):
    assert unit_words(systemd_unit(command)) == command


@pytest.mark.skipif(os.name != "posix", reason="a desktop entry is quoted as for a POSIX shell")
def test_a_desktop_reads_back_the_command():
    parser = configparser.RawConfigParser()
    parser.read_string(desktop_entry(ODD))
    line = parser["Desktop Entry"]["Exec"].replace("\\\\", "\\").replace("%%", "%")
    shown = subprocess.run(["sh", "-c", f"printf '%s\\n' {line}"], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines() == ODD


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
@pytest.mark.parametrize("folder", ["plain", 'it\'s "odd" 100% $HOME é\\n'])
def test_systemd_itself_accepts_the_unit(tmp_path, folder):
    program = tmp_path / folder / "python"
    program.parent.mkdir()
    program.symlink_to(sys.executable)
    unit = tmp_path / f"{LABEL}.service"
    unit.write_text(systemd_unit([str(program), "-P", "-m", "addin", "autostart", "run", str(tmp_path / folder / "x")]))
    environ = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    command = ["systemd-analyze", "--user", "verify", str(unit)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    about_ours = [line for line in (done.stdout + done.stderr).splitlines() if LABEL in line]
    assert (done.returncode, about_ours) == (0, [])


def test_a_command_that_windows_would_skip_is_refused_with_its_reason():
    with pytest.raises(AddinError, match=r"more than 260 characters.*shorter path"):
        run_value(["C:\\" + "x" * 260])


@pytest.mark.parametrize("form", Form)
def test_a_line_break_in_a_path_is_refused_and_never_another_line(form):
    command = ["/opt/a\nExecStart=/bin/false"]
    if form is Form.MAC:  # XML holds it
        assert plistlib.loads(launch_agent(command).encode())["ProgramArguments"] == command
        return
    with pytest.raises(AddinError, match="control character"):
        entry(form, command, home=Path("/opt/x"), config=Path("/opt/x/.config"), uid=1)


def test_each_form_has_its_place_and_the_commands_that_start_and_end_it():
    made = {form: entry(form, ["python"], home=Path("/opt/x"), config=Path("/opt/x/.config"), uid=501) for form in Form}
    assert made[Form.WINDOWS].place == r"HKEY_CURRENT_USER\Software\Microsoft\Windows\CurrentVersion\Run"
    assert made[Form.MAC].start[0].command[:3] == ("launchctl", "bootstrap", "gui/501")
    assert made[Form.SYSTEMD].end[0].command == ("systemctl", "--user", "disable", "--now", f"{LABEL}.service")
    assert Path(made[Form.XDG].place) == Path(f"/opt/x/.config/autostart/{LABEL}.desktop")


def test_windows_opens_no_console_window():
    assert without_window(r"C:\my env\Scripts\python.exe") == r"C:\my env\Scripts\pythonw.exe"
    assert without_window("/usr/bin/python3") == "/usr/bin/python3"
