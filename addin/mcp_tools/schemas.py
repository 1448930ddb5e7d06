"""JSON Schemas of arguments and records, made from what the library and the models already say of them."""

from __future__ import annotations

from typing import Any

import msgspec

from addin.mcp_tools.tool import Schema, Tool
from dataservice.models import Record
from udfs.arguments import Count, Flag, Kind, Names, Number
from udfs.parameters import Parameter

__all__ = ["input_schema", "output_schema", "record_schema", "records_schema"]

NUMBER_OR_NULL: Schema = {"anyOf": [{"type": "number"}, {"type": "null"}]}

COMMON: dict[str, Schema] = {
    "more": {"type": "string", "description": "how to get what is not shown here; absent where all is shown"},
    "fresh_for_s": {"type": "number", "description": "seconds in which asking again costs nothing and changes nothing"},
    "stale": {
        "type": "object",
        "description": "present when this is the last known value because the service did not answer: its age, and why",
        "properties": {"age_s": {"type": "number"}, "reason": {"type": "string"}},
        "required": ["age_s", "reason"],
    },
    "requests": {"type": "integer", "description": "requests of the month's allowance that this call spent"},
    "quota": {
        "type": "object",
        "description": "the month's allowance as last seen; absent where nothing was asked yet",
        "properties": {
            "tier": {"type": "string"},
            "cap": {"type": "integer", "description": "requests a month"},
            "remaining": {"type": "integer", "description": "requests left this month"},
        },
        "required": ["tier", "cap", "remaining"],
    },
}
"""What the result of every tool may hold besides its own members."""

ALWAYS = ("fresh_for_s", "requests")


def input_schema(tool: Tool) -> Schema:
    """The arguments of a tool as an object."""
    return {
        "type": "object",
        "properties": {parameter.name: _argument(parameter) for parameter in tool.parameters},
        "required": [parameter.name for parameter in tool.parameters if parameter.required],
        "additionalProperties": False,
    }


def output_schema(tool: Tool) -> Schema:
    """The structured result of a tool as an object."""
    required = [name for name in tool.result if name not in tool.optional]
    return {"type": "object", "properties": {**tool.result, **COMMON}, "required": [*required, *ALWAYS]}


def records_schema(kind: type[Record], description: str) -> Schema:
    """A list of records of which some fields are shown; the service may send fields that the contract does not name."""
    return {"type": "array", "description": description, "items": record_schema(kind)}


def record_schema(kind: type[Record]) -> Schema:
    """One record of which some fields are shown."""
    (reference,), components = msgspec.json.schema_components((kind,))
    properties = components[reference["$ref"].rpartition("/")[2]]["properties"]
    shown = {name: _without_default(schema) for name, schema in properties.items() if name != "extra"}
    return {"type": "object", "properties": shown}


def _argument(parameter: Parameter) -> Schema:
    schema = {**_type_of(parameter.kind), "description": parameter.kind.help}
    if parameter.kind.example:
        schema["examples"] = [parameter.kind.example]
    if parameter.default is not None:
        schema["default"] = _names(parameter.default) if isinstance(parameter.kind, Names) else parameter.default
    return schema


def _type_of(kind: Kind) -> Schema:
    choices = [choice.value for choice in kind.choices]
    match kind:
        case Names():
            items: Schema = {"type": "string", **({"examples": choices} if choices else {})}
            return {"type": "array", "items": items}
        case Count():
            return {"type": "integer", "minimum": int(kind.least), "maximum": int(kind.most)}
        case Number():
            return {"type": "number"}
        case Flag():
            return {"type": "boolean"}
        case _:
            return {"type": "string", **({"enum": choices} if choices and not kind.open_choices else {})}


def _names(text: Any) -> list[str]:
    return [part.strip() for part in str(text).split(",")]


def _without_default(schema: Schema) -> Schema:
    return {name: value for name, value in schema.items() if name != "default"}
