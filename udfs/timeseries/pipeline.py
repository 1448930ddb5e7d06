"""Chains of transforms as an option: `yoy|ma(3)` is the three-period mean of the change over a year.

Several chains, separated by commas, are one for each signal, or columns of a single one: `none, yoy, pct|ma(3)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from udfs.arguments.kinds import Choice, Kind, shown
from udfs.arguments.other_tools import advice
from udfs.errors import ArgumentError
from udfs.timeseries.spans import Lead, Span
from udfs.timeseries.transforms import MOST, TRANSFORMS, Step, Transform

STEP = re.compile(r"\s*([a-z]+)\s*(?:\(\s*([^()|]*?)\s*\))?\s*", re.IGNORECASE)
SPAN = re.compile(r"(\d{1,9})([DWMQY]?)", re.IGNORECASE)
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
YEAR = re.compile(r"\d{4}")

Steps = tuple[Step, ...]

MOST_BASE = 1e15
"""The largest base of an index, such as a fortune that grows: up to here a cell shows every digit."""

MAX_STEPS = 16
"""The most transforms of one series: each looks at all of its values."""

MAX_CHAINS = 256
"""The most columns of a table, each of which is computed."""


@dataclass(frozen=True, kw_only=True)
class Chain(Kind):
    """Transforms one after the other, separated by `|`."""

    choices: tuple[Choice, ...] = tuple(Choice(each.form, each.help) for each in TRANSFORMS.values())
    open_choices: bool = True

    def read(self, raw: object, name: str, today: date) -> Steps:  # noqa: ARG002 - one signature for every kind
        """The steps; raises `ArgumentError` naming an unknown transform and those there are."""
        return _steps(self._text(raw, name), name)

    def _text(self, raw: object, name: str) -> str:
        text = self._one(raw, name)
        if not isinstance(text, str):
            raise ArgumentError(f"{name} takes text such as yoy|ma(3), not {shown(raw)}")
        return text


@dataclass(frozen=True, kw_only=True)
class Chains(Chain):
    """One chain for all signals, or several separated by commas: one for each."""

    def read(self, raw: object, name: str, today: date) -> tuple[Steps, ...]:  # type: ignore[override]  # noqa: ARG002
        """The steps of each chain."""
        parts = list(_split(self._text(raw, name), ","))
        if len(parts) > MAX_CHAINS:
            raise ArgumentError(f"{name} takes at most {MAX_CHAINS} chains, not {len(parts):,}")
        return tuple(_steps(part, name) for part in parts)


def lead_of(steps: Sequence[Step]) -> Lead:
    """Return what the steps need before the window: an anchored one begins with it, and so does all that follows."""
    lead = Lead()
    for step in steps:
        lead += step.transform.lead(step)
        if step.transform.anchored:
            break
    return lead


def text_of(steps: Sequence[Step]) -> str:
    """A chain as it is written, in one spelling."""
    return "|".join(map(str, steps))


def _steps(text: str, name: str) -> Steps:
    parts = list(_split(text, "|"))
    if len(parts) > MAX_STEPS:
        raise ArgumentError(f"{name} takes at most {MAX_STEPS} steps, not {len(parts):,}")
    return tuple(_step(part, name) for part in parts)


def _split(text: str, separator: str) -> Iterator[str]:
    """The parts of a text between separators that stand outside brackets."""
    depth = start = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == separator and depth <= 0:
            yield text[start:place]
            start = place + 1
    yield text[start:]


def _step(text: str, name: str) -> Step:
    found = STEP.fullmatch(text)
    transform = TRANSFORMS.get(found[1].casefold()) if found else None
    if found is None or transform is None:
        forms = ", ".join(each.form for each in TRANSFORMS.values())
        hint = advice("transform", text)
        raise ArgumentError(f"{name}: there is no transform {shown(text.strip())}{hint or f'; there are {forms}'}")
    inside = [part.strip() for part in found[2].split(",")] if found[2] else []
    match transform.takes:
        case "":
            if inside:
                raise ArgumentError(f"{name}: {transform.name} takes no number, not {shown(found[2])}")
            return Step(transform)
        case "x":
            return _based(transform, inside, name)
        case _:
            return _spanned(transform, inside, name)


def _spanned(transform: Transform, inside: list[str], name: str) -> Step:
    """A step over so many periods: `ma(20)`, `ma(52W)`, `ewm(20, scaled)`, `corr(sp-500, 60)`."""
    given = ", ".join(inside)
    partner = inside.pop(0) if transform.name == "corr" and len(inside) == 2 else None
    scaled = transform.name == "ewm" and len(inside) == 2 and inside.pop().casefold() == "scaled"
    if not inside and transform.default is not None:
        return Step(transform, transform.default)
    span = _span(inside[0]) if len(inside) == 1 else None
    if span is None or not transform.least <= span.count <= MOST or (transform.name == "ewm" and span.unit):
        what = f"a whole number from {transform.least} to {MOST}"
        also = "" if transform.name == "ewm" else ", or a span such as 12M"
        raise ArgumentError(f"{name}: {transform.form} needs {what}{also}, not {shown(given or 'nothing')}")
    if transform.name == "corr" and span.unit:
        raise ArgumentError(f"{name}: corr counts rows: corr(60) or corr(sp-500, 60), not {shown(given)}")
    return Step(transform, span, partner=partner, scaled=scaled)


def _span(text: str) -> Span | None:
    found = SPAN.fullmatch(text)
    return Span(int(found[1]), found[2].upper()) if found else None


def _based(transform: Transform, inside: list[str], name: str) -> Step:
    """An index: `index`, `index(100)`, `index(100, 2020-01-31)`, `index(100, 2015)`."""
    if len(inside) > 2:
        raise ArgumentError(f"{name}: {transform.form} takes a number and a day or year, not {len(inside)} values")
    base = _number(inside[0] if inside else "100")
    if base is None:
        raise ArgumentError(f"{name}: {transform.form} needs a number from 0 to {MOST_BASE:g}, not {shown(inside[0])}")
    if len(inside) < 2:
        return Step(transform, base=base)
    at = _base_day(inside[1])
    if at is None:
        raise ArgumentError(f"{name}: an index is based on a day such as 2020-01-31 or a year, not {shown(inside[1])}")
    return Step(transform, base=base, at=at)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number <= MOST_BASE else None


def _base_day(text: str) -> date | int | None:
    try:
        if DAY.fullmatch(text):
            return date.fromisoformat(text)
        return date(int(text), 1, 1).year if YEAR.fullmatch(text) else None
    except ValueError:
        return None
