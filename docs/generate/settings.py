"""The table of settings, from the `Settings` record and the sentence below each field."""

from __future__ import annotations

import ast
import inspect
import types
import typing
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from addin.config.settings import PREFIX, Settings
from docs.generate.markdown import code, table

__all__ = ["settings_part"]

WORDS = {
    "float": "number",
    "int": "whole number",
    "bool": "true or false",
    "str": "text",
    "tuple": "list",
    "Path": "path",
}

MEBIBYTE = 1024**2


def settings_part() -> str:
    """One row for each setting: its name in the config file, its environment variable, type, default and use."""
    sentences = field_sentences(Settings)
    rows = [
        [
            f"{code(field.name)}<br>{code(f'{PREFIX}{field.name.upper()}')}",
            _type_in_words(field.type),
            _shown(field.default),
            sentences[field.name],
        ]
        for field in msgspec.structs.fields(Settings)
    ]
    return table(("in the file, in the environment", "type", "default", "what it does"), rows)


def field_sentences(record: type) -> dict[str, str]:
    """The sentence below each field of a record."""
    (definition,) = ast.parse(inspect.getsource(record)).body
    fields = definition.body if isinstance(definition, ast.ClassDef) else []
    return {
        field.target.id: " ".join(below.value.value.split())
        for field, below in pairwise(fields)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }


def _type_in_words(kind: Any) -> str:
    if typing.get_origin(kind) is typing.Annotated:
        kind = typing.get_args(kind)[0]
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return next(_type_in_words(each) for each in typing.get_args(kind) if each is not type(None))
    return WORDS[(typing.get_origin(kind) or kind).__name__]


def _shown(default: Any) -> str:
    match default:
        case None | "" | ():
            return "none"
        case bool():
            return code(str(default).lower())
        case tuple():
            return "<br>".join(code(each) for each in default)
        case int() if default >= MEBIBYTE:
            return f"{code(str(default))} ({default // MEBIBYTE} MiB)"
        case Path() | str() | float() | int():
            return code(f"{default:g}" if isinstance(default, float) else str(default))
        case _:
            return code(repr(default))
