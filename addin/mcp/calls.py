"""The kind of argument that lists calls of tools, to be told what they would cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from udfs.arguments import Kind, shown
from udfs.errors import ArgumentError

MOST_CALLS = 50
"""More than an agent plans at once; each is worked out on several guesses."""

FORM = '[{"tool": "get_signal", "arguments": {"slug": "us-cpi"}}]'


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A tool by its name, and the arguments for it."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Calls(Kind):
    """Several calls of tools."""

    def read(self, raw: Any, name: str, today: date) -> tuple[PlannedCall, ...]:  # noqa: ARG002 - one signature
        """The calls; raises `ArgumentError` that shows the form for anything else."""
        given = [raw] if isinstance(raw, Mapping) else raw
        if not isinstance(given, list | tuple):
            raise ArgumentError(f"{name} takes a list of calls such as {FORM}, not {shown(raw)}")
        if len(given) > MOST_CALLS:
            raise ArgumentError(f"{name} takes at most {MOST_CALLS} calls, not {len(given):,}")
        return tuple(_planned(each, name) for each in given)


def _planned(raw: Any, name: str) -> PlannedCall:
    tool, arguments = (raw.get("tool"), raw.get("arguments", {})) if isinstance(raw, Mapping) else (None, None)
    if (
        not isinstance(tool, str)
        or not isinstance(arguments, Mapping)
        or not all(isinstance(key, str) for key in arguments)
    ):
        raise ArgumentError(f"{name} takes calls such as {FORM[1:-1]}, not {shown(raw)}")
    return PlannedCall(tool, arguments)
