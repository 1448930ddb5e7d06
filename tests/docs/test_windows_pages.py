"""Whoever reads the pages on Windows finds a PowerShell command beside each one that only a POSIX shell understands."""

import re

import pytest

from tests.docs.pages import blocks, pages

EXPORT = re.compile(r"^export (\w+)=", re.MULTILINE)
HELP = "docs/commands.md"
"""The help of the commands, as their programs print it."""

GUIDES = [page for page, text in pages().items() if EXPORT.search(text) and page != HELP]


def test_there_are_pages_that_export():
    assert {"docs/install.md", "docs/start.md"} <= set(GUIDES)


@pytest.mark.parametrize("page", GUIDES)
def test_each_export_has_a_command_for_powershell_on_its_page(page):
    exported = set(EXPORT.findall(pages()[page]))
    for_windows = set(re.findall(r"\$env:(\w+) = ", pages()[page]))
    assert exported - for_windows == set()


@pytest.mark.parametrize("block", blocks("powershell"), ids=lambda block: block.id)
def test_a_block_for_powershell_says_so_and_holds_no_posix_command(block):
    assert "Windows" in block.title
    assert not re.search(r"^export |\.venv/bin|\\$", block.code, re.MULTILINE)
