"""Services by the sentences of the contract: for each "not shown" other honest answers; see `foreign`."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from tests.attack.services.ways.said import (
    CATALOGUE,
    FEEDS,
    Said,
    Way,
    address_behind,
    beside,
    first_of,
    latest,
    lists_of,
    lists_paged,
    only,
    paged,
    records,
    windows,
    with_headers,
)

Rows = list[dict[str, Any]]

ONE_SLUG = "us-cpi"
"""The signal that is refused, where one is."""

COLLECTIONS = lists_of("indices", "currents")


def _in_order(size: int, order: Callable[[Rows, int], Rows], tell: Callable[[int, int, int], Mapping[str, Any]]) -> Way:
    """The catalogue in pages of `size`, each cut from an order of its own: `order` is told which request it is."""
    asked = Counter[str]()

    def way(said: Said) -> Said:
        asked["pages"] += 1
        begin, rows = int(said.params.get("offset", "0")), order(said.whole, asked["pages"])
        return replace(said, body={"data": rows[begin : begin + size], **tell(begin, size, len(rows))})

    return only(CATALOGUE, way)


def _shuffled(rows: Rows, request: int) -> Rows:
    return sorted(rows, key=lambda row: hashlib.md5(f"{request}{row['slug']}".encode(), usedforsecurity=False).digest())


def _turned(rows: Rows, request: int) -> Rows:
    return rows[request % len(rows) :] + rows[: request % len(rows)]


def _backwards_at_times(rows: Rows, request: int) -> Rows:
    return rows[::-1] if request % 2 else rows


def _pagination(begin: int, size: int, count: int) -> dict[str, Any]:
    return {"pagination": {"limit": size, "offset": begin, "total": count}}


def _undated(change: Callable[[dict[str, Any]], dict[str, Any]], *names: str) -> Way:
    """Every third record of these lists as `change` has it."""

    def way(said: Said) -> Said:
        rows = [change(row) if place % 3 == 1 else row for place, row in enumerate(said.body["data"])]
        return replace(said, body={**said.body, "data": rows})

    return only(lists_of(*names), way)


def _without_time(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != "published_at"}


def _reading(tell: Callable[[float, str], dict[str, Any]]) -> Way:
    def index(record: dict[str, Any]) -> dict[str, Any]:
        rest, told = {name: each for name, each in record.items() if name != "latest"}, record["latest"]
        return rest | tell(told["value"], told["observed_at"])

    return records(index, "indices")


def _refuse(status: int, which: Callable[[Said], bool], body: Any = None, *, keeps_quota: bool = True) -> Way:
    def way(said: Said) -> Said:
        if not which(said):
            return said
        told = {"error": "not permitted"} if body is None else body
        return replace(said, status=status, body=told, headers=said.headers if keeps_quota else {})

    return way


def _about(*slugs: str) -> Callable[[Said], bool]:
    return lambda said: any(said.path.startswith(f"/v1/signals/{slug}") for slug in slugs)


def _first_time(which: Callable[[Said], bool], answer: Callable[[Said], Said]) -> Way:
    """The first answer of each address is another one."""
    seen = set[str]()

    def way(said: Said) -> Said:
        name = f"{said.path}?{sorted(said.params.items())}"
        if not which(said) or not said.is_good or name in seen:
            return said
        seen.add(name)
        return answer(said)

    return way


def _prepared(wait_s: str, **headers: str) -> Callable[[Said], Said]:
    told = {"retry-after": wait_s, **headers} if wait_s else headers
    return lambda said: replace(said, status=202, body={"status": "preparing"}, headers={**said.headers, **told})


def _written(charset: str, *, is_told: bool = True) -> Way:
    """Bodies with letters beyond ASCII, in another encoding."""

    def way(said: Said) -> Said:
        if not said.is_good:
            return said
        text = json.dumps(said.body, ensure_ascii=False).replace('"name": "', '"name": "é ')
        kind = f"application/json; charset={charset}" if is_told else "application/json"
        try:
            return replace(said, body=text.encode(charset), headers={**said.headers, "content-type": kind})
        except UnicodeEncodeError:
            return said

    return way


def _before_it_begins(answer: Callable[[Said], Said]) -> Way:
    """Windows that begin before the first observation."""

    def way(said: Said) -> Said:
        start = said.params.get("start", "")
        return answer(said) if start and start < said.begins else said

    return way


def _failed(status: int, text: str) -> Callable[[Said], Said]:
    return lambda said: replace(said, status=status, body={"error": text})


def _alias(tell: Callable[[str], dict[str, Any]]) -> Way:
    """Details that tell another slug than was asked for."""

    def way(said: Said) -> Said:
        if not said.is_detail or not said.is_good:
            return said
        detail = said.body["data"]
        return replace(said, body={"data": {**detail, **tell(detail["slug"])}})

    return way


def _of_another() -> Way:
    """A gateway that mixes answers up: every fifth detail is that of the one before."""
    before: list[Any] = []

    def way(said: Said) -> Said:
        if not said.is_detail or not said.is_good:
            return said
        before.append(said.body)
        return replace(said, body=before[-2]) if len(before) % 5 == 0 else said

    return way


def _page_of(
    size: int, tell: Mapping[str, Any], *, which: Callable[[Said], bool] = FEEDS, is_deaf: bool = False
) -> Way:
    """Lists in pages of `size`, each with `tell` beside it where others follow; deaf ones ignore `offset`."""

    def way(said: Said) -> Said:
        begin = 0 if is_deaf else int(said.params.get("offset", "0"))
        more = begin + size < len(said.whole)
        return replace(said, body={"data": said.whole[begin : begin + size], **(tell if more else {})})

    return only(which, way)


def _told_otherwise(said: Said) -> Said:
    """The answer to a parameter that is out of range."""
    return replace(said, status=422, body={"detail": [{"loc": ["query"], "msg": "out of range"}]})


LISTED: dict[str, Way] = {
    "a catalogue of 5, shuffled each time, and the total": _in_order(5, _shuffled, _pagination),
    "a catalogue of 6, shuffled each time, unsaid": _in_order(6, _shuffled, lambda begin, size, count: {}),
    "a catalogue of 4, shuffled each time, has_more": _in_order(
        4, _shuffled, lambda begin, size, count: {"has_more": begin + size < count}
    ),
    "a catalogue of 7, turned by one each time, and the total": _in_order(7, _turned, _pagination),
    "a catalogue of 5, turned by one each time, unsaid": _in_order(5, _turned, lambda begin, size, count: {}),
    "a catalogue of 5, backwards at times, and the total": _in_order(5, _backwards_at_times, _pagination),
    "a catalogue of 8, backwards at times, and a next": _in_order(
        8,
        _backwards_at_times,
        lambda begin, size, count: {"next": f"?offset={begin + size}" if begin + size < count else None},
    ),
    "a catalogue of 10, shuffled, and the total in a meta": _in_order(
        10, _shuffled, lambda begin, size, count: {"meta": {"total_count": count}}
    ),
    "the first 5 signals, and the limit that was asked for": only(
        CATALOGUE, first_of(5, lambda count: {"pagination": {"limit": 500, "offset": 0}})
    ),
    "the first 5 signals, and a limit of 5": only(CATALOGUE, first_of(5, lambda count: {"limit": 5})),
    "the first 10 signals, unsaid": only(CATALOGUE, first_of(10)),
    "the first 5 signals, has_more": only(CATALOGUE, first_of(5, lambda count: {"has_more": True})),
    "the first 7 signals, truncated": only(CATALOGUE, first_of(7, lambda count: {"truncated": True})),
    "a catalogue of 5, and its limit": only(CATALOGUE, lists_paged(5, lambda begin, size, count: {"limit": size})),
    "a catalogue of 9, and its page size": only(
        CATALOGUE, lists_paged(9, lambda begin, size, count: {"page_size": size})
    ),
    "the first 3 posts and items, whatever is asked": only(FEEDS, first_of(3)),
    "the first 10 posts and items, whatever is asked": only(FEEDS, first_of(10)),
    "the first 10 posts and items, and a limit of 10": only(FEEDS, first_of(10, lambda count: {"limit": 10})),
    "posts and items of 4, unsaid": _page_of(4, {}),
    "posts and items of 6, unsaid": _page_of(6, {}),
    "posts and items of 12, unsaid": _page_of(12, {}),
    "posts and items of 30, and their limit": only(FEEDS, lists_paged(30, lambda begin, size, count: {"limit": size})),
    "posts and items of 37, and their limit beside an offset": only(
        FEEDS, lists_paged(37, lambda begin, size, count: {"pagination": {"limit": size, "offset": begin}})
    ),
    "posts and items of 25, and per_page in a meta": only(
        FEEDS, lists_paged(25, lambda begin, size, count: {"meta": {"per_page": size}})
    ),
    "posts and items of 13, and page_size": only(
        FEEDS, lists_paged(13, lambda begin, size, count: {"page_size": size})
    ),
    "posts and items, the limit of 100 that holds": only(
        FEEDS, lists_paged(100, lambda begin, size, count: {"limit": size})
    ),
    "posts and items of 20, truncated": _page_of(20, {"truncated": True}),
    "the first 20 posts and items, truncated": _page_of(20, {"truncated": True}, is_deaf=True),
    "posts and items of 17, not complete": _page_of(17, {"complete": False}),
    "the first 17 posts and items, not complete": _page_of(17, {"complete": False}, is_deaf=True),
    "posts and items of 20, partial": _page_of(20, {"partial": True}),
    "the first 2 indices, truncated": _page_of(2, {"truncated": True}, which=COLLECTIONS, is_deaf=True),
    "indices of 2, truncated": _page_of(2, {"truncated": True}, which=COLLECTIONS),
    "the first 3 indices, not complete": _page_of(3, {"complete": False}, which=COLLECTIONS, is_deaf=True),
    "indices of 2, not complete": _page_of(2, {"is_complete": False}, which=COLLECTIONS),
    "indices of 3, not the last": _page_of(3, {"last": False}, which=COLLECTIONS),
    "indices of 2, and their limit": only(COLLECTIONS, lists_paged(2, lambda begin, size, count: {"limit": size})),
    "the first 2 indices, and a limit of 2": only(COLLECTIONS, first_of(2, lambda count: {"limit": 2})),
    "indices, and a limit of 50 that holds": only(COLLECTIONS, lists_paged(50, lambda b, size, c: {"limit": size})),
    "indices of 3, next_offset": only(
        COLLECTIONS, lists_paged(3, lambda b, size, count: {"next_offset": b + size if b + size < count else None})
    ),
    "indices of 2, next_from": only(
        COLLECTIONS,
        lists_paged(2, lambda b, size, count: {"next_from": b + size if b + size < count else None}, "from"),
    ),
    "posts and items of 20, nextSkip": only(
        FEEDS, lists_paged(20, lambda b, size, count: {"nextSkip": b + size if b + size < count else None}, "skip")
    ),
    "items without a time, null": _undated(lambda item: {**item, "published_at": None}, "wire"),
    "items without a time, absent": _undated(_without_time, "wire"),
    "items without a time, empty": _undated(lambda item: {**item, "published_at": ""}, "wire"),
    "items with a time in words": _undated(lambda item: {**item, "published_at": "just now"}, "wire"),
    "posts without a time, null": _undated(lambda post: {**post, "published_at": None}, "codex", "almanac"),
    "posts without a time, absent": _undated(_without_time, "codex", "almanac"),
    "no item has a time": records(_without_time, "wire"),
    "items in no order": only(lists_of("wire"), lambda said: replace(said, body={"data": _shuffled_items(said)})),
}


def _shuffled_items(said: Said) -> Rows:
    return sorted(said.body["data"], key=lambda row: hashlib.md5(row["id"].encode(), usedforsecurity=False).digest())


READ: dict[str, Way] = {
    "an index: a value and a current value": _reading(lambda value, at: {"value": 3.0, "current_value": value}),
    "an index: a value, and a latest": _reading(
        lambda value, at: {"value": 3.0, "latest": {"value": value, "observed_at": at}}
    ),
    "an index: a latest, and a level": _reading(
        lambda value, at: {"latest": {"value": 3.0, "observed_at": at}, "level": value}
    ),
    "an index: a reading and a last": _reading(lambda value, at: {"reading": 3.0, "last": value, "observed_at": at}),
    "an index: two of them alike": _reading(lambda value, at: {"value": value, "level": value, "observed_at": at}),
    "an index: raw and normalized": _reading(
        lambda value, at: {"latest": {"raw": value, "normalized": 3.0, "observed_at": at}}
    ),
    "an index: its history": _reading(
        lambda value, at: {
            "history": [{"value": 3.0, "observed_at": "2020-01-01"}, {"value": value, "observed_at": at}]
        }
    ),
    "an index: a pair": _reading(lambda value, at: {"latest": [at, value]}),
    "an index: a latest without a date": _reading(lambda value, at: {"latest": value}),
    "components are texts": records(lambda index: {**index, "components": ["us-10y", "us-cpi"]}, "indices"),
    "no components": records(lambda index: {**index, "components": None}, "indices"),
    "stages are numbers": records(lambda current: {**current, "maturity_stage": 3}, "currents"),
    "payloads are lists": records(lambda item: {**item, "payload": [1, 2]}, "wire"),
    "categories are lists": records(lambda signal: {**signal, "category": ["macro", "rates"]}, "signals"),
    "bylines are texts": records(lambda post: {**post, "byline": "desk-one"}, "codex", "almanac"),
}

REFUSING: dict[str, Way] = {
    "401 for one signal": _refuse(401, _about(ONE_SLUG)),
    "401 for one signal, without quota headers": _refuse(401, _about(ONE_SLUG), keeps_quota=False),
    "401 for one signal, a page": _refuse(401, _about(ONE_SLUG), b"<html>no</html>"),
    "403 for one signal": _refuse(403, _about(ONE_SLUG)),
    "403 for one signal, without quota headers": _refuse(403, _about(ONE_SLUG), keeps_quota=False),
    "403 for one signal, a page without headers": _refuse(
        403, _about(ONE_SLUG), b"<html>denied</html>", keeps_quota=False
    ),
    "401 for two signals": _refuse(401, _about(ONE_SLUG, "sp-500")),
    "401 for all windows": _refuse(401, lambda said: said.is_window),
    "401 for the wire": _refuse(401, lists_of("wire")),
    "403 for the wire": _refuse(403, lists_of("wire")),
    "401 for the indices": _refuse(401, lists_of("indices")),
    "402 for one signal": _refuse(402, _about(ONE_SLUG)),
    "410 for one signal": _refuse(410, _about(ONE_SLUG)),
    "451 for one signal": _refuse(451, _about(ONE_SLUG)),
    "429 for one signal": _refuse(429, _about(ONE_SLUG)),
    "a cap of nought": with_headers(x_service_ratelimit_cap="0"),
    "a cap and a rest of nought": with_headers(x_service_ratelimit_cap="0", x_service_ratelimit_remaining="0"),
    "a cap of minus one": with_headers(x_service_ratelimit_cap="-1", x_service_ratelimit_remaining="-1"),
    "limits of others that are nought": with_headers(
        x_ratelimit_limit="0", x_ratelimit_remaining="0", x_ratelimit_reset="0", retry_after="0"
    ),
    "limits of others that are nought, and a day's reset": with_headers(
        x_ratelimit_limit="0", x_ratelimit_remaining="0", x_ratelimit_reset="86400"
    ),
    "limits of nought in structured fields": with_headers(ratelimit_policy="0;w=1", ratelimit="limit=0, remaining=0"),
    "windows are prepared first": _first_time(lambda said: said.is_window, _prepared("1")),
    "windows are prepared first, at an address": _first_time(
        lambda said: said.is_window, _prepared("2", location="/v1/jobs/7")
    ),
    "windows are prepared first, no time told": _first_time(lambda said: said.is_window, _prepared("")),
    "details are prepared first": _first_time(lambda said: said.is_detail, _prepared("1")),
    "lists are prepared first": _first_time(lambda said: not said.is_window and not said.is_detail, _prepared("3")),
    "windows are pending first, in a 200": _first_time(
        lambda said: said.is_window, lambda said: replace(said, body={"status": "pending", "data": None})
    ),
    "Latin letters": _written("iso-8859-1"),
    "Latin letters, unsaid": _written("iso-8859-1", is_told=False),
    "letters of Windows": _written("windows-1252"),
    "UTF-16, and said so": _written("utf-16"),
    "404 before a series begins": _before_it_begins(_failed(404, "no observations before the inception")),
    "400 before a series begins": _before_it_begins(_failed(400, "start lies before the inception")),
    "422 before a series begins": _before_it_begins(_told_otherwise),
    "500 before a series begins": _before_it_begins(_failed(500, "internal error")),
    "416 before a series begins": _before_it_begins(_failed(416, "range not satisfiable")),
    "an alias among others": _alias(lambda slug: {"slug": f"bls.{slug}", "aliases": [slug, "x"]}),
    "an alias, the name asked for is its shortcode": _alias(lambda slug: {"slug": f"bls.{slug}", "shortcode": slug}),
    "an alias, and not a word of it": _alias(lambda slug: {"slug": f"bls.{slug}"}),
    "a slug with its version": _alias(lambda slug: {"slug": f"{slug}@v2"}),
    "details mixed up": _of_another(),
}

WINDOWED: dict[str, Way] = {
    "next_start": paged(
        397,
        beside(lambda s, b, e, more: {"next_start": s.whole[e]["observed_at"][:10] if more else None}),
        "nowhere",
    ),
    "nextFrom in a meta": paged(397, beside(lambda s, b, e, more: {"meta": {"nextFrom": e if more else None}}), "from"),
    "truncated windows": paged(397, beside(lambda s, b, e, more: {"truncated": more})),
    "windows cut to 397, truncated": windows(
        lambda said: replace(said, body={"data": said.whole[:397], "truncated": len(said.whole) > 397})
    ),
    "windows of 397, not complete": windows(
        lambda said: replace(said, body={"data": said.whole[:397], "complete": len(said.whole) <= 397})
    ),
    "windows of 397, isComplete": windows(
        lambda said: replace(said, body={"data": said.whole[:397], "meta": {"isComplete": len(said.whole) <= 397}})
    ),
    "windows of 397, partial": windows(
        lambda said: replace(said, body={"data": said.whole[:397], "partial": len(said.whole) > 397})
    ),
    "windows of 250, and the limit": windows(lambda said: replace(said, body={"data": said.whole[:250], "limit": 250})),
    "windows of 333, and the page size": windows(
        lambda said: replace(said, body={"data": said.whole[:333], "page_size": 333})
    ),
    "the newest 400, truncated": windows(
        lambda said: replace(said, body={"data": said.whole[-400:], "truncated": len(said.whole) > 400})
    ),
    "an observation has its revision": lambda said: said.with_rows(lambda row: {**row, "revision": 0}),
    "a latest that is one of two": latest(lambda told: [told, told]),
    "continue in an address": paged(
        397, beside(lambda s, b, e, more: {"continue": address_behind(s, e) if more else None})
    ),
    "observations keyed by day": windows(
        lambda said: (
            replace(said, body={"data": {row["observed_at"][:10]: row["value"] for row in said.whole[:1000]}})
            if len(said.whole) <= 1000
            else said
        )
    ),
    "times with their zone's name": lambda said: said.with_rows(
        lambda row: {**row, "observed_at": f"{row['observed_at'][:-1]}+00:00[UTC]"}
    ),
    "a day of the series' own": lambda said: said.with_rows(
        lambda row: {"date": row["observed_at"][:10], "value": row["value"], "year": int(row["observed_at"][:4])}
    ),
    "published at beside the day": lambda said: said.with_rows(
        lambda row: {**row, "published_at": datetime.fromisoformat(row["observed_at"]).isoformat()}
    ),
}

CLAUSES: dict[str, Way] = {**LISTED, **READ, **REFUSING, **WINDOWED}
"""By what is unusual of each."""

UNASKED = frozenset(
    {
        *(name for name in REFUSING if " for one signal" in name or " for two signals" in name),
        *("details mixed up", "stages are numbers", "204 for an empty window", "404 for an empty window"),
        *(
            "a byte order mark",
            "blanks before",
            "filters that count for nothing",
            "details of names without a dot only",
        ),
        *("copies of what was asked before", "a clock a day behind", "deflated"),
    }
)
"""What no question of a probe is about, or no answer can show: one signal of many, currents, what comes in turns."""
