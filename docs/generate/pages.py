"""The pages with up-to-date generated parts."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path

from docs.generate.commands import command_parts
from docs.generate.functions import function_parts
from docs.generate.settings import settings_part

__all__ = ["DOCS", "all_parts", "renewed", "renewed_pages"]

DOCS = Path(__file__).resolve().parents[1]

PART = re.compile(r"(<!-- generated: (?P<name>[^\n]+?) -->\n).*?(<!-- end of generated -->)", re.DOTALL)


def renewed_pages() -> dict[Path, str]:
    """Every page with generated parts, regenerated from the code."""
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
    parts = all_parts()
    return {path: renewed(text, parts) for path, text in pages.items() if PART.search(text)}


def all_parts() -> dict[str, str]:
    """The text of every generated part by its name."""
    return {**asyncio.run(function_parts()), **command_parts(), "settings": settings_part()}


def renewed(page: str, parts: Mapping[str, str]) -> str:
    """The text of a page with its parts replaced; raises `KeyError` for a part that nothing makes."""
    return PART.sub(lambda found: f"{found[1]}\n{parts[found['name']].strip()}\n\n{found[3]}", page)
