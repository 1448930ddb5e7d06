"""Services that no switch describes: each takes the embedded service's answers and tells them in a way of its own.

What is true stays the same. A cell shows it, or says what it lacks, or is an error: never something else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

import httpx

from dataservice.server.timestamps import parse_date
from dataservice.server.variants.series import window_rows
from tests.attack.services.ways.backends import BACKENDS, LAGGING
from tests.attack.services.ways.clauses import CLAUSES
from tests.attack.services.ways.losing import HIDING, LOSING
from tests.attack.services.ways.other_days import OTHER_DAYS
from tests.attack.services.ways.said import (
    Said,
    Way,
    address_behind,
    beside,
    cut,
    in_headers,
    lists_paged,
    paged,
    raw,
    times,
    values,
    wrapped,
    year,
)
from tests.attack.services.ways.strangers import STRANGERS
from tests.attack.services.ways.thinning import THINNED
from tests.attack.services.ways.vendors import VENDORS
from tests.attack.services.world import Databases, World

TOKYO = timezone(timedelta(hours=9))


def _camel(record: dict[str, Any]) -> dict[str, Any]:
    return {re.sub(r"_(\w)", lambda m: m[1].upper(), name): value for name, value in record.items()}


def _all_camel(said: Said) -> Said:
    said = said.with_rows(_camel).with_records(_camel)
    if said.is_detail and said.is_good:
        return replace(said, body={"data": _camel(said.body["data"])})
    return said


def _json_api(said: Said) -> Said:
    if not said.is_good:
        return said
    rows = said.body["data"]

    def resource(record: dict[str, Any]) -> dict[str, Any]:
        return {"type": "resource", "id": str(record.get("slug", record.get("id", ""))), "attributes": record}

    body = resource(rows) if isinstance(rows, dict) else [resource(row) for row in rows]
    return replace(said, body={"jsonapi": {"version": "1.1"}, **said.body, "data": body})


def _hal(said: Said) -> Said:
    if not said.is_good or said.is_detail:
        return replace(said, body=said.body.get("data", said.body)) if said.is_good else said
    name = said.path.rpartition("/")[2]
    rest = {key: value for key, value in said.body.items() if key != "data"}
    return replace(said, body={"_embedded": {name: said.body["data"]}, "_links": {"self": {"href": said.path}}, **rest})


def _no_content(said: Said) -> Said:
    is_empty = said.is_good and said.is_window and not said.body["data"]
    return replace(said, status=204, body=b"") if is_empty else said


def _null_lists(said: Said) -> Said:
    if not said.is_good:
        return said
    if said.is_detail:
        return replace(said, body={"data": {**said.body["data"], "history": None}})
    return replace(said, body={**said.body, "data": said.body["data"] or None})


def _empty_texts(said: Said) -> Said:
    def emptied(record: dict[str, Any]) -> dict[str, Any]:
        return {name: "" if value is None else value for name, value in record.items()}

    def without(record: dict[str, Any]) -> dict[str, Any]:
        record = emptied(record)
        score = {"importance_score": ""} if str(record.get("id", ""))[:1] in "abc" else {}
        return record | (score if "importance_score" in record else {})

    return said.with_records(without)


def _twice(change: Callable[[dict[str, Any]], dict[str, Any]] = dict) -> Way:
    """Each observation twice, the second time as `change` has it."""

    def way(said: Said) -> Said:
        if not said.is_window or not said.is_good:
            return said
        return replace(
            said, body={**said.body, "data": [each for row in said.body["data"] for each in (row, change(row))]}
        )

    return way


def _null_rows(said: Said) -> Said:
    """A null in the place of some observations' records, beside those that are there."""
    if not said.is_window or not said.is_good:
        return said
    rows = [each for place, row in enumerate(said.body["data"]) for each in ((row, None) if place % 7 == 3 else (row,))]
    return replace(said, body={**said.body, "data": rows})


def _newest_page_first(said: Said, begin: int, end: int) -> Said:
    """Pages from the newest on, each oldest first."""
    count = len(said.whole)
    page = said.whole[max(0, count - end) : count - begin]
    return replace(said, body={"data": page, "next_cursor": str(end) if end < count else None})


