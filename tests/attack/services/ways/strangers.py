"""More services that no switch describes, as an examiner from outside would write them; see `foreign`."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

from tests.attack.services.ways.said import (
    CATALOGUE,
    FEEDS,
    Said,
    Way,
    address_behind,
    beside,
    first_of,
    headers_as,
    in_headers,
    in_turns,
    latest,
    lists_paged,
    only,
    paged,
    raw,
    recent,
    records,
    times,
    values,
    windows,
    with_headers,
    wrapped,
)

NEW_YORK = timezone(timedelta(hours=-5))


def _feeds(size: int) -> Way:
    """Posts and wire, so many a page by `offset`, and not a word of it."""
    return only(FEEDS, lists_paged(size, lambda begin, size, count: {}))


def _by_number(size: int) -> Way:
    def way(said: Said) -> Said:
        begin = (int(said.params.get("page", "1")) - 1) * size
        return replace(said, body={"data": said.whole[begin : begin + size]})

    return way


def _index_reading(tell: Callable[[float, str], dict[str, Any]]) -> Way:
    def index(record: dict[str, Any]) -> dict[str, Any]:
        rest, latest = {name: told for name, told in record.items() if name != "latest"}, record["latest"]
        return rest | tell(latest["value"], latest["observed_at"])

    return records(index, "indices")


def _edges(said: Said) -> Said:
    if not said.is_good or said.is_detail:
        return said
    edges = [{"node": row, "cursor": str(place)} for place, row in enumerate(said.whole)]
    return replace(said, body={"data": {"edges": edges, "pageInfo": {"hasNextPage": False}}})


def _split(said: Said) -> Said:
    rows = [[row["observed_at"], row["value"]] for row in said.body["data"]]
    return replace(said, body={"columns": ["observed_at", "value"], "index": [*range(len(rows))], "data": rows})


def _by_place(said: Said) -> Said:
    rows = said.body["data"]
    told = {name: {str(place): row[name] for place, row in enumerate(rows)} for name in ("observed_at", "value")}
    return replace(said, body={"data": told})


def _overlapping(said: Said, begin: int, end: int) -> Said:
    """Pages that begin with the last row of the one before."""
    page = said.whole[max(0, begin - 1) : end]
    return replace(said, body={"data": page, "next_cursor": f"a+b/{end}==&x=é" if end < len(said.whole) else None})


def _spring(said: Said, begin: int, end: int) -> Said:
    size, count = end - begin, len(said.whole)
    told = {"number": begin // size, "size": size, "totalElements": count, "totalPages": -(-count // size)}
    return replace(said, body={"content": said.whole[begin:end], "last": end >= count, **told})


def _unfiltered() -> Way:
    """Posts and items without a filter, whatever is asked, once they were asked for so."""
    seen: dict[str, Any] = {}

    def way(said: Said) -> Said:
        if said.params.keys() <= {"limit"}:
            seen[said.path] = said.whole
        return replace(said, body={"data": seen.get(said.path, said.whole)})

    return way


def _falling(said: Said, begin: int, end: int) -> Said:
    page = said.whole[::-1][begin:end]
    return replace(
        said, body={"data": page, "pagination": {"limit": end - begin, "offset": begin, "total": len(said.whole)}}
    )


def _too_wide(said: Said) -> Said:
    """Windows of more than five years are refused."""
    days = [datetime.fromisoformat(said.params[name]) for name in ("start", "end") if said.params.get(name)]
    if len(days) == 2 and days[1] - days[0] > timedelta(days=1_827):
        return replace(said, status=400, body={"error": "a window may span five years at most"})
    return said


def _deflated(said: Said) -> Said:
    packed = zlib.compress(json.dumps(said.body).encode())
    return replace(said, body=packed, headers={**said.headers, "content-encoding": "deflate"})


def _stored_elsewhere(said: Said) -> Said:
    where = {"location": f"https://store.example{said.path}?signature=abc"}
    return replace(said, status=302, body={}, headers={**said.headers, **where})


STRANGERS: dict[str, Way] = {
    # lists
    "posts and wire of 3, unsaid": _feeds(3),
    "posts and wire of 5, unsaid": _feeds(5),
    "posts and wire of 7, unsaid": _feeds(7),
    "posts and wire of 10, unsaid": _feeds(10),
    "the first 5 posts and items, whatever is asked": only(FEEDS, first_of(5)),
    "posts and wire of 8, by number, unsaid": only(FEEDS, _by_number(8)),
    "the first 5 signals, whatever is asked": only(CATALOGUE, first_of(5)),
    "the first 5 signals, and the total": only(CATALOGUE, first_of(5, lambda count: {"total": count})),
    "the first 5 signals, said to be 5": only(
        CATALOGUE, first_of(5, lambda count: {"pagination": {"limit": 5, "offset": 0, "total": 5}})
    ),
    "a catalogue of 7, unsaid": only(CATALOGUE, lists_paged(7, lambda begin, size, count: {})),
    "filters that count for nothing": only(FEEDS, _unfiltered()),
    "items oldest first": only(FEEDS, lambda said: replace(said, body={"data": said.body["data"][::-1]})),
    "each record twice": only(FEEDS, lambda said: replace(said, body={"data": said.body["data"] * 2})),
    "null for no tickers": records(lambda item: {**item, "tickers": item["tickers"] or None}, "wire"),
    "kinds that nobody listed": records(lambda item: {**item, "kind": "podcast"}, "wire"),
    "published in seconds": records(
        lambda item: {**item, "published_at": int(datetime.fromisoformat(item["published_at"]).timestamp())},
        *("wire", "codex", "almanac"),
    ),
    "ids that are numbers": records(lambda item: {**item, "id": int(item["id"][:8], 16)}, "wire"),
    "yes and no": records(lambda signal: {**signal, "is_premium": "no"}, "signals"),
    # what stands around
    "edges and nodes": _edges,
    "columns, index, data": windows(_split),
    "columns by place": windows(_by_place),
    "a signal around its observations": windows(
        lambda said: replace(said, body={"data": {"signal": {"slug": "it"}, "observations": said.body["data"]}})
    ),
    "a list of one list": wrapped(lambda body: {"data": [body["data"]] if isinstance(body["data"], list) else body}),
    "UTF-16": raw(lambda body: body.decode().encode("utf-16")),
    "plain text": with_headers(content_type="text/plain; charset=utf-8"),
    "JSON said to be a page": with_headers(content_type="text/html"),
    "deflated": _deflated,
    # times and values
    "midnight in New York": times(lambda at: at.replace(tzinfo=NEW_YORK).isoformat()),
    "the end of a day": times(lambda at: at.strftime("%Y-%m-%dT23:59:59.999Z")),
    "seconds with decimals": times(lambda at: at.timestamp()),
    "years of two digits": times(lambda at: at.strftime("%d/%m/%y")),
    "zeros behind": values(lambda value: f"{value:.8f}"),
    "signs before": values(lambda value: f"{value:+}"),
    "two numbers": values(lambda value: [value, value * 2]),
    # paging of windows
    "pages of Spring": paged(397, _spring, "page"),
    "next in a meta of offsets": paged(
        397, beside(lambda s, b, e, more: {"meta": {"next_offset": e if more else None}})
    ),
    "pages that are left": paged(
        397, beside(lambda s, b, e, more: {"remaining_pages": max(0, -(-(len(s.whole) - e) // 397))})
    ),
    "pages that overlap by a row": paged(400, _overlapping, "cursor"),
    "falling pages and a total": paged(400, _falling),
    "no next, but a total": paged(400, beside(lambda s, b, e, more: {"next": None, "total": len(s.whole)})),
    "links in a list": paged(
        397,
        beside(lambda s, b, e, more: {"links": [{"rel": "next", "href": address_behind(s, e)}] if more else []}),
    ),
    "what is left": paged(397, beside(lambda s, b, e, more: {"remaining": max(0, len(s.whole) - e)})),
    "next as a query": paged(397, beside(lambda s, b, e, more: {"next": f"?offset={e}" if more else ""})),
    "pages in headers": paged(
        397, in_headers(lambda s, b, e, more: {"X-Page": f"{b // 397 + 1}", "X-Pages": f"{-(-len(s.whole) // 397)}"})
    ),
    "five years at most": windows(_too_wide),
    "a replica behind by three rows, in turns": in_turns(
        lambda said: (
            replace(said, body={**said.body, "data": said.body["data"][:-3]})
            if said.is_window and said.is_good
            else said
        )
    )(),
    # details and indices
    "the newest 29": recent(lambda rows: rows[-29:]),
    "the newest 252": recent(lambda rows: rows[-252:]),
    "recent ones in an envelope": recent(lambda rows: {"data": rows, "count": len(rows)}),
    "an empty latest": latest(lambda latest: {}),
    "a latest without a value": latest(lambda latest: {**latest, "value": None}),
    "a latest in a list": latest(lambda latest: [latest]),
    "a reading in a reading": _index_reading(lambda value, at: {"reading": {"value": value, "as_of": at}}),
    "a reading with its unit": _index_reading(lambda value, at: {"value": f"{value} pts"}),
    "a reading and the one before": _index_reading(lambda value, at: {"current": value, "previous": value - 1}),
    "a reading and its rank": _index_reading(lambda value, at: {"score": value, "rank": 2}),
    # headers and refusals
    "numbers with decimals in headers": headers_as(lambda text: f"{text}.0"),
    "headers twice": headers_as(lambda text: f"{text}, {text}"),
    "a clock a day behind": with_headers(date="Sat, 29 Aug 2026 12:00:00 GMT", etag='W/"1"', age="86400"),
    "windows lie elsewhere": windows(_stored_elsewhere),
    "a page in the place of windows": windows(
        lambda said: replace(said, body=b"<html>maintenance</html>", headers={"content-type": "text/html"})
    ),
    "accepted, and nothing yet": windows(lambda said: replace(said, status=202, body={"status": "pending"})),
    "every fifth is 503": in_turns(
        lambda said: replace(said, status=503, body={"error": "busy"}, headers={**said.headers, "retry-after": "1"})
    )(),
    "every fifth is an empty list": in_turns(
        lambda said: replace(said, body={"data": [], "error": "timeout"}) if said.is_good else said
    )(),
}
"""By what is unusual of each."""
