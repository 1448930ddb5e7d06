"""Markdown from values: tables, and escaped text."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["code", "plain", "prose", "table"]


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[bool] = ()) -> str:
    """A table; `right` says which columns hold numbers."""
    aligned = [*right, *[False] * (len(header) - len(right))]
    rule = ["--:" if at_right else "---" for at_right in aligned]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows))


def code(text: str) -> str:
    """Text as code inside a table's cell."""
    return f"`{text.replace('|', chr(92) + '|')}`" if text else ""


def prose(text: str) -> str:
    """A sentence from the code inside a table's cell: backticks mark code, everything else is text."""
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())


def plain(text: str) -> str:
    """Text inside a table's cell, with every mark escaped."""
    for mark in "\\|*_<>[]#`$~":
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())
