"""Records as a model gets them: the fields that were asked for, in the service's own shape, and how many there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from addin.mcp.tool import Found, Schema, records_schema
from dataservice.models import Record
from udfs.arguments.kinds import Count, Names
from udfs.records.fields import Fields

R = TypeVar("R", bound=Record)


def listing_schema(member: str, kind: type[Record], of: str) -> dict[str, Schema]:
    """The schema of what `listed` gives."""
    return {
        member: records_schema(kind, f"the {of}; fields that are null are left out"),
        "total": {"type": "integer", "description": f"how many {of} were found; `more` says where there may be others"},
    }


def limit(most: int) -> Count:
    """The argument that says how many records are shown."""
    return Count(help="show at most so many; `total` in the result says how many there are", most=most)


def field_names(fields: Fields[Any], also: Sequence[str] = ()) -> Names:
    """The argument that chooses the fields of each record."""
    choices = [choice.value for choice in fields.choices]
    known = ", ".join(dict.fromkeys([*also, *choices]))
    return Names(help=f'fields of each record, or ["*"] for all. There are: {known}; a.b reaches into an object')


def listed(
    member: str, found: Sequence[R], fields: Fields[R], names: Sequence[str], *, most: int, more: str = ""
) -> Found:
    """The first `most` of the records found, with the fields asked for; `more` says where others may be."""
    chosen = fields.select(names, found)
    hints = [f"{len(found)} in all: raise limit, or ask more narrowly"] if len(found) > most else []
    members = {member: [shown(record, fields, chosen) for record in found[:most]], "total": len(found)}
    return Found(members, "; ".join([*hints, *([more] if more else [])]) or None)


def shown(record: R, fields: Fields[R], names: Sequence[str]) -> dict[str, Any]:
    """The named fields of a record that are not null."""
    values = {name: _value(record, fields, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _value(record: R, fields: Fields[R], name: str) -> Any:
    derive = fields.derived.get(name)
    if derive is not None:
        return derive(record)
    try:
        value = record.extra[name] if name in record.extra else record.field(name)
    except (KeyError, AttributeError):
        return None
    return msgspec.to_builtins(value) if not isinstance(value, Mapping) else value
