"""Services that leave rows out where something else that they say tells of them; see `foreign`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.attack.services.ways.said import Said, Way, beside, paged

Rows = list[dict[str, Any]]


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


def _without_first(said: Said, begin: int, end: int) -> Said:
    """Each page without its first row, and how many rows there are from the day on that was asked for."""
    told = {"total": len(said.whole), "offset": begin}
    return replace(said, body={"data": said.whole[begin + 1 : end], "pagination": told})


def _silent(said: Said) -> Said:
    """Every list without a word beside it."""
    if not said.is_good or said.is_detail:
        return said
    rows = said.whole if said.is_window else said.body["data"]
    return replace(said, body={"data": rows[:1000]})


def _windows_without_last(said: Said) -> Said:
    """Every window without its last row, and not a word of it."""
    return _without_last(_silent(said)) if said.is_window else said


LOSING: dict[str, Way] = {
    "no window has its last row, unsaid": _windows_without_last,
    "no answer has its last row, but totals": lambda said: _without_last(_with_totals(said)),
    "the first 500 of a page, and the total": _half_pages("offset"),
    "the first 500 of a page, the total, and a cursor": _half_pages("cursor"),
    "a row too few in each page, and the total": _fewer,
    "no page has its first row, and the total": paged(100, _without_first),
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
"""By what is unusual of each: their totals tell, or other looks do."""

HIDING: dict[str, Way] = {"no answer has its last row, unsaid": lambda said: _without_last(_silent(said))}
"""No look shows what the lists of these leave out; their windows are found out."""
