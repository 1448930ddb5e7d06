"""Refreshing through a running Excel: what is asked of it, and what is never saved."""

import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from addin.config.settings import Settings
from addin.errors import AddinError
from addin.workbook.refresh.programs import recalculate, refresh_with_excel
from tests.addin.workbook.books import make_book

BUSY = -2146826237


def excel(*looks: object) -> tuple[MagicMock, MagicMock]:
    """An Excel with one book of one formula of ours, which shows one of `looks` each time it is looked at."""
    left = list(looks)
    used = MagicMock(formula=(("=DS.SIGNAL(A1)", "=SUM(A1)"),))
    used.__getitem__.return_value.get_address.return_value = "B2"

    def values(**_: object) -> SimpleNamespace:
        return SimpleNamespace(value=[[left.pop(0) if len(left) > 1 else left[0], 1]])

    used.options.side_effect = values
    book = MagicMock(sheets=[MagicMock(used_range=used)])
    book.sheets[0].name = "Sheet1"
    app = MagicMock()
    app.books.open.return_value = book
    return app, book


def run(app: MagicMock) -> None:
    clock = iter(range(100))
    recalculate(app, Path("book.xlsx"), "DS", deadline_s=5, timer=lambda: next(clock), sleep=lambda _: None)


def test_it_waits_until_our_cells_have_their_values_and_saves():
    app, book = excel(BUSY, BUSY, 335.123)
    run(app)
    book.save.assert_called_once_with()
    book.close.assert_called_once_with()


@pytest.mark.parametrize(("look", "said"), [("#NAME?", "add-in is not loaded"), (BUSY, "not worked out within 5 s")])
def test_a_book_whose_formulas_got_no_value_is_closed_unsaved(look, said):
    app, book = excel(look)
    with pytest.raises(AddinError, match=rf"Sheet1!B2 .*{said}"):
        run(app)
    book.save.assert_not_called()
    book.close.assert_called_once_with()


def test_an_error_of_ours_is_a_value_too():
    app, book = excel("#N/A")
    run(app)
    book.save.assert_called_once_with()


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there may be an Excel here")
def test_where_excel_does_not_run_another_engine_is_named(tmp_path):
    book = make_book(tmp_path / "book.xlsx", {"A1": 1})
    with pytest.raises(AddinError, match="--engine builtin"):
        refresh_with_excel(book, book, Settings())
