"""The backend's protocol as its hosts read it: types for the pages, a reader for Calc, tables for the documentation."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec

from addin.protocol import messages
from docs.generate.imports import PROJECT
from docs.generate.markdown import table

__all__ = ["messages_part", "protocol_files"]

PAGES = PROJECT / "addin" / "excel" / "static" / "protocol.d.ts"
CALC = PROJECT / "addin" / "calc" / "component" / "protocol.py"

ALIASES = {"Item": messages.Item, "Argument": messages.Argument, "Scalar": messages.Scalar}
"""Unions that have a name, wider ones first."""

NAMED = {name: getattr(messages, name) for name in ("Code", "TimeKind", "RefreshMode", "HelpShape", "HostType")}
"""Choices that have a name."""

_OF_BATCHES = (messages.Progress, messages.Question, messages.Quota, messages.Reply)
READ_BY_CALC = (*_OF_BATCHES, messages.Refreshed, messages.Advice)
"""What Calc's component reads, what stands in others first. Answers stay as they came: there may be many."""

PLAIN = {bool: "boolean", int: "number", float: "number", str: "string", type(None): "null"}

PAGES_HEAD = """/** The backend's protocol, version 1. Generated from addin/protocol/messages.py (`make reference`). */

/** What one cell of an argument can hold. */
type Scalar = null | boolean | number | string;

/** An argument of a call: a value, or a range as rows. */
type Argument = Scalar | Scalar[][];

/** A call: the function's id, then its arguments. */
type Call = [string, ...Argument[]];

/** One place of a column whose kinds mix. */
type Item = Scalar | TimeCell | ErrorCell;

/** The two codes that can carry a text in Excel; what a number stands for that is a time; and other choices. */"""

CALC_HEAD = '''"""The backend's messages as this component reads them. Generated: `make reference` writes them again."""

from typing import Any, Dict, List, NamedTuple, Optional, Type, TypeVar

M = TypeVar("M")
'''

CALC_TAIL = '''

_WITHIN: Dict[Any, Dict[str, Any]] = {{
{within}
}}
"""The messages that stand in others."""


def read(kind: Type[M], members: Dict[str, Any]) -> M:
    """Return the message; raises `ValueError` for what is none. Members of a later version are passed over."""
    try:
        found = {{name: members[name] for name in kind.__annotations__ if name in members}}
        for name, inner in _WITHIN.get(kind, {{}}).items():
            if found.get(name) is not None:
                found[name] = read(inner, found[name])
        return kind(**found)
    except (TypeError, KeyError) as error:
        raise ValueError(f"not a {{kind.__name__}} of the backend's protocol: {{error}}") from None
'''


class Member(NamedTuple):
    """A member of a message."""

    name: str
    hint: Any
    help: str
    is_optional: bool


def protocol_files() -> dict[Path, str]:
    """Return the text of each generated file by its path."""
    return {PAGES: _for_pages(), CALC: _for_calc()}


def messages_part() -> str:
    """Return a table for each message."""
    return "\n\n".join(map(_described, _messages()))


def _messages() -> Iterator[type[msgspec.Struct]]:
    """Yield every message, as they stand in their file."""
    for each in vars(messages).values():
        if inspect.isclass(each) and issubclass(each, msgspec.Struct) and each is not msgspec.Struct:
            yield each


def _members(message: type[msgspec.Struct]) -> list[Member]:
    """Return the members that a message adds to those of its base."""
    inherited = getattr(message.__base__, "__struct_fields__", ())
    hints = get_type_hints(message, include_extras=True)
    required = {each.name for each in msgspec.structs.fields(message) if each.required}
    found = []
    for name in message.__struct_fields__:
        if name in inherited:
            continue
        hint, help_ = _parted(hints[name])
        found.append(Member(name, hint, help_, messages.UnsetType in get_args(hint) or name not in required))
    return found


def _parted(hint: Any) -> tuple[Any, str]:
    if get_origin(hint) is not Annotated:
        return hint, ""
    inner, meta = get_args(hint)
    return inner, meta.description


# --- types of the pages --------------------------------------------------------------------------------------------


def _for_pages() -> str:
    choices = [f"type {name} = {_typescript(hint, named=False)};" for name, hint in NAMED.items()]
    return "\n".join([PAGES_HEAD, *choices, "", *map(_interface, _messages())])


