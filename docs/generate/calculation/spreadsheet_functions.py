"""The table of spreadsheet functions that the calculation was compared with Excel in, from what was measured."""

from __future__ import annotations

from addin.workbook.calculation.functions import ALMOST_ALWAYS, Measured, measured

__all__ = ["spreadsheet_functions_part"]


def spreadsheet_functions_part() -> str:
    """The functions by what is known of them, with the number of formulas, as a table."""
    found = measured()
    by_excel = {name: each for name, each in found.items() if each.by_excel}
    others = {name: each for name, each in found.items() if not each.by_excel and each.is_known}
    rows = {
        "every formula came to what Excel shows": {name: each for name, each in by_excel.items() if not each.wrong},
        "nearly every one: a second engine has to agree where it did not": _differing(by_excel, often=False),
        "often something else with these arguments: left as it is": _differing(by_excel, often=True),
        "no result of Excel at hand; as LibreOffice, or as the function is defined": others,
    }
    lines = ["| compared | functions | |", "|---|---|---|"]
    for meaning, names in rows.items():
        shown = ", ".join(f"`{name}` {each.right}/{each.lines}" for name, each in names.items())
        lines.append(f"| {meaning} | {len(names)} | {shown} |")
    return "\n".join(lines)


def _differing(found: dict[str, Measured], *, often: bool) -> dict[str, Measured]:
    """The functions with kinds of arguments that were often, or seldom, wrong."""
    return {
        name: each
        for name, each in found.items()
        if any((share < ALMOST_ALWAYS) == often for share in each.wrong.values())
    }
