"""The embedded service behind a variant: its own answers decide who may ask and what is counted, not how it is told."""

import gzip
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dataservice.server.db.repository import Store
from dataservice.server.http.auth_middleware import CAP_HEADER, REMAINING_HEADER, TIER_HEADER
from dataservice.server.variants.pages import Reply, observations_reply
from dataservice.server.variants.refusals import Refusals, written
from dataservice.server.variants.series import recent_rows, true_rows
from dataservice.server.variants.spelling import record, written_rows

COLLECTION_PAGE, LIST_LIMIT = 2, 200
UNAUTHORIZED = 401


def list_reply(kind: str, body: dict[str, Any], variant: Mapping[str, str], params: Mapping[str, str]) -> Reply:
    """A list as the embedded service answers it, told otherwise; the catalogue's body holds all of it."""
    records: Sequence[Any] = body["data"]
    beside: dict[str, Any] = {}
    match kind:
        case "signals":
            records, beside = _catalogue(records, variant, params)
        case "indices" | "currents":
            records = [_index(each, variant["reading"]) for each in records] if kind == "indices" else records
            records, beside = _collection(records, variant["collections"], params)
        case "wire":
            records, beside = _fed(records[: int(variant["wire-page"])], variant, params)
        case "codex":
            records, beside = _fed(records, variant, params)
        case "almanac":
            records, beside = _fed(_almanac(records, variant["almanac"], params), variant, params)
    odd = _odd(kind, list(records), variant["odd-record"])
    how = "posts" if kind == "almanac" and variant["almanac"] == "unlike" else variant["list-envelope"]
    return Reply(200, odd if how == "bare" else {how: odd, **beside}, {})


def _catalogue(
    records: Sequence[Any], variant: Mapping[str, str], params: Mapping[str, str]
) -> tuple[Sequence[Any], dict[str, Any]]:
    limit = min(int(params.get("limit", "100")), int(variant["catalogue-page"]))
    asked, total = int(params.get("offset", "0")), len(records)
    offset = 0 if variant["catalogue-offset"] == "ignored" else asked
    page = _ordered(records, variant["catalogue-order"], asked)[offset : offset + limit]
    if variant["catalogue-total"] == "untold":
        return page, {}
    total = len(page) if variant["catalogue-total"] == "of-page" else total
    return page, {"pagination": {"limit": limit, "offset": offset, "total": total}}


