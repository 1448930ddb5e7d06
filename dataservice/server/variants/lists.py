"""Lists in a variant of the service: the catalogue, indices, currents, posts and the wire."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dataservice.server.variants.pages import Reply

COLLECTION_PAGE = 2


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
            records = records[: int(variant["wire-page"])]
        case "almanac":
            records = _almanac(records, variant["almanac"], params)
    odd = _odd(kind, list(records), variant["odd-record"])
    how = "posts" if kind == "almanac" and variant["almanac"] == "unlike" else variant["list-envelope"]
    return Reply(200, odd if how == "bare" else {how: odd, **beside}, {})


def _catalogue(
    records: Sequence[Any], variant: Mapping[str, str], params: Mapping[str, str]
) -> tuple[Sequence[Any], dict[str, Any]]:
    limit = min(int(params.get("limit", "100")), int(variant["catalogue-page"]))
    offset, total = int(params.get("offset", "0")), len(records)
    page = records[offset : offset + limit]
    if variant["catalogue-total"] == "untold":
        return page, {}
    total = len(page) if variant["catalogue-total"] == "of-page" else total
    return page, {"pagination": {"limit": limit, "offset": offset, "total": total}}


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
