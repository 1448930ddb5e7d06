"""The site can be built, every picture is there, and what the read-me promises is short."""

import re
import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.docs.pages import PROJECT, pages

PICTURE = re.compile(r"!\[(?P<says>[^\]]*)\]\((?P<target>[^)#\s]+)[^)]*\)")
TAG = re.compile(r"<img src=\"(?P<target>[^\"]+)\"[^>]* alt=\"(?P<says>[^\"]*)\"")


def pictures() -> list[tuple[str, str, str]]:
    return [
        (page, found["says"], found["target"])
        for page, text in pages().items()
        for form in (PICTURE, TAG)
        for found in form.finditer(text)
    ]


def test_a_picture_is_there_and_says_in_words_what_it_shows():
    shown = pictures()
    assert [each for each in shown if not ((PROJECT / each[0]).parent / each[2]).is_file()] == []
    assert [each for each in shown if len(each[1].split()) < 4] == []


def test_every_picture_is_shown_somewhere():
    shown = {((PROJECT / page).parent / target).resolve() for page, _, target in pictures()}
    assert set((PROJECT / "docs" / "images").iterdir()) - shown == set()


def test_the_read_me_is_short():
    assert len(pages()["README.md"].splitlines()) <= 80


@pytest.mark.skipif(find_spec("mkdocs") is None or find_spec("material") is None, reason="mkdocs is not installed here")
def test_the_site_builds_without_a_warning(tmp_path):
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--quiet",
        "--site-dir",
        str(tmp_path),
    ]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "functions" / "ds_index.html").is_file()
    assert not list(tmp_path.rglob("*.py"))
