"""The table of spreadsheet functions that the calculation works out, from what was measured."""

from __future__ import annotations

from addin.workbook.calculation.functions import DIFFERS, EQUAL, REFUSED, measured

__all__ = ["spreadsheet_functions_part"]

_MEANING = {
    EQUAL: "worked out as LibreOffice does, or as the function is defined",
    DIFFERS: "another result in at least one case: never written",
    REFUSED: "not worked out in at least one case: never written",
}


def spreadsheet_functions_part() -> str:
    """The functions by outcome, as a table."""
    lines = ["| outcome | functions | |", "|---|---|---|"]
    for outcome, meaning in _MEANING.items():
        names = [name for name, found in measured().items() if found == outcome]
        lines.append(f"| {meaning} | {len(names)} | {', '.join(f'`{name}`' for name in names)} |")
    return "\n".join(lines)
