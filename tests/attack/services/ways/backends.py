"""Services as common frameworks, stores and gateways would build them; see `foreign`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta, timezone
from typing import Any

from tests.attack.services.ways.said import (
    Said,
    Way,
    address_behind,
    beside,
    in_headers,
    paged,
    raw,
    times,
    values,
    wrapped,
)

INDIA, TOKYO = timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=9))

Rows = list[dict[str, Any]]


def _window(tell: Callable[[Said], Said]) -> Way:
    return lambda said: tell(said) if said.is_window and said.is_good else said


def _list(tell: Callable[[Said], Said]) -> Way:
    return lambda said: tell(said) if said.is_good and not said.is_detail else said


def _numbered(size: int) -> Way:
    """Items, and which page of how many they are."""
    return paged(
        size,
        lambda said, begin, end: replace(
            said,
            body={
                "items": said.body["data"],
                "total": len(said.whole),
                "page": begin // size + 1,
                "size": size,
                "pages": -(-len(said.whole) // size),
            },
        ),
        "page",
        1,
    )


def _results(name: str) -> Callable[[Said, int, int], Said]:
    """A count, addresses of the pages beside, and results."""

    def tell(said: Said, begin: int, end: int) -> Said:
        follows = f"https://api.example{said.path}?limit=400&{name}={end}" if end < len(said.whole) else None
        count = {"count": len(said.whole)} if name == "offset" else {}
        return replace(said, body={**count, "next": follows, "previous": None, "results": said.body["data"]})

    return tell


def _bare_with_links(said: Said, begin: int, end: int) -> Said:
    number, more = begin // 400 + 1, end < len(said.whole)
    link = f'<https://api.example{said.path}?page={number + 1}>; rel="next"' if more else ""
    told = {"x-total": str(len(said.whole)), "x-page": str(number), "x-per-page": "400"} | (
        {"link": link} if more else {}
    )
    return replace(said, body=said.body["data"], headers={**said.headers, **told})


def _ranges(total: bool) -> Callable[[Said, int, int], Said]:
    """A bare list; its header tells which rows they are, and of how many only if that was counted."""

    def tell(said: Said, begin: int, end: int) -> Said:
        rows, count = said.body["data"], len(said.whole)
        if begin and begin >= count:
            return replace(said, status=416, body={"message": "Requested range not satisfiable", "code": "PGRST103"})
        told = f"{begin}-{begin + len(rows) - 1}/{count if total else '*'}" if rows else f"*/{count if total else '*'}"
        status = 206 if len(rows) < count else 200
        return replace(said, status=status, body=rows, headers={**said.headers, "content-range": told})

    return tell


def _hits(said: Said, begin: int, end: int) -> Said:
    hits = [
        {"_index": "rows", "_id": str(begin + place), "_source": row} for place, row in enumerate(said.body["data"])
    ]
    total = {"value": len(said.whole), "relation": "eq"}
    return replace(said, body={"took": 3, "timed_out": False, "hits": {"total": total, "hits": hits}})


def _connection(said: Said, begin: int, end: int) -> Said:
    edges = [{"node": row} for row in said.body["data"]]
    info = {"endCursor": f"c{end}", "hasNextPage": end < len(said.whole)}
    return replace(said, body={"data": {"observations": {"edges": edges, "pageInfo": info}}})


def _pascal(told: Any) -> Any:
    if isinstance(told, Mapping):
        return {"".join(part.capitalize() for part in name.split("_")): _pascal(value) for name, value in told.items()}
    return [_pascal(each) for each in told] if isinstance(told, list) else told


def _scrambled(said: Said) -> Said:
    def place(row: dict[str, Any]) -> str:
        return hashlib.md5(row["observed_at"].encode(), usedforsecurity=False).hexdigest()

    return replace(said, body={**said.body, "data": sorted(said.body["data"], key=place)})


def _charted(times_name: str, values_name: str) -> Way:
    def tell(said: Said) -> Said:
        rows = said.body["data"]
        told = {times_name: [row["observed_at"] for row in rows], values_name: [row["value"] for row in rows]}
        return replace(said, body={**{k: v for k, v in said.body.items() if k != "data"}, "data": told})

    return _window(tell)


def _half(beside_rows: Mapping[str, Any]) -> Way:
    """Half of the rows, and a word that others are missing."""
    return _window(lambda said: replace(said, body={"data": said.whole[: len(said.whole) // 2], **beside_rows}))


def _missing_is_404(said: Said) -> Said:
    is_empty = said.is_window and said.is_good and not said.body["data"]
    return replace(said, status=404, body={"error": "no observations in this window"}) if is_empty else said


def _problem(said: Said) -> Said:
    if said.is_good:
        return said
    told = {"type": "about:blank", "title": "Not Found", "status": said.status, "detail": "there is nothing here"}
    return replace(said, body=told, headers={**said.headers, "content-type": "application/problem+json"})


def _errors_in_200(said: Said) -> Said:
    return (
        said if said.is_good else replace(said, status=200, body={"data": None, "errors": [{"message": "not found"}]})
    )


def _every(nth: int, answer: Callable[[Said], Said]) -> Way:
    count = [0]

    def way(said: Said) -> Said:
        count[0] += 1
        return answer(said) if count[0] % nth == 0 else said

    return way


def _without_newest(said: Said) -> Said:
    """A replica that has not got the newest row yet."""
    if not said.is_good or not (said.is_detail or said.is_window):
        return said
    if said.is_window:
        return replace(said, body={**said.body, "data": said.body["data"][:-1]})
    detail = said.body["data"]
    rows = detail["history"][:-1]
    return replace(said, body={"data": {**detail, "history": rows, "latest": rows[-1] if rows else None}})


def _copies() -> Way:
    """A gateway that gives the copy of an address that was asked for before, and how old it is."""
    kept: dict[str, Said] = {}

    def way(said: Said) -> Said:
        name = f"{said.path}?{sorted(said.params.items())}"
        if name in kept:
            return replace(kept[name], headers={**said.headers, "age": "120", "x-cache": "HIT"})
        kept[name] = said
        return said

    return way


def _quota_as(tell: Callable[[str, str], Mapping[str, str]]) -> Way:
    def way(said: Said) -> Said:
        real = {name.lower(): value for name, value in said.headers.items()}
        cap, left = (real.pop(f"x-service-ratelimit-{name}", "0") for name in ("cap", "remaining"))
        return replace(said, headers=real | dict(tell(cap, left)))

    return way


def _token(name: str, parameter: str) -> Way:
    return paged(397, beside(lambda s, b, e, more: {name: f"c{e}"} if more else {}), parameter)


BACKENDS: dict[str, Way] = {
    # frameworks
    "items of numbered pages": _numbered(100),
    "results, count, and next elsewhere": paged(400, _results("offset")),
    "results and a cursor elsewhere": paged(400, _results("cursor")),
    "bare, with links and counts in headers": paged(400, _bare_with_links, "page", 1),
    "bare, and a counted range": paged(400, _ranges(total=True)),
    "bare, and a range that nobody counted": paged(400, _ranges(total=False)),
    "hits of a search": paged(500, _hits, "from"),
    "a connection of edges": paged(400, _connection, "after"),
    "Pascal case": wrapped(_pascal),
    "value and a next link": paged(
        400,
        lambda s, b, e: replace(
            s,
            body={"@odata.context": "$metadata#rows", "value": s.body["data"]}
            | ({"@odata.nextLink": address_behind(s, e)} if e < len(s.whole) else {}),
        ),
    ),
    "page tokens in camel case": _token("nextPageToken", "pageToken"),
    "continuations": _token("continuation", "continuation"),
    "markers": _token("next_marker", "marker"),
    "a key that was evaluated last": _token("LastEvaluatedKey", "ExclusiveStartKey"),
    "the next page in an object": paged(
        397, beside(lambda s, b, e, more: {"pagination": {"next": {"offset": e} if more else None}})
    ),
    "no next, said as false": paged(
        397, beside(lambda s, b, e, more: {"next": address_behind(s, e) if more else False})
    ),
    "a count of the page": paged(100, beside(lambda s, b, e, more: {"count": len(s.body["data"]), "limit": 100})),
    "counts and links together": paged(
        400,
        beside(
            lambda s, b, e, more: {
                "meta": {"count": len(s.whole), "per_page": 400},
                "links": {"self": s.path, "next": address_behind(s, e) if more else None},
            }
        ),
    ),
    "rows that are left, in a header": paged(
        400, in_headers(lambda s, b, e, more: {"X-Remaining": str(len(s.whole) - e)})
    ),
    # rows
    "rows in no order": _window(_scrambled),
    "columns of a chart": _charted("dates", "values"),
    "columns of one letter": _charted("t", "v"),
    "extended JSON": lambda said: said.with_rows(
        lambda row: {"observed_at": {"$date": row["observed_at"]}, "value": {"$numberDecimal": str(row["value"])}}
    ),
    "thousands of digits": values(lambda value: f"{value:.15f}" + "0" * 1_500),
    "midnight in India": times(lambda at: at.replace(tzinfo=INDIA).isoformat()),
    "midnight in Tokyo": times(lambda at: at.replace(tzinfo=TOKYO).isoformat()),
    # halves
    "half, unsaid": _half({}),
    "half, and errors beside": _half({"errors": [{"message": "a shard timed out"}]}),
    "half, and said to be incomplete": _half({"incomplete_results": True}),
    "half, and said to be partial": _half({"status": "partial"}),
    "half, and a shard failed": _half({"timed_out": True, "_shards": {"total": 5, "successful": 3, "failed": 2}}),
    "half, and a warning": _half({"warnings": ["the result was truncated"]}),
    # refusals and gateways
    "404 for an empty window": _missing_is_404,
    "problems told in their own type": _problem,
    "errors in a 200": _errors_in_200,
    "blanks before": raw(lambda body: b"  \r\n\n" + body),
    "in a call": raw(lambda body: b"callback(" + body + b");"),
    "every fourth is 304 without a body": _every(4, lambda said: replace(said, status=304, body=b"")),
    "every fourth breaks off in the middle": _every(
        4, lambda said: replace(said, body=json.dumps(said.body).encode()[: len(json.dumps(said.body)) // 2])
    ),
    "quota in headers of others": _quota_as(
        lambda cap, left: {"X-RateLimit-Limit": cap, "X-RateLimit-Remaining": left, "X-RateLimit-Reset": "1790000000"}
    ),
    "quota as structured fields": _quota_as(
        lambda cap, left: {"RateLimit-Policy": f'"month";q={cap};w=2592000', "RateLimit": f'"month";r={left};t=86400'}
    ),
}
"""By what is unusual of each."""

LAGGING: dict[str, Way] = {
    "copies of what was asked before": _copies(),
    "a replica behind by a row, in turns": _every(2, _without_newest),
}
"""The same, which nobody can tell from a service that has nothing newer yet: their cells show what was true before."""
