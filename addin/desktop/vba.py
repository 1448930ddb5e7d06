"""Classic desktop Excel on Windows: the library as VBA functions `DS_SIGNAL` …, and the macro `DS_REFRESH`, by xlwings.

Name this module under "UDF Modules" in the xlwings add-in and press "Import Functions".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import xlwings

from addin.config.settings import Settings, load_settings
from addin.desktop.functions import functions
from addin.desktop.sync_session import SyncSession
from addin.errors import SettingsError


def recalculate(book: Any, prefix: str) -> int:
    """Recalculate the cells of `book` that call a function of ours, and what depends on them; how many there were."""
    count = 0
    for sheet in book.sheets:
        used = sheet.used_range
        for row, column in ours(used.formula, prefix):
            used[row, column].api.Dirty()
            count += 1
    book.app.calculate()
    return count


def ours(formulas: str | Sequence[Sequence[str]], prefix: str) -> Iterator[tuple[int, int]]:
    """The places (row, column) of the formulas that call a function named `prefix`…, as `Range.formula` gives them.

    >>> list(ours((("=DS_SIGNAL(A1)", "text"), ("=SUM(A1)", "=1+ds_index(B2)")), "DS_"))
    [(0, 0), (1, 1)]
    """
    call = re.compile(rf"(?<![\w.]){re.escape(prefix)}\w+\s*\(", re.IGNORECASE)
    if isinstance(formulas, str):
        formulas = ((formulas,),)
    for row, cells in enumerate(formulas):
        for column, formula in enumerate(cells):
            if isinstance(formula, str) and formula.startswith("=") and call.search(formula):
                yield row, column


def _namespace() -> str:
    """The prefix of all names; if the settings cannot be read, the cells say why, under the usual names."""
    try:
        return load_settings().namespace
    except SettingsError:
        return Settings().namespace


def _refresh_macro(session: SyncSession, prefix: str) -> Callable[[], None]:
    def refresh() -> None:
        session.refresh()
        recalculate(xlwings.books.active, prefix)

    refresh.__name__ = refresh.__qualname__ = f"{prefix}REFRESH"
    refresh.__doc__ = "Ask again for what is stale, and recalculate the formulas of the active book."
    macro: Callable[[], None] = xlwings.sub(refresh)
    return macro


_PREFIX = f"{_namespace()}_"
# Never closed: it lives as long as Excel keeps this process, and the cache is always on disk.
_session = SyncSession()

# xlwings looks for marked functions among the names of the module; Excel's wizard lists them by their category.
globals().update(functions(_session.answer, prefix=_PREFIX, category="Data Service"))
globals()[f"{_PREFIX}REFRESH"] = _refresh_macro(_session, _PREFIX)
