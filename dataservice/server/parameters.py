"""The query parameters of the contract with their defaults and bounds."""

from datetime import date, datetime
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BeforeValidator, WithJsonSchema

from dataservice.server.instants import parse_date, parse_instant
from dataservice.server.records import StoryType, WireKind

SIGNALS_LIMIT, SIGNALS_LIMIT_MAX = 100, 500
HISTORY, HISTORY_MAX = 30, 365
OBSERVATIONS_PAGE = 1_000
POSTS_LIMIT, POSTS_LIMIT_MAX = 50, 200
WIRE_LIMIT, WIRE_LIMIT_MAX = 50, 200
OFFSET_MAX = 2**31 - 1  # no list is longer, and every database can count to it


def _parsed(parse: Any) -> BeforeValidator:
    return BeforeValidator(lambda value: parse(value) if isinstance(value, str) else value)


def _parse_since(text: str) -> datetime:
    try:
        return parse_instant(text)
    except ValueError as error:
        # The + of an offset arrives as a space from those who did not encode it.
        raise ValueError(f"{error}, with + written as %2B" if " " in text else str(error)) from None


SlugParameter = Annotated[str, Path(description="the signal's slug; dots are allowed", examples=["us-cpi"])]
Offset = Annotated[int, Query(ge=0, le=OFFSET_MAX, description="how many records to leave out at the beginning")]
Day = Annotated[date, _parsed(parse_date)]
Instant = Annotated[datetime, _parsed(_parse_since)]
Since = Annotated[
    Instant | None, Query(description="only what was published from then on; a date means its midnight in UTC")
]
SinceDay = Annotated[
    Annotated[Instant, WithJsonSchema({"anyOf": [{"type": "string", "format": f} for f in ("date", "date-time")]})]
    | None,
    Query(description="only what was published from that day or time on, in UTC"),
]
StoryTypeFilter = Annotated[StoryType | None, Query(description="only posts of this type")]
KindFilter = Annotated[WireKind | None, Query(description="only items of this kind")]
