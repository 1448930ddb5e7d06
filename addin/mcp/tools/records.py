"""Records as a model gets them: the requested fields, in the service's own shape, and how many records there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from addin.mcp.tool import Found, Schema, record_schema
from dataservice.models import Record
from udfs.arguments.kinds import Count, Names
from udfs.records.fields import Fields

R = TypeVar("R", bound=Record)


def listing_schema(member: str, kind: type[Record]) -> dict[str, Schema]:
    """The schema of what `listed` gives; the service may send fields that the contract does not name."""
    records = f"the {member}; fields that are null are left out"
    total = f"how many {member} were found; `more` says where there may be others"
    return {
        member: {"type": "array", "description": records, "items": record_schema(kind)},
        "total": {"type": "integer", "description": total},
    }


def limit(most: int) -> Count:
    """The argument that says how many records are shown."""
    return Count(help="show at most so many; `total` in the result says how many there are", most=most)


def field_names(fields: Fields[Any], also: Sequence[str] = (), example: str = "") -> Names:
    """The argument that chooses the fields of each record."""
    known = ", ".join(dict.fromkeys([*also, *(choice.value for choice in fields.choices)]))
    text = f'fields of each record, or ["*"] for all. There are: {known}; a.b reaches into an object'
    return Names(help=text, example=example)


def listed(
    member: str, found: Sequence[R], fields: Fields[R], names: Sequence[str], *, most: int, more: str = ""
) -> Found:
    """The first `most` of the records found, with the requested fields; `more` says where others may be."""
    chosen = fields.select(names, found)
    hints = [f"{len(found)} in all: raise limit, or ask more narrowly"] if len(found) > most else []
    members = {member: [shown(record, fields, chosen) for record in found[:most]], "total": len(found)}
    return Found(members, "; ".join([*hints, *([more] if more else [])]) or None)


def shown(record: R, fields: Fields[R], names: Sequence[str]) -> dict[str, Any]:
    """The named fields of a record that are not null."""
    values = {name: fields.raw(record, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}
