"""Which spreadsheet functions the engine works out as spreadsheets do: measured, see `docs.generate.calculation`."""

from __future__ import annotations

import json
from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path

EQUAL, DIFFERS, REFUSED = "equal", "differs", "refused"

_MEASURED = Path(__file__).with_name("functions.json")


@cache
def measured() -> dict[str, str]:
    """Each measured function with its outcome: `equal`, `differs` or `refused`."""
    found: dict[str, str] = json.loads(_MEASURED.read_text(encoding="utf-8"))
    return found


def doubtful(functions: AbstractSet[str], *, compared: bool) -> str:
    """Why a formula with these functions is not worked out; empty where it is.

    What could be compared with the file may call functions that were never measured; nothing may call one that differs.
    """
    for name in sorted(functions):
        outcome = measured().get(name)
        if outcome in (DIFFERS, REFUSED):
            return f"{name} is not worked out as spreadsheets do"
        if outcome is None and not compared:
            return f"{name} is not known to be worked out as spreadsheets do, and there was no value to compare with"
    return ""
