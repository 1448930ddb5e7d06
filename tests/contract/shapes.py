"""The field tables of the contract, written a second time so that the service cannot agree with itself only."""

import math
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

Check = Callable[[Any], bool]
Shape = dict[str, Check]

HEADERS = ("X-Service-Tier", "X-Service-RateLimit-Cap", "X-Service-RateLimit-Remaining")
STORY_TYPES = {"alert", "brief", "report", "explainer"}
WIRE_KINDS = {
    "news",
    "filing",
    "press_release",
    "data_release",
    "fund_flow",
    "analyst_rating",
    "social_post",
    "breaking",
}


def text(value: Any) -> bool:
    return isinstance(value, str)


def integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def boolean(value: Any) -> bool:
    return isinstance(value, bool)


def mapping(value: Any) -> bool:
    return isinstance(value, dict)


def date_time(value: Any) -> bool:
    if not text(value) or not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", value):
        return False
    return datetime.fromisoformat(value).tzinfo is not None


def uri(value: Any) -> bool:
    return text(value) and bool(urlsplit(value).scheme)


def uuid(value: Any) -> bool:
    return text(value) and str(UUID(value)) == value.lower()


def nullable(check: Check) -> Check:
    return lambda value: value is None or check(value)


def array(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(check(item) for item in value)


def one_of(allowed: set[str]) -> Check:
    return lambda value: value in allowed


def record(shape: Shape) -> Check:
    return lambda value: mapping(value) and misfits(value, shape) == []


def misfits(value: dict[str, Any], shape: Shape) -> list[str]:
    """The fields that are missing or have another type than the contract says; more fields than it names are fine."""
    return [name for name, check in shape.items() if name not in value or not check(value[name])]


OBSERVATION: Shape = {"observed_at": date_time, "value": number}
SIGNAL: Shape = {
    "slug": text,
    "shortcode": nullable(text),
    "name": text,
    "category": text,
    "signal_type": text,
    "source": text,
    "description": nullable(text),
    "unit": nullable(text),
    "is_premium": boolean,
}
SIGNAL_DETAIL: Shape = {**SIGNAL, "latest": record(OBSERVATION), "history": array(record(OBSERVATION))}
INDEX: Shape = {
    "slug": text,
    "name": text,
    "summary": nullable(text),
    "category": nullable(text),
    "components": array(mapping),
    "baseline_window_months": nullable(integer),
    "scale": nullable(text),
}
CURRENT: Shape = {
    "slug": text,
    "name": text,
    "family": nullable(text),
    "phrase": nullable(text),
    "momentum_score": nullable(number),
    "belief_score": nullable(number),
    "maturity_stage": nullable(text),
}
BYLINE: Shape = {
    "handle": text,
    "display_name": text,
    "agent_role": nullable(text),
    "topic_beat": nullable(text),
    "avatar_url": nullable(text),
}
CITATION: Shape = {"wire_item_id": uuid, "citation_number": integer, "quoted_text": nullable(text)}
POST: Shape = {
    "slug": text,
    "url": uri,
    "title": text,
    "subtitle": nullable(text),
    "body_md": text,
    "published_at": date_time,
    "story_type": one_of(STORY_TYPES),
    "view_count": integer,
    "byline": record(BYLINE),
    "citations": array(record(CITATION)),
}
WIRE_ITEM: Shape = {
    "id": uuid,
    "source": text,
    "kind": one_of(WIRE_KINDS),
    "headline": text,
    "summary": nullable(text),
    "primary_url": nullable(uri),
    "image_url": nullable(uri),
    "published_at": date_time,
    "tickers": array(text),
    "signal_slugs": array(text),
    "current_slugs": array(text),
    "beat": nullable(text),
    "importance_score": lambda value: number(value) and 0 <= value <= 100,
    "payload": nullable(mapping),
}
PAGINATION: Shape = {"limit": integer, "offset": integer, "total": integer}
ERROR: Shape = {"error": text}
