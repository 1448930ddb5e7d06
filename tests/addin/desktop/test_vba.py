"""Classic desktop Excel: what xlwings itself makes of our module on Windows, with real values behind it."""

import re

import pytest

from tests.addin.commands import environment
from tests.addin.windows import on_windows
from udfs import REGISTRY

CALLS = """
import addin.desktop.vba as desktop
from addin.desktop.vba import _session

def of(name, *args):
    return call("addin.desktop.vba", name, *args)
"""


@pytest.fixture
def windows(real_service, tmp_path):
    """Return what runs code where xlwings is on Windows, with the real series behind the functions."""

    def run(code, **settings):
        return on_windows(CALLS + code, environment(tmp_path, real_service, **settings))

    return run


def test_the_generator_writes_a_vba_function_for_every_function_and_a_macro(windows, tmp_path):
    text = windows(f"from pathlib import Path\nanswer = vba(desktop, Path({str(tmp_path / 'module.bas')!r}))")
    signatures = dict(re.findall(r"^Function DS_(\w+)\((.*)\)$", text, re.MULTILINE))
    assert signatures.keys() == REGISTRY.keys()
    assert signatures["SIGNAL"] == "slug, Optional field, Optional at, Optional options"
    assert signatures["SIGNAL_HISTORY"] == "slug, Optional start, Optional end_, Optional options"
    assert re.findall(r"^Sub (\w+)\(\)$", text, re.MULTILINE) == ["DS_REFRESH"]
    assert 'XLPy.CallUDF("addin.desktop.vba", "DS_SIGNAL", Array(slug, field, at, options)' in text


def test_the_function_wizard_gets_help_for_each_function_and_argument(windows):
    marks = windows("answer = desktop.DS_SIGNAL.__xlfunc__")
    assert marks["category"] == "Data Service"
    assert marks["ret"]["doc"] == REGISTRY["SIGNAL"].summary
    assert [argument["doc"] for argument in marks["args"]] == [p.kind.help for p in REGISTRY["SIGNAL"].parameters]


def test_a_cell_gets_values_of_their_own_kind(windows):
    code = """
value, day, flag, name = [
    of("DS_SIGNAL", "us-cpi", field, MISSING, MISSING) for field in ("value", "observed_at", "is_premium", "name")]
answer = [value, type(day).__name__, str(day), flag, name]
"""
    value, kind, day, flag, name = windows(code)
    assert (value, flag, name) == ([[335.123]], [[False]], [["US consumer price index"]])
    assert (kind, day) == ("list", "[[datetime.datetime(2026, 5, 1, 0, 0, tzinfo=datetime.timezone.utc)]]")


def test_a_table_spills_with_dates_and_without_a_header_where_none_is_wanted(windows):
    code = """
table = of("DS_SIGNAL_HISTORY", "us-cpi", "N2", MISSING, MISSING)
bare = of("DS_SIGNAL_HISTORY", "us-cpi", "N2", MISSING, "header=none")
answer = [table, bare, [type(row[0]).__name__ for row in bare]]
"""
    table, bare, kinds = windows(code)
    assert table[0] == ["date", "us-cpi"]
    assert table[1:] == bare
    assert [row[1] for row in bare] == [333.02, 335.123]
    assert (bare[0][0][:10], kinds) == ("2026-04-01", ["datetime", "datetime"])


def test_ranges_dates_and_options_arrive_as_they_stand_in_the_sheet(windows):
    code = """
import datetime as dt, pywintypes
answer = [
    of("DS_SIGNAL", (("us-cpi",), (None,), ("wb.gold",)), "value", MISSING, MISSING),
    of("DS_SIGNAL", (("us-cpi", "wb.gold"),), "unit", MISSING, MISSING),
    of("DS_SIGNAL", "us-cpi", "value", pywintypes.TimeType(2024, 12, 31), MISSING),
    of("DS_SIGNAL", "us-cpi", "value", 45657.0, MISSING),
    of("DS_SIGNAL_HISTORY", "us-cpi", "N1", MISSING, (("header", "none"), ("dates", "hide"))),
]
"""
    column, row, by_date, by_serial, pairs = windows(code)
    assert (len(column), column[1]) == (3, [""])
    assert row == [["index 1982-84=100", "USD per troy ounce"]]
    assert by_date == by_serial
    assert pairs == [[335.123]]


def test_an_error_is_its_text_behind_its_code_and_err_blank_leaves_a_blank(windows):
    code = """
of("DS_SIGNALS", MISSING, MISSING, MISSING, MISSING)
answer = [
    of("DS_SIGNAL", "us-cpii", MISSING, MISSING, MISSING),
    of("DS_SIGNAL", "us-cpi", "price", MISSING, MISSING),
    of("DS_SIGNAL", "us-cpii", MISSING, MISSING, "err=blank"),
    of("DS_SIGNAL", -2146826246, MISSING, MISSING, MISSING),
]
"""
    unknown, wrong, blank, passed_on = windows(code)
    assert unknown == [["#N/A no signal 'us-cpii'; did you mean us-cpi?"]]
    assert wrong[0][0].startswith("#VALUE! there is no field 'price'")
    assert (blank, passed_on) == ([[""]], [["#N/A"]])


def test_cells_share_one_client_and_its_cache(windows, real_service):
    windows('answer = [of("DS_SIGNAL", "us-cpi", field, MISSING, MISSING) for field in ("value", "unit", "change")]')
    assert real_service.store.usage(real_service.key) == 1


def test_a_macro_asks_anew_and_works_out_our_cells_of_the_active_book(windows):
    code = """
from unittest.mock import MagicMock
from addin.desktop.vba import recalculate
sheet = MagicMock()
sheet.used_range.formula = (("=DS_SIGNAL(A1)", "x"), ("=SUM(A1)", "=2*DS_INDEX(B1)"))
book = MagicMock(sheets=[sheet])
count = recalculate(book, "DS_")
asked = [args.args[0] for args in sheet.used_range.__getitem__.call_args_list]
before = of("DS_SIGNAL", "us-cpi", MISSING, MISSING, MISSING)
_session.refresh()
again = of("DS_SIGNAL", "us-cpi", MISSING, MISSING, MISSING)
answer = [count, asked, book.app.calculate.call_count, before == again]
"""
    assert windows(code) == [2, [[0, 0], [1, 1]], 1, True]


def test_the_namespace_of_the_settings_names_the_functions(windows):
    assert windows('answer = hasattr(desktop, "ACME_SIGNAL")', namespace="ACME")


def test_for_a_server_of_the_firm_the_same_functions_are_marked_under_their_plain_names(windows):
    code = """
import asyncio
import addin.desktop.xlwings_server as module
answer = [[name for name in dir(module) if hasattr(getattr(module, name), "__xlfunc__")],
          asyncio.run(module.SIGNAL("us-cpi", None, None, None)),
          [name for name in __import__("sys").modules if name.startswith("xlwings.server")]]
"""
    names, value, loaded = windows(code)
    assert set(names) == REGISTRY.keys()
    assert value == 335.123
    assert loaded == []
