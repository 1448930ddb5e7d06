"""Commands that write a file: they refuse a wrong one in a sentence before they work, and show that they work."""

import os
import pty
import subprocess
from pathlib import Path

import pytest

from tests.addin.commands import addin, command, environment
from tests.addin.workbook.books import make_book

WRITING = {
    "template": ["-o"],
    "refresh book.xlsx": ["-o"],
    "freeze book.xlsx": ["-o"],
    "calc-extension --http": [],
    "manifest": ["-o"],
}
ENDINGS = {"calc-extension --http": ".oxt", "manifest": ".xml"}


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (words, name)
        for words in WRITING
        for name in ("x.pdf", "folder", "no/such/folder")
        if (words, name) != ("refresh book.xlsx", "folder")  # a refresh writes books into a folder
    ],
)
def test_a_file_of_another_kind_and_a_place_that_is_none_are_refused_before_any_work(words, name, tmp_path: Path):
    make_book(tmp_path / "book.xlsx", {"A1": 1})
    ending = ENDINGS.get(words, ".xlsx")
    if "/" in name or name == "folder":
        name += ending
        (tmp_path / f"folder{ending}").mkdir()
    done = addin(*words.split(), *WRITING[words], name, environ=environment(tmp_path), cwd=tmp_path)
    assert done.returncode == 1, done.stdout
    assert done.stderr.startswith("addin: ")
    assert done.stderr.count("\n") == 1, done.stderr
    assert name in done.stderr
    assert not (tmp_path / name).is_file()


def test_a_command_that_takes_long_shows_on_a_terminal_what_it_does(tmp_path: Path):
    shown, terminal = pty.openpty()
    done = subprocess.Popen(
        command(["template", "-o", "x.xlsx", "--namespace", "ACME"]),
        env=environment(tmp_path),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=terminal,
        text=True,
    )
    os.close(terminal)
    told = b""
    while piece := _read(shown):
        told += piece
    os.close(shown)
    assert done.communicate(timeout=120)[0].startswith("x.xlsx is written")
    assert b"Making up data" in told
    assert b"Writing x.xlsx" in told


@pytest.mark.parametrize("words", ["certs install", "sideload", "calc-extension x.oxt", "autostart install"])
def test_a_folder_that_cannot_be_made_is_told_in_one_line(words, tmp_path):
    (tmp_path / "config").write_text("a file in the place of the folder")
    environ = {**environment(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config"), "HOME": str(tmp_path)}
    done = addin(*words.split(), environ=environ, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("addin: ")
    assert str(tmp_path / "config") in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words", ["certs install", "calc-extension x.oxt", "template -o x.xlsx", "autostart install --http"]
)
def test_a_disk_that_is_full_is_told_in_one_line_and_leaves_no_part_of_a_file(words, tmp_path):
    environ = {**environment(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config"), "HOME": str(tmp_path)}
    full = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *command(words.split())]
    done = subprocess.run(full, env=environ, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith("addin: ")
    assert done.stderr.count("\n") == 1
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def _read(terminal: int) -> bytes:
    """What a terminal shows next; nothing once the program has ended."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""