def _ordered(records: Sequence[Any], how: str, offset: int) -> Sequence[Any]:
    """The signals in an order that is another one for each page, if the variant has it so."""
    if how == "stable":
        return records
    if how == "turned":
        return [*records[offset // 2 :], *records[: offset // 2]]
    return sorted(records, key=lambda record: zlib.crc32(f"{offset} {record['slug']}".encode()))


def _fed(
    records: Sequence[Any], variant: Mapping[str, str], params: Mapping[str, str]
) -> tuple[Sequence[Any], dict[str, Any]]:
    """Posts or items, and what is said beside them."""
    how, offset = variant["undated"], int(params.get("offset", "0"))
    if how != "none":
        records = [_undated(record, how) if place % 3 == 1 else record for place, record in enumerate(records)]
    size = int(variant["feed-page"])
    page = records[offset : offset + size] if size < LIST_LIMIT else records
    more = offset + size < len(records)
    beside: dict[str, dict[str, Any]] = {
        "limit": {"limit": size},
        "truncated": {"truncated": more},
        "not-complete": {"complete": not more},
    }
    return page, beside.get(variant["feed-more"], {})


def _undated(record: Mapping[str, Any], how: str) -> dict[str, Any]:
    rest = {name: told for name, told in record.items() if name != "published_at"}
    return rest if how == "absent" else {**rest, "published_at": None}


def _collection(records: Sequence[Any], how: str, params: Mapping[str, str]) -> tuple[Sequence[Any], dict[str, Any]]:
    if how == "whole":
        return records, {}
    offset = int(params.get("offset", "0"))
    page = records[offset : offset + COLLECTION_PAGE]
    if how == "paged-unsaid":
        return page, {}
    return page, {"pagination": {"limit": COLLECTION_PAGE, "offset": offset, "total": len(records)}}


def _index(record: dict[str, Any], how: str) -> dict[str, Any]:
    latest, rest = record.get("latest"), {name: value for name, value in record.items() if name != "latest"}
    if latest is None or how == "latest":
        return record
    at, value = latest["observed_at"], latest["value"]
    return (
        rest
        | {
            "value": {"value": value, "observed_at": at},
            "beside-level": {"level": 3, "index_value": value, "observed_at": at},
            "other-name": {"score": value, "as_of": at},
            "text": {"latest": {"observed_at": at, "value": str(value)}},
            "words": {"latest": {"observed_at": at, "value": "elevated"}},
            "two-candidates": {"value": value, "current_value": value / 2, "observed_at": at},
        }[how]
    )


def _almanac(records: Sequence[Any], how: str, params: Mapping[str, str]) -> Sequence[Any]:
    if how == "own-beats":  # its beats are not those of the bylines
        return records if not params.get("beat") else [each for each in records if _own_beat(each) == params["beat"]]
    return [] if how == "empty" else records


def _own_beat(record: Mapping[str, Any]) -> str:
    return f"{(record.get('byline') or {}).get('topic_beat') or 'general'}-desk"


def _odd(kind: str, records: list[Any], how: str) -> list[Any]:
    """The list with its second record damaged."""
    if how == "none" or len(records) < 2:
        return records
    name = {"wire": "importance_score", "currents": "momentum_score", "signals": "shortcode"}.get(kind)
    if name is None:
        return records
    value = records[1].get(name)
    odd: Any = {"number-text": str(value), "number-words": "high", "wrong-type": [1, 2], "nan": math.nan}[how]
    if kind == "signals":
        odd = 500 if how == "wrong-type" else value
    records[1] = {**records[1], name: odd}
    return records


def quota_headers(headers: Mapping[str, str], how: str) -> list[tuple[str, str]]:
    """The three headers of the embedded service, written `how`."""
    tier, cap, left = (headers.get(name.lower(), "") for name in (TIER_HEADER, CAP_HEADER, REMAINING_HEADER))
    written = {
        "grouped": (tier, f"{int(cap or 0):,}", f"{int(left or 0):,}"),
        "window": (tier, f"{cap};w=month", left),
        "unlimited": (tier, "unlimited", left),
        "fraction": (tier, f"{cap}.0", f"{left}.0"),
        "spaced": (tier, f"{cap} requests", f"{left} requests"),
        "tier-plan": (f"{tier.title()} plan", cap, left),
        "draft": (tier, cap, f"limit={cap}, remaining={left}"),
        "nought": (tier, "0", "0"),
    }.get(how, (tier, cap, left))
    return [] if how == "absent" else list(zip((TIER_HEADER, CAP_HEADER, REMAINING_HEADER), written, strict=True))


SIGNALS = "/v1/signals"
LISTS = {SIGNALS: "signals", **{f"/v1/{name}": name for name in ("indices", "currents", "codex", "almanac", "wire")}}
OWN = {SIGNALS: ("category",), "/v1/indices": (), "/v1/currents": ()}
"""Parameters that go on to the embedded service; of other lists all do."""

WEB_PAGE = "<!DOCTYPE HTML PUBLIC '-//IETF//DTD HTML 2.0//EN'><html><head><title>404 Not Found</title></head></html>"


class VariantMiddleware:
    """ASGI middleware around the embedded service: asks it, and tells its answer as the `variant` does."""

    def __init__(self, app: ASGIApp, store: Store, variant: Mapping[str, str]) -> None:
        self._app = app
        self._store = store
        self._variant = variant
        self._cut_on: dict[str, set[date]] = {}
        self._refusals = Refusals(variant)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or not scope["path"].startswith("/v1/"):
            await self._app(scope, receive, send)
            return
        path, params = scope["path"], dict(parse_qsl(scope["query_string"].decode("ascii")))
        if self._variant["address"] != "exact" and not path.endswith("/"):
            status = int(self._variant["address"].removeprefix("moved-"))
            await _sent(send, Reply(status, b"", {"Location": f"{path}/"}), [], is_packed=False)
            return
        path = path.rstrip("/") or path
        if self._variant["slash"] == "html-404" and b"%2f" in scope.get("raw_path", b"").lower():
            await _sent(send, Reply(404, WEB_PAGE, {}), [], is_packed=False)
            return
        status, headers, body = await self._asked({**scope, "path": path, "raw_path": path.encode()}, receive, params)
        reply = self._reply(path, params, status, body)
        if status != UNAUTHORIZED:
            reply = self._refusals.told(path, f"{path}?{scope['query_string'].decode('ascii')}", reply)
        accepts = "gzip" in Headers(scope=scope).get("accept-encoding", "")
        is_packed = {"asked": accepts and len(body) > 4_096, "always": True}.get(self._variant["packing"], False)
        told = quota_headers(headers, self._variant["headers"])
        if reply.status == 404 and isinstance(reply.body, str):
            told = []
        await _sent(send, reply, told, is_packed=is_packed, charset=self._variant["charset"])

    async def _asked(
        self, scope: Scope, receive: Receive, params: Mapping[str, str]
    ) -> tuple[int, dict[str, str], bytes]:
        """Return what the embedded service answers: status, headers and body."""
        path = scope["path"]
        names = ("start", "end") if path.endswith("/observations") else OWN.get(path)
        kept = {name: value for name, value in params.items() if names is None or name in names or "history" in name}
        if path == SIGNALS:
            kept["limit"] = "500"
        plain = [(name, value) for name, value in scope["headers"] if name.lower() != b"accept-encoding"]
        inner = {**scope, "query_string": urlencode(kept).encode(), "headers": plain}
        start: Message = {}
        parts: list[bytes] = []

        async def heard(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            else:
                parts.append(message.get("body", b""))

        await self._app(inner, receive, heard)
        headers = {name.decode(): value.decode() for name, value in start["headers"]}
        return start["status"], headers, b"".join(parts)

    def _reply(self, path: str, params: Mapping[str, str], status: int, body: bytes) -> Reply:
        if status == 404 and path.startswith(f"{SIGNALS}/"):
            return self._unknown(body)
        if status != 200:
            return Reply(status, body, {"Content-Type": "application/json"})
        if path in LISTS:
            return list_reply(LISTS[path], json.loads(body), self._variant, params)
        slug = unquote(path.removeprefix(f"{SIGNALS}/"))
        if not slug.endswith("/observations"):
            return self._detail(slug, params, json.loads(body)["data"])
        rows = true_rows(self._store, slug.removesuffix("/observations"), self._variant) or []
        if self._is_second_page(path, params):
            return Reply(500, {"error": "internal error"}, {})
        reply = observations_reply(rows, self._variant, path, params)
        if reply.cut_on is not None:
            self._cut_on.setdefault(path, set()).add(reply.cut_on)
        return reply

    def _is_second_page(self, path: str, params: Mapping[str, str]) -> bool:
        """Return whether a request goes on behind a page that was given, and is to fail."""
        if self._variant["page-two"] == "good":
            return False
        if any(name in params for name in ("offset", "cursor", "page")):
            return True
        day, cut = params.get("start", ""), self._cut_on.get(path, set())
        return any(day in (each.isoformat(), (each - timedelta(days=1)).isoformat()) for each in cut)

    def _unknown(self, body: bytes) -> Reply:
        match self._variant["unknown"]:
            case "html-404":
                return Reply(404, WEB_PAGE, {})
            case "empty-404":
                return Reply(404, b"", {})
            case "null-200":
                return Reply(200, {"data": None}, {})
            case "error-200":
                return Reply(200, {"error": "signal not found"}, {})
            case "error-400":
                return Reply(400, {"error": "unknown signal"}, {})
            case _:
                return Reply(404, body, {"Content-Type": "application/json"})

    def _detail(self, slug: str, params: Mapping[str, str], found: dict[str, Any]) -> Reply:
        rows = true_rows(self._store, slug, self._variant) or []
        recent = recent_rows(rows, self._variant, int(params.get("history", "30")))
        settled = {"history": "observations", "detail-nulls": "left-out", "history-lag": "none"}
        newest = recent_rows(rows, {**self._variant, **settled}, 60)[-1:]
        shown = recent if self._variant["history-order"] == "oldest" else recent[::-1]
        detail = {**found, "history": written_rows(shown, self._variant), "latest": None}
        detail["latest"] = record(*newest[0], self._variant) if newest else None
        match self._variant["latest"]:
            case "absent":
                del detail["latest"]
            case "number":
                detail["latest"] = newest[0][1] if newest else None
        if self._variant["history"] == "absent":
            del detail["history"]
        how = self._variant["detail-envelope"]
        return Reply(200, detail if how == "bare" else {how: detail}, {})


async def _sent(
    send: Send, reply: Reply, told: list[tuple[str, str]], *, is_packed: bool, charset: str = "utf-8"
) -> None:
    body, kind = reply.body, "application/json"
    if isinstance(body, bytes):
        content = body
    elif isinstance(body, str):
        content, kind = body.encode(), "text/html"
    else:
        content, kind = written(body, charset)
    headers = {"Content-Type": kind, **reply.headers, **dict(told)}
    if is_packed:
        content = gzip.compress(content, 1)
        headers["Content-Encoding"] = "gzip"
    headers["Content-Length"] = str(len(content))
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": reply.status, "headers": raw})
    await send({"type": "http.response.body", "body": content})
