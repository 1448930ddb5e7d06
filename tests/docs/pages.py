"""The documentation for tests: pages, and the blocks of code in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
DOCS = PROJECT / "docs"

FENCE = re.compile(
    r"^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?[^\n]*\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)

REASONS = (
    "In ",
    "On ",
    "Runs until",
    "Takes ",
    "While ",
    "With ",
)
"""The beginnings of titles that tell the reader why a block is not run."""


@dataclass(frozen=True)
class Block:
    """A block of code in a page; `title` says why it is not run."""

    page: str
    line: int
    language: str
    title: str
    code: str

    @property
    def id(self) -> str:
        return f"{self.page}:{self.line}"


@cache
def pages() -> dict[str, str]:
    """The text of the read-me, the contributor's page and every page of the documentation, by path from the root."""
    paths = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
    return {path.relative_to(PROJECT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


@cache
def everything() -> str:
    """All pages as one text."""
    return "\n".join(pages().values())


def blocks(language: str) -> list[Block]:
    """The blocks of one language in all pages."""
    return [
        Block(page, text[: found.start()].count("\n") + 1, language, found["title"] or "", found["code"])
        for page, text in pages().items()
        for found in FENCE.finditer(text)
        if found["language"] == language
    ]