def _descending(said: Said, begin: int, end: int) -> Said:
    count = len(said.whole)
    page = said.whole[max(0, count - end) : count - begin][::-1]
    return replace(said, body={"data": page, "next_cursor": str(end) if end < count else None})


def _each_page_descending(said: Said, begin: int, end: int) -> Said:
    page = said.whole[begin:end][::-1]
    return replace(said, body={"data": page, "next_cursor": str(end) if end < len(said.whole) else None})


def _live(said: Said) -> Said:
    """The latest is of this very minute and not settled; the history ends the day before."""
    if not said.is_detail or not said.is_good:
        return said
    detail = dict(said.body["data"])
    if not detail["history"] or detail["latest"] is None:
        return said
    at = datetime.fromisoformat(detail["latest"]["observed_at"]) + timedelta(hours=14, minutes=37)
    detail["latest"] = {**detail["latest"], "observed_at": at.isoformat().replace("+00:00", "Z")}
    detail["history"] = detail["history"][:-1]
    return replace(said, body={"data": detail})


def _dotless_details(said: Said) -> Said:
    if said.is_detail and said.is_good and "." in unquote(said.path.rpartition("/")[2]):
        return replace(said, status=404, body={"error": "signal not found"})
    return said


def _keyed(said: Said) -> Said:
    """Lists as objects by name; observations by date."""
    if not said.is_good or said.is_detail:
        return said
    rows = said.body["data"]
    if said.is_window:
        keyed = {row["observed_at"][:10]: row["value"] for row in rows}
    else:
        keyed = {row.get("slug", row.get("id")): row for row in rows}
    return replace(said, body={**said.body, "data": keyed})


def _quota(cap: str, left: str) -> Way:
    def way(said: Said) -> Said:
        real = {name.lower(): value for name, value in said.headers.items()}
        values = {
            "cap": real.get("x-service-ratelimit-cap", "0"),
            "left": real.get("x-service-ratelimit-remaining", "0"),
        }
        used = str(int(values["cap"]) - int(values["left"]))
        told = {"x-service-ratelimit-cap": cap, "x-service-ratelimit-remaining": left}
        return replace(said, headers=real | {k: v.format(**values, used=used) for k, v in told.items()})

    return way