def _interface(message: type[msgspec.Struct]) -> str:
    base = message.__base__
    extends = f" extends {base.__name__}" if base is not msgspec.Struct else ""
    lines = [f"/** {_summary(message)} */", f"interface {message.__name__}{extends} {{"]
    for member in _members(message):
        if member.help:
            lines.append(f"  /** {member.help[0].upper()}{member.help[1:]}. */")
        lines.append(f"  {member.name}{'?' if member.is_optional else ''}: {_typescript(member.hint)};")
    return "\n".join([*lines, "}", ""])


def _typescript(hint: Any, *, named: bool = True) -> str:
    """Return a type as TypeScript spells it."""
    if named and (name := next((name for name, each in NAMED.items() if each == hint), None)):
        return name
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _union(hint)
    if origin is Literal:
        return " | ".join("true" if each is True else f'"{each}"' for each in get_args(hint))
    if hint == list[list[messages.Argument]]:
        return "Call[]"
    if origin is list:
        inner = _typescript(*get_args(hint))
        return f"({inner})[]" if " " in inner else f"{inner}[]"
    if origin is dict:
        return f"Record<{', '.join(map(_typescript, get_args(hint)))}>"
    return PLAIN.get(hint) or str(hint.__name__)


def _union(hint: Any) -> str:
    parts = [each for each in get_args(hint) if each is not messages.UnsetType]
    found: list[str] = []
    for name, alias in ALIASES.items():
        if set(get_args(alias)) <= set(parts):
            found.append(name)
            parts = [each for each in parts if each not in get_args(alias)]
    return " | ".join(dict.fromkeys([*found, *map(_typescript, parts)]))


# --- the reader of Calc's component --------------------------------------------------------------------------------


def _for_calc() -> str:
    within: dict[str, dict[str, str]] = {}
    classes = []
    for message in READ_BY_CALC:
        lines = ["", "", f"class {message.__name__}(NamedTuple):", f'    """{_summary(message)}"""', ""]
        for member in sorted(_members(message), key=lambda each: each.is_optional):
            kind, inner = _python(member)
            lines.append(f"    {member.name}: {kind}{' = None' if member.is_optional else ''}")
            lines += [f'    """{member.help[0].upper()}{member.help[1:]}."""'] if member.help else []
            if inner:
                within.setdefault(message.__name__, {})[member.name] = inner
        classes.append("\n".join(lines))
    nested = "\n".join(f"    {name}: {_mapping(inners)}," for name, inners in within.items())
    return CALC_HEAD + "\n".join(classes) + "\n" + CALC_TAIL.format(within=nested)


def _mapping(inners: dict[str, str]) -> str:
    return "{" + ", ".join(f'"{name}": {inner}' for name, inner in inners.items()) + "}"


def _python(member: Member) -> tuple[str, str]:
    """Return a member's type as Python 3.8 spells it, and the message that it is."""
    parts = [each for each in get_args(member.hint) or [member.hint] if each not in (messages.UnsetType, type(None))]
    is_optional = member.is_optional or type(None) in get_args(member.hint)
    if get_origin(member.hint) is list:
        return "List[Dict[str, Any]]", ""
    (only,) = parts
    inner = only.__name__ if inspect.isclass(only) and issubclass(only, msgspec.Struct) else ""
    name = only.__name__
    return (f"Optional[{name}]" if is_optional else name), inner


# --- tables of the documentation -----------------------------------------------------------------------------------


def _described(message: type[msgspec.Struct]) -> str:
    base = message.__base__
    more = "" if base is msgspec.Struct else f" It has the members of `{base.__name__}`, and:"
    rows = [
        [f"`{member.name}`" + (" (may be absent)" if member.is_optional else ""), _shown(member), member.help]
        for member in _members(message)
    ]
    return f"### {message.__name__}\n\n{_summary(message)}{more}\n\n{table(['member', 'type', 'meaning'], rows)}"


def _shown(member: Member) -> str:
    return f"`{_typescript(member.hint)}`".replace("|", "\\|")


def _summary(message: type[msgspec.Struct]) -> str:
    return (message.__doc__ or "").splitlines()[0]
