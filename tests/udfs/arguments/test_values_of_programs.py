"""What programs hold for a date, number, text or list, against every kind of argument: taken, left out or refused."""

import asyncio
import datetime as dt
import enum
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from zoneinfo import ZoneInfo

import httpx
import numpy as np
import pandas as pd
import pytest

import udfs
from dataservice.client import AsyncClient
from tests.attack.parts.cold_world import ColdWorld
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import KEY, URL
from tests.udfs.parts.asking import session_on
from udfs import REGISTRY
from udfs.arguments.dates import Day, Start
from udfs.arguments.kinds import Count, Flag, Names, Number, Text
from udfs.arguments.options import Options
from udfs.arguments.parameters import Parameter
from udfs.arguments.python_values import plain
from udfs.engine.session import Call, Session
from udfs.errors import ArgumentError, NoDataError

TODAY = dt.date(2026, 9, 15)
JUNE_30, JULY_1 = dt.date(2024, 6, 30), dt.date(2024, 7, 1)
MIDNIGHT = dt.datetime.combine(JUNE_30, dt.time())
REFUSED, BLANK = "refused", None

KINDS = {
    "text": Text(help="a text"),
    "names": Names(help="names"),
    "number": Number(help="a number"),
    "count": Count(help="a count"),
    "flag": Flag(help="yes or no"),
    "day": Day(help="a day", timed=True),
    "start": Start(help="a start"),
}


class DayOfOurs(dt.date):
    """A program's own kind of date."""


class Three(enum.IntEnum):
    """A number with a name."""

    OF_ALL = 3


NOTHING = dict.fromkeys(KINDS, BLANK)
A_TIME = dict.fromkeys(KINDS, REFUSED) | {"day": JUNE_30, "start": JUNE_30}
A_THREE = {
    "text": "3", "names": ("3",), "number": 3, "count": 3, "flag": REFUSED,
    "day": dt.date(1900, 1, 2), "start": dt.date(1900, 1, 2),
}  # fmt: skip
A_HALF = dict.fromkeys(KINDS, REFUSED) | {"number": 2.5, "day": dt.date(1900, 1, 1), "start": dt.date(1900, 1, 1)}
A_TRUTH = dict.fromkeys(KINDS, REFUSED) | {"flag": True}
A_NAME = dict.fromkeys(KINDS, REFUSED) | {"text": "us-cpi", "names": ("us-cpi",)}
A_LIST = dict.fromkeys(KINDS, REFUSED) | {"names": ("us-cpi", "us-10y")}
NEITHER = dict.fromkeys(KINDS, REFUSED)

BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
SLUGS = ["us-cpi", "us-10y"]

