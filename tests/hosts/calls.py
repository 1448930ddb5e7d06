"""The calls that every host is asked, and where a host may show something else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import Enum, StrEnum
from typing import Any, TypeAlias

from tests.hosts.shown import Failure, Time, Told, Value


class Host(StrEnum):
    """Where a formula can stand."""

    EXCEL = "Excel"
    CALC = "Calc"
    DESKTOP = "classic desktop Excel"
    SERVER = "xlwings Server"
    REFRESH = "addin refresh"
    EVAL = "addin eval"
    PYTHON = "Python"


Call: TypeAlias = tuple[str, tuple[Any, ...]]
"""A function and its arguments."""


@dataclass(frozen=True)
class Error:
    """A cell that is an error."""

    code: str


def _number_for_flag(value: Value) -> Value:
    return float(value) if isinstance(value, bool) else value


def _number_for_date(value: Value) -> Value:
    return value.serial if isinstance(value, Time) else value


def _text_for_error(value: Value) -> Value:
    return Told(value.code) if isinstance(value, Failure) else value


def _without_aggregate(value: Value) -> Value:
    return value.partition(" (")[0] if isinstance(value, str) else value


@dataclass(frozen=True)
class Rule:
    """How a host differs; `change` makes of the usual value what it shows, where the case does not say that itself."""

    hosts: tuple[Host, ...]
    what: str
    why: str
    change: Callable[[Value], Value] | None = None


class Difference(Enum):
    """Every difference between the hosts, as the documentation lists them."""

    FLAG = Rule(
        (Host.CALC,),
        "TRUE and FALSE are 1 and 0, in results and in arguments",
        "Calc passes no booleans to an add-in, and shows one that it returns as 0",
        _number_for_flag,
    )
    DATE = Rule(
        (Host.CALC,),
        "a single date is its serial number until the cell has a date format",
        "in Calc a function cannot set a format; *Refresh* formats the dates of tables",
        _number_for_date,
    )
    ZERO = Rule(
        (Host.EXCEL, Host.CALC),
        "0 counts as an omitted argument",
        "Excel for Windows and Calc pass an empty cell as 0",
    )
    TEXT = Rule(
        (Host.DESKTOP,),
        "an error is text: its code and its message",
        "xlwings cannot return error values to VBA",
        _text_for_error,
    )
    RANGE = Rule(
        (Host.CALC,),
        "an error among the cells of a range fails the whole call with `#VALUE!`; elsewhere it fails its own place",
        'Calc passes no range that holds an error to an add-in: write `IFERROR(A2:A9;"")`',
    )
    RAISED = Rule(
        (Host.PYTHON,),
        "an error that fills a whole result is raised, also with `err=text` and `err=blank`",
        "a program handles exceptions; tables hold `CellError` values",
    )
    NAMED = Rule(
        (Host.PYTHON,),
        "a column keeps the signal's name where a sheet's header also tells what was computed, such as `us-cpi (yoy)`",
        "programs take columns by their names, whatever the options",
        _without_aggregate,
    )
    PASSED = Rule(
        (Host.CALC, Host.DESKTOP, Host.SERVER),
        "an argument that is an error is the result itself, such as `#DIV/0!`; elsewhere `#N/A` with a message",
        "Calc does not call the function then, and no message could be shown with another code",
    )


@dataclass(frozen=True)
class Case:
    """A call: a function, and its arguments as a sheet has them.

    An argument is None (omitted), a constant, a date or an `Error` (both stand in a cell), or the rows of a range.
    `differs` says by which rule a host shows something else: the value of the call `instead`, or what it `shows`, or
    what the rule makes of the usual value.
    """

    function: str
    args: tuple[Any, ...]
    differs: Mapping[Host, Difference] = field(default_factory=dict)
    instead: Mapping[Host, Call] = field(default_factory=dict)
    shows: Mapping[Host, Value] = field(default_factory=dict)


FLAG = {Host.CALC: Difference.FLAG}
DATE = {Host.CALC: Difference.DATE}
TEXT = {Host.DESKTOP: Difference.TEXT}
NAMED = {Host.PYTHON: Difference.NAMED}
RAISED = {Host.PYTHON: Difference.RAISED}
PASSED = dict.fromkeys((Host.CALC, Host.DESKTOP, Host.SERVER), Difference.PASSED)
ZERO = {Host.EXCEL: Difference.ZERO, Host.CALC: Difference.ZERO, **TEXT}
LATEST = dict.fromkeys((Host.EXCEL, Host.CALC), ("SIGNAL", ("us-cpi",)))
YES = True
NA, DIV, VALUE = Error("#N/A"), Error("#DIV/0!"), Error("#VALUE!")
DIVIDED = {Host.CALC: Failure("#DIV/0!"), Host.DESKTOP: Told("#DIV/0!"), Host.SERVER: Failure("#DIV/0!")}
SLUGS = (("us-cpi",), ("wb.gold",), ("btc-usd",))
FIELDS = (("name", "unit", "value"),)


def _case(function: str, *args: Any, differs: Mapping[Host, Difference] | None = None, **more: Any) -> Case:
    return Case(function, args, differs or {}, **more)


CASES = (
    # Numbers
    _case("SIGNAL", "us-cpi"),
    _case("SIGNAL", "WTI"),
    _case("SIGNAL", "us-cpi", "change"),
    _case("SIGNAL", "btc-usd", "pct_change"),
    _case("INDEX", "risk-dial"),
    _case("INDEX", "pressure-gauge", "weight:wb.gold"),
    _case("CURRENT", "digital-tide"),
    # Texts
    _case("SIGNAL", "survey.pmi", "name"),
    _case("INDEX", "risk-dial", "name"),
    _case("CURRENT", "digital-tide", "maturity_stage"),
    _case("SPARK", "us-cpi", "-1Y"),
    _case("QUOTA", "tier"),
    # Blanks
    _case("SIGNAL", "pm.rate-cut", "shortcode"),
    _case("SIGNAL", "eia.henry-hub", "description"),
    _case("CURRENT", "undecided", "maturity_stage"),
    _case("CURRENT", "undecided"),
    _case("SIGNAL", "nope", None, None, "err=blank", differs=RAISED, shows={Host.PYTHON: Failure("#N/A")}),
    # Dates and date-times
    _case("SIGNAL", "us-cpi", "observed_at", differs=DATE),
    _case("INDEX", "risk-dial", "observed_at", differs=DATE),
    _case("CODEX_POST", "what-moved-01", "published_at", differs=DATE),
    _case("SIGNAL", SLUGS, "observed_at"),
    # Booleans
    _case("SIGNAL", "us-cpi", "is_premium", differs=FLAG),
    _case("SIGNAL", "eth-usd", "is_premium", differs=FLAG),
    _case("SIGNAL", YES, differs={**TEXT, **FLAG}, instead={Host.CALC: ("SIGNAL", ("1",))}),
    # Errors
    _case("SIGNAL", "nope", differs=TEXT),
    _case("SIGNAL", "us-cpi", "price", differs=TEXT),
    _case("SIGNAL", None, differs=TEXT),
    _case("SIGNAL", "us-cpi", "value", "not a day", differs=TEXT),
    _case("SIGNAL", "us-cpi", "value", "1990-01-01", differs=TEXT),
    _case("SIGNAL", "us-cpi", None, None, "colour=red", differs=TEXT),
    _case("SIGNAL", "nope", None, None, "err=text", differs=RAISED, shows={Host.PYTHON: Failure("#N/A")}),
    _case("SIGNAL", 42, differs=TEXT),
    # Arguments that are errors
    _case("SIGNAL", NA, differs=TEXT),
    _case("SIGNAL", VALUE, differs=TEXT),
    _case("SIGNAL", DIV, differs=PASSED, shows=DIVIDED),
    _case(
        "SIGNAL",
        (("us-cpi",), ("#N/A",), ("wb.gold",)),
        differs={Host.CALC: Difference.RANGE, **TEXT},
        shows={Host.CALC: Failure("#VALUE!")},
    ),
    # Ranges
    _case("SIGNAL", SLUGS),
    _case("SIGNAL", (("us-cpi", "wb.gold"),), "unit"),
    _case("SIGNAL", SLUGS, FIELDS),
    _case("SIGNAL", (("us-cpi",), (None,), ("wb.gold",)), FIELDS),
    _case("SIGNAL", (("us-cpi",), ("nope",)), "name", differs=TEXT),
    _case("SIGNAL", (("us-cpi",),), "unit"),
    _case("SIGNAL", ((None,), (None,))),
    _case("SIGNAL", (("us-cpi",), ("eth-usd",)), (("is_premium", "name"),), differs=FLAG),
    _case("INDEX", "risk-dial", ((None, "name"),)),
    _case("SIGNAL", (("us-cpi",), (None,)), "observed_at"),
    # Days, and omitted arguments
    _case("SIGNAL", "us-cpi", "value", "2026-03-31"),
    _case("SIGNAL", "us-cpi", "value", date(2026, 3, 31)),
    _case("SIGNAL", "us-cpi", "value", 46112),
    _case("SIGNAL", "us-cpi", None, "-1Y"),
    _case("SIGNAL", "btc-usd", None, ((date(2026, 6, 30),), ("2026-07-31",), (46262,))),
    _case(
        "SIGNAL",
        "us-cpi",
        None,
        0,
        differs=ZERO,
        instead=LATEST,
    ),
    # Tables
    _case("SIGNAL_HISTORY", "us-cpi", "N3"),
    _case("SIGNAL_HISTORY", "us-cpi", "N3", None, "header=none"),
    _case("SIGNAL_HISTORY", (("btc-usd",), ("us-cpi",)), "2026-07-28", "2026-08-03", "fill=none"),
    _case("SIGNAL_HISTORY", "btc-usd, us-cpi", date(2026, 7, 28), date(2026, 8, 3), "dates=hide; order=desc"),
    _case("SIGNAL_HISTORY", SLUGS, "N2", None, (("layout", "long"), ("header", "name"))),
    _case("SIGNAL_HISTORY", "us-cpi", "-2Y", "2026-06-30", "freq=Q; transform=yoy", differs=NAMED),
    _case("SIGNAL_HISTORY", "nope", "N3", differs=TEXT),
    _case("SIGNALS", None, "crypto", "slug, shortcode, is_premium", differs=FLAG),
    _case("SIGNALS", "gold", None, "slug, name, description", 5),
    _case("INDICES"),
    _case("CURRENTS"),
    _case("CODEX", None, None, 3),
    _case("WIRE", None, "news", None, "2026-08-01", 4, None, None, "published_at, headline, image_url, payload.region"),
    _case("WIRE", "NO-SUCH-TICKER"),
)
