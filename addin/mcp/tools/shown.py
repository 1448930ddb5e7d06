"""Histories as an agent reads them: rows on one time axis, what each column is, and how to get the rows before."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addin.mcp.schemas import NUMBER, TEXT, Schema, list_of, object_of, texts
from addin.mcp.texts import in_words_of_tools
from addin.mcp.tools.described import ABOUT_SCHEMA, about_signals, frequency_of
from addin.mcp.tools.rows import has_times, label, labels, meaningful
from dataservice.client import SignalResource
from udfs.engine import EVER, have
from udfs.errors import CellError
from udfs.functions.signal_history import History
from udfs.timeseries import SURE, Agg, Columns, Labelled, Pace, Series, Times, Unit, dated, period_start

SERIES: Schema = list_of(
    object_of(
        {
            **ABOUT_SCHEMA,
            "heading": {"type": "string", "description": "of its column, where that is not the slug"},
            "first_date": TEXT,
            "last_date": TEXT,
            "partial": texts("rows that stand for a part of their period"),
            "base": object_of({"date": TEXT, "value": NUMBER}, "of a transform to an index"),
            "error": TEXT,
        }
    ),
    "what each column is; error where it failed",
)

COMPUTED = frozenset({Agg.MEAN, Agg.SUM})
"""How values of a period are combined into one that nobody observed."""

TICK = timedelta(microseconds=1)


@dataclass(frozen=True)
class Shown:
    """The rows of a history, newest last."""

    history: History

    @cached_property
    def computed(self) -> Columns:
        """The columns that did not fail, on their common rows."""
        found = [each.found for each in self.history.columns if isinstance(each.found, Series)]
        return Columns(found, self.history.options, self.history.ending, self.history.first)

    @cached_property
    def times(self) -> Times:
        """Return how the rows are dated."""
        return dated(self.computed.times, self.history.ending.latest, self.history.options.freq)

    @cached_property
    def timed(self) -> bool:
        """Return whether rows are shown with their time of day."""
        return has_times(self.times)

    @cached_property
    def values(self) -> list[NDArray[np.float64] | None]:
        """The values of each column; None where it failed."""
        found = iter(self.computed.values)
        return [next(found) if isinstance(each.found, Series) else None for each in self.history.columns]

    @cached_property
    def named(self) -> dict[str, NDArray[np.float64]]:
        """The values of those that did not fail, by slug."""
        pairs = zip(self.history.columns, self.values, strict=True)
        return {
            each.found.slug: values for each, values in pairs if isinstance(each.found, Series) and values is not None
        }

    def rows(self, most: int) -> dict[str, Any]:
        """The newest rows as the members `columns` and `rows`; a column that failed has no values."""
        days = labels(self.times[-most:], timed=self.timed)
        columns = [
            [None] * len(days) if values is None else self._texts(each, values[-most:])
            for each, values in zip(self.history.columns, self.values, strict=True)
        ]
        return {"columns": ["date", *self.headings], "rows": [list(row) for row in zip(days, *columns, strict=True)]}

    @cached_property
    def headings(self) -> list[str]:
        """Return what stands above each column."""
        options, marks = self.history.options, iter(self.computed.marks)
        return [
            options.heading(each.label, each.found.steps, next(marks))
            if isinstance(each.found, Series)
            else options.heading(each.label, ())
            for each in self.history.columns
        ]

    async def series(self) -> list[dict[str, Any]]:
        """Return what each column is."""
        slugs = [each.found.slug for each in self.history.columns if isinstance(each.found, Series)]
        signals = iter(await about_signals(slugs))
        paces = iter([await _pace(each.found) for each in self.history.columns if isinstance(each.found, Series)])
        return [
            {"slug": each.label, "error": in_words_of_tools(each.found.message)}
            if isinstance(each.found, CellError)
            else self._described(each.found, {**next(signals), **next(paces)}, heading, values)
            for each, heading, values in zip(self.history.columns, self.headings, self.values, strict=True)
        ]

    def _described(
        self, series: Series, signal: Mapping[str, Any], heading: str, values: NDArray[np.float64] | None
    ) -> dict[str, Any]:
        told = dict(signal)
        if heading != series.slug:
            told["heading"] = heading
        known = self.times[:0] if values is None else self.times[~np.isnan(values)]
        if len(known):
            told["first_date"], told["last_date"] = labels(known[[0, -1]], timed=self.timed)
        if parts := self.computed.part_days(series):
            told["partial"] = [str(day) for day in parts]
        return told | self._base(series)

    def _base(self, series: Series) -> dict[str, Any]:
        """Return what an index is based on: a day, or the mean of a year."""
        step = next((step for step in series.steps if step.transform.name == "index"), None)
        if step is None:
            return {}
        at = step.at or self.computed.base_day
        return {"base": {"date": str(at), "value": step.base}} if at is not None else {}

    def _texts(self, each: Labelled, values: NDArray[np.float64]) -> Sequence[float | None]:
        """Values as the service gave them, computed ones without the digits that only rounding made."""
        options = self.history.options
        is_computed = isinstance(each.found, Series) and each.found.is_computed
        if is_computed or (not options.freq.is_raw and options.agg in COMPUTED):
            return [meaningful(value) for value in values.tolist()]
        return [value if math.isfinite(value) else None for value in values.tolist()]

    def before(self, count: int) -> str:
        """The `end` that the rows before the newest `count` have."""
        place = len(self.times) - count
        first: datetime = self.times[place].astype("datetime64[us]").item()
        freq = self.history.options.freq
        if freq.unit is Unit.H:
            hour = first - timedelta(hours=1)
            is_day = hour.time() == time.min  # which as an end would mean all of that day
            return label(hour + TICK if is_day else hour, timed=True)
        if not freq.is_raw:
            return str(period_start(first.date(), freq) - timedelta(days=1))
        return label(first - TICK, timed=True) if self.timed else str(first.date() - timedelta(days=1))


async def _pace(series: Series) -> dict[str, Any]:
    """How often observations come; a few rows without a rhythm show none of the series, which what is at hand may."""
    if series.rhythm.pace is not Pace.IRREGULAR or len(series.rows) >= SURE:
        return {"frequency": str(series.rhythm)}
    detail = await have(SignalResource(series.slug), max_age_s=EVER)
    return {} if detail is None else await frequency_of(detail.value)


def window_of(shown: Shown) -> dict[str, str]:
    """The first and the last row of all rows of a history."""
    return dict(zip(("start", "end"), labels(shown.times[[0, -1]], timed=shown.timed), strict=True))


def starts_at(shown: Shown) -> date:
    """The first row of a history."""
    first: datetime = shown.times[0].astype("datetime64[us]").item()
    return first if shown.timed else first.date()
