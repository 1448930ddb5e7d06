"""The records of the service (contract: "Resources and their fields"), frozen, with unknown fields kept in `extra`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Self

import msgspec
import msgspec.structs

READING_FIELDS = ("latest", "value", "reading", "current", "level", "index_value", "current_value", "last")
"""Where an index may keep its reading: the contract does not name the field. None is more likely than others."""

READING_TIMES = ("observed_at", "as_of", "date", "updated_at")


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One record of the service; fields that this version does not know stay readable in `extra`."""

    extra: dict[str, Any] = {}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """The record in `raw`, a null counting as left out; raises `msgspec.ValidationError` for another type."""
        names = _known_names(cls)
        known = {name: value for name, value in raw.items() if value is not None and name in names}
        known["extra"] = {name: value for name, value in raw.items() if name not in names}
        return msgspec.convert(known, cls)

    @classmethod
    def field_names(cls) -> tuple[str, ...]:
        """The fields the contract names, in its order."""
        return tuple(name for name in cls.__struct_fields__ if name != "extra")

    @classmethod
    def number_names(cls) -> tuple[str, ...]:
        """Those of them that are numbers."""
        return tuple(each.name for each in msgspec.structs.fields(cls) if each.type == float | None)

    def field(self, name: str) -> Any:
        """The field `name`, known or not; `a.b` reaches into an object; raises `KeyError` where there is none.

        One that the service told as no value of its kind is as it was told.
        """
        head, _, rest = name.partition(".")
        value = getattr(self, head) if head in self.field_names() and head not in self.extra else self.extra[head]
        for part in rest.split(".") if rest else ():
            value = value[part] if isinstance(value, Mapping) else getattr(value, part)
        return value

    def to_dict(self) -> dict[str, Any]:
        """All fields, unknown ones included, as the service would send them."""
        known: dict[str, Any] = msgspec.to_builtins(self)
        extra: dict[str, Any] = known.pop("extra")
        return {**known, **extra}


@cache
def _known_names(record: type[Record]) -> frozenset[str]:
    return frozenset(record.field_names())


class Observation(Record, frozen=True, kw_only=True):
    """One dated value; `observed_at` is the service's own text (RFC 3339)."""

    observed_at: str
    value: float | None = None


class Signal(Record, frozen=True, kw_only=True):
    """A series: an entry of the catalogue."""

    slug: str
    shortcode: str | None = None
    name: str = ""
    category: str = ""
    signal_type: str = ""
    source: str = ""
    description: str | None = None
    unit: str | None = None
    is_premium: bool = False


class Index(Record, frozen=True, kw_only=True):
    """A composite index with its components; the reading is in a field the contract leaves open (`reading`)."""

    slug: str
    name: str = ""
    summary: str | None = None
    category: str | None = None
    components: list[dict[str, Any]] = []
    baseline_window_months: int | None = None
    scale: str | None = None

    def reading(self) -> tuple[float | None, str | None]:
        """The current reading and its `observed_at`; None where the index has none, or several fields may be it."""
        found = list(self.readings().values())
        return found[0] if len({value for value, _ in found}) == 1 else (None, None)

    def read_from(self, name: str) -> Index:
        """The same, its reading in the field `name`, where it has none in one of the usual."""
        if name not in self.extra or self.readings():
            return self
        at = next((self.extra[time] for time in READING_TIMES if time in self.extra), None)
        return msgspec.structs.replace(
            self, extra={**self.extra, "reading": {"value": self.extra[name], "observed_at": at}}
        )

    def readings(self) -> dict[str, tuple[float, str | None]]:
        """Return what may be the current reading and its `observed_at`, by the name of the field."""
        found: dict[str, tuple[float, str | None]] = {}
        for name in READING_FIELDS:
            told = self.extra.get(name)
            beside: Mapping[str, Any] = told if isinstance(told, Mapping) else self.extra
            value = _number(told.get("value") if isinstance(told, Mapping) else told)
            if value is not None:
                at = beside.get("observed_at")
                found[name] = value, at if isinstance(at, str) else None
        return found


def _number(told: Any) -> float | None:
    """A number, also as plain text or with thousands set apart; without decimals a comma may be the decimal point."""
    if isinstance(told, str) and re.fullmatch(r"[+-]?(\d+(\.\d+)?|\d{1,3}(,\d{3})+\.\d+)", told.strip(), re.ASCII):
        return float(told.replace(",", ""))
    return float(told) if isinstance(told, int | float) and not isinstance(told, bool) else None


class Current(Record, frozen=True, kw_only=True):
    """A named macro motion with its scores."""

    slug: str
    name: str = ""
    family: str | None = None
    phrase: str | None = None
    momentum_score: float | None = None
    belief_score: float | None = None
    maturity_stage: str | None = None


class Post(Record, frozen=True, kw_only=True):
    """A published research post with its Markdown body and its citations."""

    slug: str
    url: str = ""
    title: str = ""
    subtitle: str | None = None
    body_md: str = ""
    published_at: str = ""
    story_type: str = ""
    view_count: int | None = None
    byline: dict[str, Any] = {}
    citations: list[dict[str, Any]] = []


class WireItem(Record, frozen=True, kw_only=True):
    """A normalized primary-source item; `importance_score` runs from 0 to 100."""

    id: str
    source: str = ""
    kind: str = ""
    headline: str = ""
    summary: str | None = None
    primary_url: str | None = None
    image_url: str | None = None
    published_at: str = ""
    tickers: list[str] = []
    signal_slugs: list[str] = []
    current_slugs: list[str] = []
    beat: str | None = None
    importance_score: float | None = None
    payload: dict[str, Any] | None = None
