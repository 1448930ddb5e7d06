"""Records as a model gets them: the requested fields, in the service's own shape, and how many records there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from addin.mcp.schemas import Schema, list_of
from addin.mcp.tool import Found
from dataservice.models import Record
from udfs.arguments import Count, Names
from udfs.errors import ArgumentError
from udfs.records import Fields

R = TypeVar("R", bound=Record)


MAX_FIELDS = 200
"""More than any record has."""

OFFSET = Count(help="leave out so many at the beginning", least=0, most=1_000_000)


def listing_schema(member: str, record: Schema) -> dict[str, Schema]:
    """The schema of what `listed` gives; the service may send fields that the contract does not name."""
    return {member: list_of(record), "total": {"type": "integer", "description": "how many were found"}}


def limit(most: int) -> Count:
    """The argument that says how many records are shown."""
    return Count(help="show at most so many", most=most)


def field_names(fields: Fields[Any], also: Sequence[str] = (), example: str = "") -> Names:
    """The argument that chooses the fields of each record."""
    known = ", ".join(dict.fromkeys([*also, *(choice.value for choice in fields.choices)]))
    text = f"fields of each record: {known}"
    return Names(help=text, example=example)


def listed(
    member: str, found: Sequence[R], fields: Fields[R], names: Sequence[str], *, most: int, offset: int, more: str = ""
) -> Found:
    """So many of the records found, with the requested fields; `more` says where others may be."""
    chosen = chosen_fields(fields, names, found)
    end = offset + most
    members = {member: [shown(record, fields, chosen) for record in found[offset:end]], "total": len(found)}
    told = [hint for hint in (_hint(member, len(found), offset, end), more) if hint]
    if not found and not told:
        told = [f"there are no {member} for all of these arguments: leave some out"]
    following = {"offset": end} if len(found) > end else None
    return Found(members, "; ".join(told) or None, following, member, lambda count: {"offset": offset + count})


def _hint(member: str, count: int, offset: int, end: int) -> str:
    """What to do where others were found than those from `offset` to `end`."""
    if count > end:
        return f"{count} in all: go on with the arguments in next, raise limit, or ask more narrowly"
    return f"offset {offset:,} lies behind the last of {count} {member}" if 0 < count <= offset else ""


def nothing(member: str, why: str, suggestions: Sequence[str] = (), lacks: str = "") -> Found:
    """An empty list that says why, with names that may be meant; `lacks` tells why there may be others."""
    return Found({member: [], "total": 0}, "; ".join(filter(None, (why, lacks))), suggestions=suggestions)


def chosen_fields(fields: Fields[R], names: Sequence[str], found: Sequence[R]) -> list[str]:
    """The fields that are meant, each once; raises `ArgumentError` for more than any record has."""
    if len(names) > MAX_FIELDS:
        raise ArgumentError(f"fields has {len(names):,} names; at most {MAX_FIELDS} are allowed")
    return list(dict.fromkeys(fields.select(list(dict.fromkeys(names)), found)))


def shown(record: R, fields: Fields[R], names: Sequence[str]) -> dict[str, Any]:
    """The named fields of a record that are not null."""
    values = {name: fields.raw(record, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}