def _catalogue_by_number(said: Said) -> Said:
    if not said.is_good or said.path.rpartition("/")[2] != "signals":
        return said
    number, rows = int(said.params.get("page", "1")), said.whole
    return replace(
        said, body={"data": rows[(number - 1) * 6 : number * 6], "page": number, "pages": -(-len(rows) // 6)}
    )


def _epoch_day(at: datetime) -> int:
    return (at.date() - datetime(1970, 1, 1, tzinfo=UTC).date()).days


_GROUPED = "{:,}".format

FOREIGN: dict[str, Way] = {
    # what a list stands in
    "ok and result": wrapped(lambda body: {"ok": True, "result": body}),
    "success and payload": wrapped(lambda body: {"success": True, "payload": {"items": body["data"]}}),
    "response": wrapped(lambda body: {"response": body, "error": None}),
    "JSON:API": _json_api,
    "HAL": _hal,
    "keyed by name": _keyed,
    "null for an empty list": _null_lists,
    "204 for an empty window": _no_content,
    "a byte order mark": raw(lambda body: b"\xef\xbb\xbf" + body),
    "a line for each record": lambda said: (
        replace(said, body="\n".join(map(json.dumps, said.body["data"])).encode())
        if said.is_good and not said.is_detail
        else said
    ),
    "a prefix against scripts": raw(lambda body: b")]}',\n" + body),
    # names and fields
    "failed, and an empty list": lambda said: (
        replace(said, body={"status": "error", "message": "try later", "data": []}) if said.is_window else said
    ),
    "null in the place of rows": _null_rows,
    "camel case": _all_camel,
    "slugs in capitals": lambda said: said.with_records(
        lambda row: {**row, "slug": row["slug"].upper()} if "signals" in said.path else row
    ),
    "empty texts for null": _empty_texts,
    "a value in an object": values(lambda value: {"raw": value, "fmt": f"{value:.2f}"}),
    "details of names without a dot only": _dotless_details,
    # times
    "two offsets": times(lambda at: at.astimezone(TOKYO if at.day % 2 else UTC).isoformat()),
    "compact dates": times(lambda at: at.strftime("%Y%m%d")),
    "compact numbers": times(lambda at: int(at.strftime("%Y%m%d"))),
    "days since 1970": times(_epoch_day),
    "days of a spreadsheet": times(lambda at: _epoch_day(at) + 25_569),
    "seconds as text": times(lambda at: str(int(at.timestamp()))),
    "microseconds": times(lambda at: int(at.timestamp()) * 1_000_000),
    "nanoseconds as digits": times(lambda at: at.strftime("%Y-%m-%dT%H:%M:%S.000000000Z")),
    "days first": times(lambda at: at.strftime("%d/%m/%Y")),
    "points": times(lambda at: at.strftime("%d.%m.%Y")),
    "names of months": times(lambda at: at.strftime("%b %d, %Y")),
    "of the web": times(lambda at: at.strftime("%a, %d %b %Y %H:%M:%S GMT")),
    "UTC spelled out": times(lambda at: at.strftime("%Y-%m-%d %H:%M:%S UTC")),
    "weeks": times(lambda at: at.strftime("%G-W%V-%u")),
    # numbers
    "grouped": values(_GROUPED),
    "grouped by blanks": values(lambda value: _GROUPED(value).replace(",", " ")),
    "grouped by points": values(lambda value: _GROUPED(value).translate(str.maketrans(",.", ".,"))),
    "decimal commas": values(lambda value: f"{value}".replace(".", ",")),
    "scientific": values(lambda value: f"{value:.14E}"),
    "per cent": values(lambda value: f"{value}%"),
    "with a currency": values(lambda value: f"${value}"),
    # paging
    "cursor in a header": paged(
        400, in_headers(lambda s, b, e, more: {"X-Next-Cursor": f"c{e}"} if more else {}), "cursor"
    ),
    "total in a header": paged(400, in_headers(lambda s, b, e, more: {"X-Total-Count": f"{len(s.whole):,}"})),
    "206 and a range": lambda said: replace(
        paged(400, in_headers(lambda s, b, e, more: {"Content-Range": f"items {b}-{e - 1}/{len(s.whole)}"}))(said),
        status=206 if said.is_window and said.is_good and len(said.whole) > 400 else said.status,
    ),
    "totals as text": paged(
        400,
        beside(lambda s, b, e, more: {"pagination": {"limit": "400", "offset": str(b), "total": str(len(s.whole))}}),
    ),
    "grouped totals": paged(400, beside(lambda s, b, e, more: {"total": f"{len(s.whole):,}"})),
    "total of pages": paged(397, beside(lambda s, b, e, more: {"total": -(-len(s.whole) // 397)})),
    "no total": paged(397, beside(lambda s, b, e, more: {"pagination": {"total": -1, "limit": 397, "offset": b}})),
    "a total too large": paged(1000, beside(lambda s, b, e, more: {"total": 10_000})),
    "a trailing empty page": paged(
        397, beside(lambda s, b, e, more: {"next_cursor": f"c{e}" if s.body["data"] else None}), "cursor"
    ),
    "always more": paged(397, beside(lambda s, b, e, more: {"has_more": True, "page": b // 397}), "page"),
    "more as a word": paged(397, beside(lambda s, b, e, more: {"has_more": "true" if more else "false"})),
    "pages from nought": paged(
        397, beside(lambda s, b, e, more: {"page": b // 397, "pages": -(-len(s.whole) // 397)}), "page"
    ),
    "next on another host": paged(
        397, beside(lambda s, b, e, more: {"next": address_behind(s, e, "http://10.0.0.7:8080") if more else None})
    ),
    "cursor deep inside": paged(
        397, beside(lambda s, b, e, more: {"paging": {"cursors": {"after": f"c{e}" if more else None}}}), "after"
    ),
    "end cursor": paged(
        397, beside(lambda s, b, e, more: {"page_info": {"end_cursor": f"c{e}", "has_next_page": more}}), "after"
    ),
    "newest page first": paged(397, _newest_page_first, "cursor"),
    "newest first": paged(397, _descending, "cursor"),
    "newest first at once": paged(100_000, _descending, "cursor"),
    "each page newest first": paged(397, _each_page_descending, "cursor"),
    "each twice": _twice(),
    "each twice, otherwise": _twice(lambda row: {**row, "value": round(row["value"] * 1.01, 6)}),
    "lists of 20 unsaid": lists_paged(20, lambda begin, size, count: {}),
    "lists of 3, has_more": lists_paged(3, lambda begin, size, count: {"has_more": begin + size < count}),
    "lists of 7, next": lists_paged(
        7, lambda begin, size, count: {"next": f"?offset={begin + size}" if begin + size < count else None}
    ),
    "lists of 50 and a total": lists_paged(50, lambda begin, size, count: {"total": count}),
    "newest 1000, unsaid": cut(lambda rows: rows[-1_000:]),
    "newest 700, unsaid": cut(lambda rows: rows[-700:]),
    "oldest 777, unsaid": cut(lambda rows: rows[:777]),
    "the first year, unsaid": cut(lambda rows: year(rows, 0)),
    "the last year, unsaid": cut(lambda rows: year(rows, -1)),
    "a catalogue of numbered pages": _catalogue_by_number,
    # one observation, told otherwise
    "a latest of this minute": _live,
    # headers
    "left of all": _quota("{cap}", "{left}/{cap}"),
    "left in words": _quota("{cap} per month", "{left} of {cap}"),
    "used instead": _quota("{cap}", "used={used}"),
    **STRANGERS,
    **BACKENDS,
    **LOSING,
    **THINNED,
    **CLAUSES,
    **VENDORS,
    **OTHER_DAYS,
}
"""By what is unusual of each."""


OLD_COPIES = frozenset({"copies by path alone", "copies of what was asked before"})
"""Gateways that answer the same question with the same copy days later: as a service that has nothing newer yet.

Nobody can tell one from the other (`docs/contract.md`), so a cell may show what was true on the day of the copy; and
nothing else, such as the rows of another window.
"""

UNSEEN_BY_ALL = HIDING | LAGGING
"""What these leave out no look shows; they are visited by name alone."""


class ForeignWorld(World):
    """A world whose service tells its answers in a way of its own."""

    def __init__(self, databases: Databases, way: Way, folder: Path) -> None:
        super().__init__(databases, {}, folder)
        self._way = way

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer as that service."""
        request.url = request.url.copy_with(path=request.url.path.lower())  # it takes slugs in any case
        answered = await super().handle_async_request(request)
        content = await answered.aread()
        headers = {name: value for name, value in answered.headers.items() if name.startswith("x-")}
        path, params = request.url.path, dict(parse_qsl(request.url.query.decode()))
        said = Said(path, params, answered.status_code, json.loads(content), headers)
        if path.startswith("/v1/"):
            said = self._way(
                replace(said, whole=self._whole(said), every=(every := self._every(said)), begins=_begins(every))
            )
        body = said.body if isinstance(said.body, bytes) else json.dumps(said.body).encode()
        return httpx.Response(said.status, headers={"content-type": "application/json", **said.headers}, content=body)

    def _every(self, said: Said) -> list[dict[str, Any]]:
        rows = self.truth.rows(_slug_of(said)) if said.is_good and said.is_window else []
        return [_row(each) for each in rows]

    def _whole(self, said: Said) -> list[dict[str, Any]]:
        if not said.is_good or said.is_detail:
            return []
        if not said.is_window:
            name = said.path.rpartition("/")[2]
            return self.truth.catalogue if name == "signals" else list(said.body["data"])
        slug = _slug_of(said)
        start, end = (parse_date(said.params[name]) if said.params.get(name) else None for name in ("start", "end"))
        rows = window_rows(self.truth.rows(slug), self.variant, start, end)
        return [_row(each) for each in rows]


def _begins(every: list[dict[str, Any]]) -> str:
    return str(every[0]["observed_at"])[:10] if every else ""


def _row(told: tuple[datetime, float | None]) -> dict[str, Any]:
    return {"observed_at": told[0].strftime("%Y-%m-%dT%H:%M:%SZ"), "value": told[1]}


def _slug_of(said: Said) -> str:
    return unquote(said.path.removeprefix("/v1/signals/").removesuffix("/observations"))
