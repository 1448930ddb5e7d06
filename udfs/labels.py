"""What a resource is called where people read it: in STATUS, in EXPLAIN, in messages."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from dataservice.client import Resource

__all__ = ["label"]


def label(resource: Resource[Any]) -> str:
    """The resource in words: what it is, and the filters that make it special: `wire (kind=news, since=2026-08-01)`."""
    what = type(resource).__name__.removesuffix("Resource").lower()
    given = {field.name: getattr(resource, field.name) for field in fields(resource) if _is_special(resource, field)}
    slug = given.pop("slug", None)
    named = f"{what} {slug}" if slug else what
    filters = ", ".join(f"{name}={value}" for name, value in given.items())
    return f"{named} ({filters})" if filters else named


def _is_special(resource: Resource[Any], field: Any) -> bool:
    return field.default is MISSING or getattr(resource, field.name) != field.default