VALUES = [
    (pd.Timestamp("2024-06-30"), A_TIME),
    (pd.Timestamp("2024-06-30 23:59:59.999999999"), A_TIME),
    (pd.Timestamp("2024-07-01 00:30", tz="Europe/Berlin"), A_TIME),
    (pd.Timestamp("2024-06-30 21:00", tz="America/New_York"), A_TIME | {"day": JULY_1, "start": JULY_1}),
    (pd.Timestamp(np.datetime64("12000-01-01", "s")), NEITHER),
    (pd.Period("2024-06", "M"), A_TIME | {"start": dt.date(2024, 6, 1)}),
    (pd.Period("2024Q2", "Q"), A_TIME | {"start": dt.date(2024, 4, 1)}),
    (pd.Period("2024-06-30", "D"), A_TIME),
    (np.datetime64("2024-06-30"), A_TIME),
    (np.datetime64("2024-06-30T15:00:00.123456789"), A_TIME),
    (np.datetime64(10**18, "D"), NEITHER),
    (dt.date(2024, 6, 30), A_TIME),
    (MIDNIGHT + dt.timedelta(hours=15), A_TIME),
    (dt.datetime(2024, 7, 1, 1, tzinfo=BERLIN), A_TIME),
    (dt.datetime(2024, 6, 30, 21, tzinfo=NEW_YORK), A_TIME | {"day": JULY_1, "start": JULY_1}),
    (np.array("2024-06-30", "datetime64[ns]"), A_TIME),
    (None, NOTHING),
    (pd.NaT, NOTHING),
    (pd.NA, NOTHING),
    (float("nan"), NOTHING),
    (np.float32("nan"), NOTHING),
    (np.datetime64("NaT"), NOTHING),
    (np.timedelta64("NaT"), NOTHING),
    (Decimal("NaN"), NOTHING),
    (Decimal("sNaN"), NOTHING),
    (np.array([np.nan]), NOTHING),
    (pd.Series([None, pd.NaT], dtype=object), NOTHING),
    (3, A_THREE),
    (3.0, A_THREE),
    (np.int64(3), A_THREE),
    (np.uint8(3), A_THREE),
    (np.float32(3), A_THREE),
    (np.longdouble(3), A_THREE),
    (Decimal(3), A_THREE),
    (Fraction(3), A_THREE),
    (np.array(3), A_THREE),
    (2.5, A_HALF),
    (Decimal("2.5"), A_HALF),
    (Fraction(5, 2), A_HALF),
    (np.float64(2.5), A_HALF),
    (Fraction(10**400), NEITHER),
    (Decimal("Infinity"), NEITHER),
    (True, A_TRUTH),
    (np.array([1]).any(), A_TRUTH),
    ("us-cpi", A_NAME),
    (np.str_("us-cpi"), A_NAME),
    (np.array("us-cpi"), A_NAME),
    (pd.Series(["us-cpi"]), A_NAME),
    (SLUGS, A_LIST),
    (tuple(SLUGS), A_LIST),
    (dict.fromkeys(SLUGS).keys(), A_LIST),
    (np.array(SLUGS), A_LIST),
    (np.array(SLUGS, object), A_LIST),
    (np.ma.masked_array([*SLUGS, "x"], mask=[0, 0, 1]), A_LIST),
    (pd.Series(SLUGS), A_LIST),
    (pd.Series([*SLUGS, None], dtype="string"), A_LIST),
    (pd.Index(SLUGS), A_LIST),
    (pd.Categorical(SLUGS), A_LIST),
    (pd.DataFrame({"slug": SLUGS}), A_LIST),
    (set(SLUGS), A_LIST | {"names": tuple(sorted(SLUGS))}),
    ([], NOTHING),
    (np.array([]), NOTHING),
    (pd.DataFrame(), NOTHING),
    ({}.keys(), NOTHING),
    (DayOfOurs(2024, 6, 30), A_TIME),
    (Three.OF_ALL, A_THREE),
    (pd.array([3], dtype="Int64"), A_THREE),
    (pd.date_range("2024-06-30", periods=1, tz="Europe/Berlin"), A_TIME),
    (pd.period_range("2024-06", periods=1, freq="M"), A_TIME | {"start": dt.date(2024, 6, 1)}),
    (Path("us-cpi"), NEITHER),
    (b"us-cpi", NEITHER),
    (bytearray(b"3"), NEITHER),
    (memoryview(b"us"), NEITHER),
    (dt.time(3), NEITHER),
    (dt.timedelta(3), NEITHER),
    (pd.Timedelta(3), NEITHER),
    (np.timedelta64(3, "D"), NEITHER),
    (pd.Interval(1, 3), NEITHER),
    (3 + 0j, NEITHER),
    (object(), NEITHER),
]


def reading(kind, value):
    """Return what an argument of a kind becomes, once it has come the way of a call from Python."""
    raw = udfs.engine.registry.single(plain(value, first_of_period=kind.first_of_period))
    try:
        found = Parameter("x", kind, required=False).read(raw, TODAY)
        return found.date() if isinstance(found, dt.datetime) else found
    except ArgumentError:
        return REFUSED


@pytest.mark.parametrize("name", KINDS)
def test_every_value_is_taken_left_out_or_refused_in_a_sentence(name):
    found = [(repr(value), reading(KINDS[name], value)) for value, _ in VALUES]
    assert found == [(repr(value), wanted[name]) for value, wanted in VALUES]


@pytest.mark.parametrize("function_id", REGISTRY)
def test_no_argument_or_option_of_any_function_fails_otherwise(function_id):
    for parameter in REGISTRY[function_id].parameters:
        options = parameter.kind.allowed if isinstance(parameter.kind, Options) else ()
        for kind in (parameter.kind, *(each.kind for each in options)):
            for value, _ in VALUES:
                reading(kind, value)


def test_a_generator_is_read_once_and_a_list_holds_the_same_as_its_values():
    assert plain(slug for slug in SLUGS) == SLUGS
    assert plain([pd.Timestamp("2024-06-30"), pd.NaT, np.int64(3)]) == [MIDNIGHT, None, 3]
    assert plain({"asof": pd.Timestamp("2024-06-30")}) == {"asof": MIDNIGHT}


def test_a_list_that_holds_itself_is_refused_in_a_sentence():
    endless = []
    endless.append(endless)
    with pytest.raises(ArgumentError, match="lists lie within lists too deeply"):
        plain(endless)


def hostile(base, method):
    """A value of a class of a program's own, one method of which raises."""

    def fails(*_, **__):
        raise RuntimeError("of the program's own")

    return type("Hostile", (base,), {method: fails})()


