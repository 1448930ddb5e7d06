"""Services that leave rows out where something else that they say tells of them; see `foreign`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

from tests.attack.services.said import Said, Way, beside, paged

Rows = list[dict[str, Any]]

A_YEAR = timedelta(days=366)


def _day(row: dict[str, Any]) -> date:
    return datetime.fromisoformat(row["observed_at"]).date()


def _ends(rows: Sequence[dict[str, Any]], period: Callable[[date], Any]) -> Rows:
    """The last row of each period."""
    return list({period(_day(row)): row for row in rows}.values())


def _weeks(rows: Sequence[dict[str, Any]]) -> Rows:
    return _ends(rows, lambda day: day.isocalendar()[:2])


def _months(rows: Sequence[dict[str, Any]]) -> Rows:
    return _ends(rows, lambda day: (day.year, day.month))


def _recent(thin: Callable[[Rows], Rows]) -> Way:
    def way(said: Said) -> Said:
        if not said.is_detail or not said.is_good:
            return said
        return replace(said, body={"data": {**said.body["data"], "history": thin(said.body["data"]["history"])}})

    return way


def _long(over: timedelta, thin: Callable[[Rows], Rows]) -> Way:
    """Windows with rows of so long a time, thinned, and the number of rows that are left."""

    def way(said: Said) -> Said:
        if not said.is_window or not said.is_good:
            return said
        is_long = bool(said.whole) and _day(said.whole[-1]) - _day(said.whole[0]) > over
        rows = thin(said.whole) if is_long else said.whole
        return replace(said, body={"data": rows[:1000], "pagination": {"limit": 1000, "offset": 0, "total": len(rows)}})

    return way


def _without_last(said: Said) -> Said:
    """Every list without its last row; totals stay."""
    if not said.is_good:
        return said
    if said.is_detail:
        detail = said.body["data"]
        return replace(said, body={"data": {**detail, "history": detail["history"][:-1]}})
    return replace(said, body={**said.body, "data": said.body["data"][:-1]})


def _with_totals(said: Said) -> Said:
    """Every list with the number of records that there are."""
    if not said.is_good or said.is_detail or said.is_window:
        return said
    return replace(said, body={**said.body, "total": len(said.whole)})


def _half_pages(name: str) -> Way:
    """Pages of 1,000 of which the first 500 rows come, and the total."""

    def tell(said: Said, begin: int, end: int) -> Said:
        told = {"limit": 1000, "offset": begin, "total": len(said.whole)}
        follows = {"next_cursor": f"c{end}" if end < len(said.whole) else None} if name == "cursor" else {}
        return replace(said, body={"data": said.whole[begin : begin + 500], "pagination": told | follows})

    return paged(1000, tell, name)


def _fewer(said: Said) -> Said:
    """One row in the middle of each page is left out; the total counts it."""
    if not said.is_window or not said.is_good:
        return said
    rows = said.body["data"]
    return replace(said, body={**said.body, "data": rows[: len(rows) // 2] + rows[len(rows) // 2 + 1 :]})


LOSING: dict[str, Way] = {
    "no answer has its last row, but totals": lambda said: _without_last(_with_totals(said)),
    "the first 500 of a page, and the total": _half_pages("offset"),
    "the first 500 of a page, the total, and a cursor": _half_pages("cursor"),
    "a row too few in each page, and the total": _fewer,
    "totals of lists, a record too few": lambda said: (
        replace(said, body={**(body := _with_totals(said).body), "data": body["data"][1:]})
        if said.is_good and said.path.rpartition("/")[2] in ("signals", "indices", "currents")
        else said
    ),
    "pages of 400, the last one without its last row, and the total": paged(
        400,
        lambda s, b, e: beside(lambda s, b, e, more: {"total": len(s.whole), "offset": b})(
            s if e < len(s.whole) else replace(s, body={"data": s.body["data"][:-1]}), b, e
        ),
    ),
}
"""By what is unusual of each: their totals tell."""

THINNED: dict[str, Way] = {
    "details of weeks": _recent(_weeks),
    "details of month ends": _recent(_months),
    "details of every third row": _recent(lambda rows: rows[::-3][::-1]),
    "long windows of weeks": _long(2 * A_YEAR, _weeks),
    "long windows of month ends": _long(2 * A_YEAR, _months),
    "windows of more than a year by weeks": _long(A_YEAR, _weeks),
    "windows of more than five years by month ends": _long(5 * A_YEAR, _months),
}
"""The same: only a probe, or another look at the same days, tells."""
