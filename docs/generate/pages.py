"""The pages with up-to-date generated parts."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path

from docs.generate.calculation.spreadsheet_functions import spreadsheet_functions_part
from docs.generate.commands import command_parts
from docs.generate.functions.reference import function_parts, page_of
from docs.generate.protocol import messages_part
from docs.generate.settings import settings_part
from docs.generate.variants import variants_part
from udfs import REGISTRY

__all__ = ["DOCS", "NAVIGATION", "all_parts", "renewed", "renewed_navigation", "renewed_pages"]

DOCS = Path(__file__).resolve().parents[1]

PART = re.compile(r"(<!-- generated: (?P<name>[^\n]+?) -->\n).*?(<!-- end of generated -->)", re.DOTALL)


NEW_PAGE = """# {id}

<!-- generated: function {id} -->
<!-- end of generated -->
"""

NAVIGATION = DOCS.parent / "mkdocs.yml"

LISTED = re.compile(r"(^ *# generated: function pages\n).*?(?=^ *# end of generated$)", re.DOTALL | re.MULTILINE)


def renewed_pages() -> dict[Path, str]:
    """Every page with generated parts, regenerated from the code; a function without a page gets one."""
    pages = {DOCS / "functions" / page_of(each): NEW_PAGE.format(id=each) for each in REGISTRY}
    pages |= {path: path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
    parts = all_parts()
    return {path: renewed(text, parts) for path, text in pages.items() if PART.search(text)}


def renewed_navigation(text: str) -> str:
    """The navigation with a line for each function's page."""
    lines = [f"      - {each}: functions/{page_of(each)}\n" for each in REGISTRY]
    return LISTED.sub(lambda found: found[1] + "".join(lines), text)


def all_parts() -> dict[str, str]:
    """The text of every generated part by its name."""
    return {
        **asyncio.run(function_parts()),
        **command_parts(),
        "protocol messages": messages_part(),
        "settings": settings_part(),
        "spreadsheet functions": spreadsheet_functions_part(),
        "variants": variants_part(),
    }


def renewed(page: str, parts: Mapping[str, str]) -> str:
    """The text of a page with its parts replaced; raises `KeyError` for a part that nothing makes."""
    return PART.sub(lambda found: f"{found[1]}\n{parts[found['name']].strip()}\n\n{found[3]}", page)
