"""The pane's decisions, each by itself: formulas, figures, search, ticks, problems."""

from collections.abc import Iterator

import pytest

from addin.excel.assets import excel_assets
from tests.addin.excel.parts.panes import Pane, opened
from udfs.errors import ErrorKind


@pytest.fixture(scope="module")
def pane(chromium, sample_backend) -> Iterator[Pane]:
    """Return a page whose modules can be called."""
    with opened(chromium, sample_backend) as pane:
        yield pane


@pytest.mark.parametrize(
    ("typed", "formula"),
    [
        (["us-cpi"], '=DS.F("us-cpi")'),
        (["us-cpi", "", ""], '=DS.F("us-cpi")'),
        (["", "", "5"], "=DS.F(,,5)"),
        (["=A1", "", "=B2*2"], "=DS.F(A1,,B2*2)"),
        (["123"], '=DS.F("123")'),
        (["", "-5Y"], '=DS.F(,"-5Y")'),
        (["", "true"], '=DS.F(,"true")'),
        (['say "x"'], '=DS.F("say ""x""")'),
        (["'=A1", "'123"], '=DS.F("=A1","123")'),
        (["", "", "1e999"], '=DS.F(,,"1e999")'),
        ([], "=DS.F()"),
    ],
)
def test_a_formula_is_written_as_excel_reads_it(pane, typed, formula):
    kinds = "[{type: 'string'}, {type: 'any'}, {type: 'number'}]"
    assert pane.module("data/formula.js", f"m.formulaOf('DS', 'F', {typed!r}, {kinds})") == formula


def test_long_text_is_cut_into_pieces_that_excel_takes(pane):
    formula = pane.module("data/formula.js", "m.quoted('x'.repeat(600))")
    assert [len(piece) - 2 for piece in formula.split("&")] == [255, 255, 90]


def test_a_character_of_two_halves_is_not_cut(pane):
    pieces = pane.module("data/formula.js", "m.quoted('x' + '😀'.repeat(300))").split("&")
    assert "".join(piece[1:-1] for piece in pieces) == "x" + "😀" * 300
    assert all(len(piece.encode("utf-16-le")) // 2 - 2 <= 255 for piece in pieces)


@pytest.mark.parametrize("text", ["=A1", " =A1", "'x", "12", "1e5", "", "us-cpi", "\t=1", "TRUE", "\n'"])
def test_what_is_written_for_a_text_is_read_as_that_text(pane, text):
    call = pane.module("data/formula.js", f"m.callOf('F', [m.asTyped({text!r}), 'end'], [{{type: 'any'}}])")
    assert [str(call[1] or "").strip(), call[2]] == [text.strip(), "end"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234567.891, "1,234,567.89"),
        (86.48, "86.48"),
        (1.08765, "1.0877"),
        (0.000123456, "0.0001235"),
        (0, "0"),
        (-5.5, "-5.5"),
    ],
)
def test_numbers_show_the_digits_that_count(pane, value, text):
    assert pane.module("data/format.js", f"new m.Formatter('en').number({value})") == text


def test_the_numbers_of_a_column_have_the_same_decimals(pane):
    assert pane.module(
        "data/format.js", "[126.4, 126.06, 127].map(new m.Formatter('en').column([126.4, 126.06, 127]))"
    ) == [
        "126.40",
        "126.06",
        "127.00",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (59.9, "59 s"), (60, "1 min"), (7200, "2 h"), (200_000, "2 d")]
)
def test_spans_are_told_in_their_largest_unit(pane, seconds, text):
    assert pane.module("data/format.js", f"m.span({seconds})") == text


def test_serials_become_iso_dates(pane):
    assert pane.module("data/format.js", "[m.isoDate(46265), m.isoDate(46265.75, true), m.isoDate(NaN)]") == [
        "2026-08-31",
        "2026-08-31 18:00",
        "NaN",
    ]


def test_a_search_ranks_names_of_signals_above_what_describes_them(pane):
    entries = [
        {"slug": "wb.gold", "shortcode": "GOLD", "name": "Gold price", "description": ""},
        {"slug": "x.mining", "shortcode": "", "name": "Mining index", "description": "gold and silver"},
        {"slug": "golden", "shortcode": "", "name": "Golden cross", "description": ""},
    ]
    entries = [{"category": "", "unit": "", "source": "", "premium": False} | each for each in entries]
    assert pane.tab.evaluate(
        f"(entries) => import('./{excel_assets().prefix}taskpane/data/catalogue.js')"
        ".then((m) => m.found(entries, 'gold').map((e) => e.slug))",
        entries,
    ) == ["wb.gold", "golden", "x.mining"]


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 10, [0, 5, 10]),
        (98.2, 137.6, [100, 110, 120, 130]),
        (0.011, 0.0234, [0.015, 0.02]),
        (3, 3, [3]),
        (-1, 1, [-1, -0.5, 0, 0.5, 1]),
    ],
)
def test_ticks_are_round(pane, low, high, ticks):
    assert pane.module("ui/chart.js", f"m.ticks({low}, {high}, 4)") == ticks


@pytest.mark.parametrize(
    ("kind", "title", "action"),
    [
        (ErrorKind.KEY_MISSING, "No API key yet", "account"),
        (ErrorKind.KEY_REFUSED, "The key was refused", "account"),
        (ErrorKind.TIER, "This needs the Pro tier", "account"),
        (ErrorKind.QUOTA, "This month’s requests are used up", "account"),
        (ErrorKind.OFFLINE, "The service does not answer", "refresh"),
        ("backend", "The add-in’s backend does not answer", "retry"),
        (ErrorKind.NOT_FOUND, "Something went wrong", None),
        ("", "Something went wrong", None),
    ],
)
def test_kinds_of_errors_lead_to_what_can_be_done(pane, kind, title, action):
    problem = pane.module("data/problems.js", f"m.problemOf({{ kind: '{kind}', reason: 'why' }})")
    assert (problem["title"], problem["action"]) == (title, action)


def test_an_error_without_words_of_ours_is_told_in_its_own(pane):
    assert pane.module("data/problems.js", "m.problemOf(new Error('why')).advice") == "why"


@pytest.mark.parametrize(
    ("colour", "dark"), [("#ffffff", False), ("#262626", True), ("#0a0a0a", True), ("#f3f2f1", False)]
)
def test_a_theme_is_dark_when_it_seems_so(pane, colour, dark):
    assert pane.module("data/host.js", f"m.isDark('{colour}')") is dark
