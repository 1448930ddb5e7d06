"""A chain of transforms as an option: `yoy|ma(3)` is the three-row mean of the change over a year."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from dataservice.observations import Observations
from udfs.arguments.kinds import Choice, Kind, shown
from udfs.errors import ArgumentError
from udfs.timeseries.coverage import Lead
from udfs.timeseries.transforms import TRANSFORMS, Transform

STEP = re.compile(r"\s*([a-z]+)\s*(?:\(\s*([^()|]*?)\s*\))?\s*", re.IGNORECASE)

MOST = 100_000
"""The largest n: more rows than any series of a spreadsheet has."""


@dataclass(frozen=True, slots=True)
class Step:
    """One transform of a chain with its argument (0 where it takes none)."""

    transform: Transform
    argument: float = 0.0


MAX_LOOKED_AT = 2**25
"""Values that all windows of a chain may hold together: a fifth of a second. Forty years of days, by three years."""

MAX_STEPS = 16
"""The most transforms of one series: each looks at all of its values."""


@dataclass(frozen=True, kw_only=True)
class Chain(Kind):
    """Transforms one after the other, separated by `|`."""

    choices: tuple[Choice, ...] = tuple(Choice(each.form, each.help) for each in TRANSFORMS.values())
    open_choices: bool = True

    def read(self, raw: Any, name: str, today: date) -> tuple[Step, ...]:  # noqa: ARG002 - one signature for every kind
        """The steps; raises `ArgumentError` naming an unknown transform and those there are."""
        text = self._one(raw, name)
        if not isinstance(text, str):
            raise ArgumentError(f"{name} takes text such as yoy|ma(3), not {shown(raw)}")
        parts = text.split("|")
        if len(parts) > MAX_STEPS:
            raise ArgumentError(f"{name} takes at most {MAX_STEPS} steps, not {len(parts):,}")
        return tuple(_step(part, name) for part in parts)


def lead_of(steps: Sequence[Step]) -> Lead:
    """What the steps need before the window: an anchored one begins with it, and so does all that follows."""
    lead = Lead()
    for step in steps:
        if step.transform.anchored:
            break
        lead += step.transform.lead(int(step.argument))
    return lead


def transformed(rows: Observations, steps: Sequence[Step], first: date | None) -> Observations:
    """`rows` after all `steps`, from `first` on (None: from the first row on); what overflows is blank."""
    import pandas as pd

    if not steps or not len(rows):
        return rows.between(first)
    looked_at = len(rows) * sum(step.argument for step in steps if step.transform.windowed)
    if looked_at > MAX_LOOKED_AT:
        raise ArgumentError(f"windows so wide over {len(rows):,} observations take too long; use freq=W or freq=M")
    column = pd.Series(rows.values, index=pd.DatetimeIndex(rows.times))
    since = None if first is None else pd.Timestamp(first)
    with np.errstate(all="ignore"):  # what overflows becomes a blank below
        for step in steps:
            if step.transform.anchored and since is not None:
                column = column.loc[since:]
                since = None
            column = step.transform.apply(column, step.argument)
            column = column.where(column.abs() < np.inf)
    times, values = column.index.to_numpy("datetime64[us]"), column.to_numpy().astype(np.float64)
    return Observations(times, values).between(first)


def _step(text: str, name: str) -> Step:
    found = STEP.fullmatch(text)
    transform = TRANSFORMS.get(found[1].casefold()) if found else None
    if found is None or transform is None:
        forms = ", ".join(each.form for each in TRANSFORMS.values())
        raise ArgumentError(f"{name}: there is no transform {shown(text.strip())}; there are {forms}")
    return Step(transform, _argument(transform, found[2], name))


def _argument(transform: Transform, text: str | None, name: str) -> float:
    if transform.least is None:
        if text:
            raise ArgumentError(f"{name}: {transform.name} takes no number, not {shown(text)}")
        return 0.0
    if not text and transform.default is not None:
        return transform.default
    try:
        number = float(text or "")
    except ValueError:
        number = float("nan")
    if not (transform.least <= number <= MOST) or (transform.whole and not number.is_integer()):
        kind = f"a whole number from {transform.least:g} to {MOST}" if transform.whole else "a number"
        raise ArgumentError(f"{name}: {transform.form} needs {kind}, not {shown(text or 'nothing')}")
    return number
