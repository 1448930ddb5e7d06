"""Windows without a row to show: an error that says why and what to do, never a table without rows or a broken one."""

from datetime import date

import pytest

from tests.udfs.parts.given_series import canned
from udfs.cells import CellError, ErrorCode

FIRSTS = {date(2025, month, 1): 100.0 + month for month in range(1, 13)} | {
    date(2026, month, 1): 112.0 + month for month in range(1, 9)
}
QUARTERS = {
    date(year, month, day): 1.0 for year in (2024, 2025) for month, day in ((3, 31), (6, 30), (9, 30), (12, 31))
}
ENDED = {date(2014, month, 1): 1.0 * month for month in range(1, 13)}


async def refused(session, *args):
    shown = await session("SIGNAL_HISTORY", *args)
    assert isinstance(shown, CellError), shown
    assert shown.code is ErrorCode.NA
    return shown.message


@pytest.mark.parametrize("options", ["", "; header=none", "; layout=long", "; transform=pct"])
async def test_signals_that_share_no_day_say_so_and_how_they_share_periods(options):
    session = canned(cpi=FIRSTS, gdp=QUARTERS)
    said = await refused(session, "cpi, gdp", "2025-01-01", None, f"align=intersect{options}")
    assert said == "cpi, gdp have no day in common from 2025-01-01; freq=M, Q or Y brings them to common periods"


async def test_signals_that_share_no_period_say_so():
    session = canned(cpi=FIRSTS, ended=ENDED)
    said = await refused(session, "cpi, ended", "MAX", None, "align=intersect; freq=M")
    assert said == "cpi, ended have no period in common"


@pytest.mark.parametrize("layout", ["wide", "long"])
async def test_the_error_of_a_signal_shows_beside_others_that_share_no_day(layout):
    session = canned(cpi=FIRSTS, gdp=QUARTERS)
    header, *rows = await session(
        "SIGNAL_HISTORY", "cpi, nosuch, gdp", "2025-01-01", None, f"align=intersect; layout={layout}"
    )
    assert len(rows) == 1
    assert [each.code for each in rows[0] if isinstance(each, CellError)] == [ErrorCode.NA]
    assert [each for each in rows[0] if not isinstance(each, CellError | str)] == [None] * (
        len(header) - 1 - (layout == "long")
    )


@pytest.mark.parametrize("looked_at_before", [False, True])
@pytest.mark.parametrize(
    ("start", "end", "said"),
    [
        (
            "2025-03-02",
            "2025-03-20",
            "cpi has no observations from 2025-03-02 to 2025-03-20; the last one before is of 2025-03-01",
        ),
        ("2024-03-02", "2024-03-20", "cpi has no observations from 2024-03-02 to 2024-03-20"),
        ("2026-08-02", None, "cpi has no observations from 2026-08-02; its last one is of 2026-08-01"),
        (
            "2026-08-02",
            "2026-12-31",
            "cpi has no observations from 2026-08-02 to 2026-12-31; its last one is of 2026-08-01",
        ),
    ],
)
async def test_an_empty_window_says_what_lies_beside_it_whatever_was_looked_at_before(
    start, end, said, looked_at_before
):
    session = canned(cpi=FIRSTS)
    if looked_at_before:
        await session("SIGNAL_HISTORY", "cpi", "MAX")
    assert await refused(session, "cpi", start, end) == said


async def test_a_window_that_holds_only_a_part_of_a_period_says_so_and_how_it_is_shown():
    session = canned(cpi=FIRSTS)
    said = await refused(session, "cpi", "2026-01-01", None, "freq=Y; agg=mean; transform=yoy")
    assert said == "cpi has only a part of a period from 2026-01-01, up to 2026-08-01; partial=keep shows it"
    shown = await session("SIGNAL_HISTORY", "cpi", "2026-01-01", None, "freq=Y; agg=mean; transform=yoy; partial=keep")
    assert len(shown) == 2


async def test_a_series_that_ended_before_the_window_says_when_and_how_it_is_carried_on():
    session = canned(ended=ENDED)
    said = await refused(session, "ended", "-1Y", None, "fill=prev; freq=M")
    assert said == (
        "ended has no observations from 2025-08-01; its last one is of 2014-12-01; fillto=end carries it to the end"
    )


async def test_nothing_is_carried_on_into_a_window_that_begins_after_today():
    session = canned(cpi=FIRSTS)
    said = await refused(session, "cpi", "2027-01-01", "2027-06-30", "freq=M; fill=prev; fillto=end")
    assert said == "cpi has no observations from 2027-01-01 to 2027-06-30; its last one is of 2026-08-01"


async def test_a_time_of_day_that_cuts_the_only_day_is_told_with_its_time():
    session = canned(close={f"2026-08-{day:02}T20:00:00Z": 1.0 * day for day in (12, 13, 14, 17, 18)})
    said = await refused(session, "close", "2026-08-14", "2026-08-14T10:00")
    assert said == (
        "close has no observations from 2026-08-14 to 2026-08-14 10:00:00; the last one before is of 2026-08-13"
    )