METHODS = ("__iter__", "__repr__", "__str__", "__eq__", "__hash__", "__bool__", "__len__", "__getattr__", "__array__")
METHODS += ("__format__", "__getitem__", "__lt__", "__float__", "__index__", "strip", "keys", "items")


@pytest.mark.parametrize("base", [object, str, int, float, list, tuple, dict, set, dt.timedelta])
async def test_a_value_that_raises_where_it_is_looked_at_is_its_own_cells_error_and_no_others(base):
    clock = Clock()
    transport = httpx.MockTransport(ColdWorld(clock))
    async with AsyncClient(URL, KEY, transport=transport, clock=clock, sleep=clock.sleep) as client:
        session = Session(client, clock=clock)
        udfs.use(session)
        for value in [hostile(base, method) for method in METHODS]:
            asked = [("us-cpi", value), (value,), (["us-cpi", value],), ("us-cpi", None, None, value)]
            outcomes = await session.answer([Call("SIGNAL", args) for args in [("us-10y",), *asked, ("us-cpi",)]])
            assert [type(outcomes[place].result) for place in (0, -1)] == [float, float]
            assert all("please report" not in str(outcome.result) for outcome in outcomes)
            found = [udfs.SIGNAL(*args) for args in [("us-10y",), *asked]]
            good, *others = await asyncio.gather(*found, udfs.SIGNAL("us-cpi", at=value), return_exceptions=True)
            assert isinstance(good, float)
            assert {type(each) for each in others if isinstance(each, Exception)} <= {ArgumentError, NoDataError}


def test_columns_and_frames_of_polars_are_lists_and_rows():
    pl = pytest.importorskip("polars", reason="polars is not installed")
    assert plain(pl.Series(SLUGS)) == SLUGS
    assert plain(pl.Series([dt.date(2024, 6, 30), None])) == [MIDNIGHT, None]
    assert plain(pl.Series([MIDNIGHT, None]).dt.replace_time_zone("UTC")) == [MIDNIGHT, None]
    assert plain(pl.Series([3, None])) == [3, None]
    assert plain(pl.Series(SLUGS, dtype=pl.Categorical)) == SLUGS
    assert plain(pl.DataFrame({"slug": SLUGS, "weight": [1.5, 2.5]})) == [["us-cpi", 1.5], ["us-10y", 2.5]]
    assert plain(pl.DataFrame({"slug": SLUGS, "day": [JUNE_30, None]})) == [["us-cpi", JUNE_30], ["us-10y", None]]
    for kind in KINDS.values():
        assert reading(kind, pl.DataFrame({"slug": SLUGS}).lazy()) == REFUSED


def test_columns_tables_and_values_of_pyarrow_are_taken_as_well():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    assert plain(pa.array([*SLUGS, None])) == [*SLUGS, None]
    assert plain(pa.table({"slug": SLUGS, "weight": [1.5, None]})) == [["us-cpi", 1.5], ["us-10y", None]]
    assert [plain(pa.scalar(value)) for value in ("us-cpi", 3, JUNE_30, None)] == ["us-cpi", 3, JUNE_30, None]


async def test_calls_take_them_too(service):
    async with session_on(service) as session:
        udfs.use(session)
        day = await udfs.SIGNAL("us-cpi", "observed_at", "2025-06-30")
        assert await udfs.SIGNAL("us-cpi", "observed_at", pd.Timestamp("2025-06-30 15:00", tz="UTC")) == day
        assert await udfs.SIGNAL("us-cpi", "observed_at", pd.Period("2025-06", "M")) == day
        assert await udfs.SIGNAL("us-cpi", "observed_at", pd.NaT) == await udfs.SIGNAL("us-cpi", "observed_at")
        by_text = await udfs.SIGNAL_HISTORY("us-cpi", "2025-01-01", "2025-12-31")
        assert (await udfs.SIGNAL_HISTORY("us-cpi", pd.Period("2025"), pd.Period("2025"))).equals(by_text)
        for month in (pd.Period("2026-06", "M"), pd.Period("2026-06-30", "D"), pd.Timestamp("2026-06-30")):
            with pytest.raises(NoDataError, match="2026-06-30"):  # nobody has looked yet
                await udfs.SIGNAL("us-cpi", asof=month)
        with pytest.raises(ArgumentError, match="without a time of it"):
            await udfs.SIGNAL("us-cpi", asof=pd.Period("2026-06-30 10:00", "h"))
        with pytest.raises(ArgumentError, match="at datetime"):
            await udfs.SIGNAL("us-cpi", at=dt.timedelta(3))
