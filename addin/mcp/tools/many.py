"""Many signals in one answer: their latest values, their rows on one time axis, and what these say of each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addin.mcp.tool import Schema
from dataservice.client import CatalogueResource, SignalResource
from dataservice.models import Signal
from udfs.arguments.kinds import Names
from udfs.cells import Table, scalar
from udfs.engine.effects import EVER, gather, have
from udfs.errors import ArgumentError, CellError, error_cell
from udfs.records.resolve import need_detail
from udfs.timeseries.loader import latest

MOST_SLUGS = 50
"""Columns that a model can still compare."""

SLUGS = Names(help=f"several signals in one answer, up to {MOST_SLUGS}: slugs or shortcodes", example="us-cpi, WTI")

ABOUT = ("name", "unit", "source", "category")
"""What a value needs beside it to be understood."""

SERIES: Schema = {
    "type": "array",
    "description": "what each column is: slug, name, unit, source, its first and last date here; error where it failed",
    "items": {"type": "object"},
}

STATISTICS: Schema = {
    "type": "array",
    "description": "of each column's rows here: count, first, last, change, min, max, mean, stdev (of the sample), "
    "zscore of the last value",
    "items": {"type": "object"},
}

CORRELATION: Schema = {
    "type": "object",
    "description": "Pearson's, of the rows where all columns have a value (rows says how many); transform=pct or diff "
    "correlates changes in place of levels. matrix is in the order of slugs, null where a column does not vary",
    "properties": {
        "slugs": {"type": "array", "items": {"type": "string"}},
        "rows": {"type": "integer"},
        "matrix": {"type": "array", "items": {"type": "array"}},
    },
}


def one_or_many(slug: str | None, slugs: Sequence[str] | None) -> Sequence[str] | None:
    """The slugs of a call for several, None for one; raises `ArgumentError` where neither or both are given."""
    if (slug is None) == (not slugs):
        raise ArgumentError("give slug for one signal, or slugs for several" + ("" if slug is None else ", not both"))
    if slugs and len(slugs) > MOST_SLUGS:
        raise ArgumentError(f"slugs has {len(slugs):,} names; at most {MOST_SLUGS} are allowed")
    return list(dict.fromkeys(slugs)) if slugs else None


async def latest_of(names: Sequence[str]) -> list[dict[str, Any]]:
    """Each signal's latest value with what it measures; a name that fails has an `error` in place of a value."""
    details = await gather([need_detail(name) for name in names])
    failed = [found for found in details if isinstance(found, Exception)]
    if len(failed) == len(details):
        raise failed[0]
    rows: list[dict[str, Any]] = []
    for name, found in zip(names, details, strict=True):
        if isinstance(found, Exception):
            rows.append({"slug": name, "error": error_cell(found, "get_signal").message})
            continue
        detail = found.value
        observed = latest(detail) if len(detail.history) or detail.latest is not None else None
        values = {} if observed is None else {each: shown(observed.field(each)) for each in OBSERVED_FIELDS}
        rows.append({"slug": detail.signal.slug, **_about(detail.signal), **_present(values)})
    return rows


OBSERVED_FIELDS = ("observed_at", "value", "previous", "change", "pct_change")


async def described(names: Sequence[str], table: Table) -> list[dict[str, Any]]:
    """What each column of a table of histories is, by what is at hand: nothing is asked for it."""
    slugs = names if table.names is None else table.names[1:]
    return [await _described(slug, table, place) for place, slug in enumerate(slugs)]


async def _described(name: str, table: Table, place: int) -> dict[str, Any]:
    values = table.columns[place + 1]
    if values.dtype.kind == "O":
        failed = next((value for value in values if isinstance(value, CellError)), None)
        return {"slug": name, "error": failed.message if failed else "no values"}
    places = np.flatnonzero(~np.isnan(values))
    days = [shown(table.columns[0][each]) for each in places[[0, -1]]] if len(places) else []
    about = await about_signal(name)
    heading = {} if table.header[place + 1] == name else {"heading": table.header[place + 1]}
    return {**about, **heading, **dict(zip(("first_date", "last_date"), days, strict=False))}


async def about_signal(slug: str) -> dict[str, Any]:
    """What a signal measures, as far as an answer at hand tells: nothing is asked for it."""
    detail = await have(SignalResource(slug), max_age_s=EVER)
    if detail is not None:
        return {"slug": slug, **_about(detail.value.signal)}
    catalogue = await have(CatalogueResource(), max_age_s=EVER)
    known = catalogue.value.find(slug) if catalogue else None
    return {"slug": slug, **(_about(known) if known else {})}


def statistics_of(names: Sequence[str], table: Table) -> dict[str, Any]:
    """What the rows of a table say: each column by itself, and each with each other."""
    columns = {
        name: values
        for name, values in zip(names, table.columns[1:], strict=True)
        if values.dtype.kind == "f" and not np.isnan(values).all()
    }
    told: dict[str, Any] = {"statistics": [{"slug": name, **_statistics(values)} for name, values in columns.items()]}
    if len(columns) > 1:
        told["correlation"] = _correlation(columns)
    return told


def _statistics(values: NDArray[np.float64]) -> dict[str, Any]:
    known = values[~np.isnan(values)]
    mean, spread = float(known.mean()), float(known.std(ddof=1)) if len(known) > 1 else 0.0
    first, last = float(known[0]), float(known[-1])
    told = {
        "count": len(known), "first": first, "last": last, "change": last - first, "min": float(known.min()),
        "max": float(known.max()), "mean": mean, "stdev": spread,
    }  # fmt: skip
    if spread:
        told["zscore"] = (last - mean) / spread
    return {name: shown(value) for name, value in told.items()}


def _correlation(columns: Mapping[str, NDArray[np.float64]]) -> dict[str, Any]:
    matrix = np.column_stack(list(columns.values()))
    common = matrix[~np.isnan(matrix).any(axis=1)]
    found: list[list[float | None]] = [[None] * len(columns) for _ in columns]
    if len(common) > 2:
        with np.errstate(invalid="ignore", divide="ignore"):
            found = [[shown(value) for value in row] for row in np.atleast_2d(np.corrcoef(common, rowvar=False))]
    return {"slugs": list(columns), "rows": len(common), "matrix": found}


def rows_of(table: Table, most: int) -> dict[str, Any]:
    """The newest rows of a table as the members `columns` and `rows`; a column that failed has no values."""
    columns = [
        [None if isinstance(value, CellError) else shown(value) for value in column[-most:]] for column in table.columns
    ]
    return {"columns": list(table.header), "rows": [list(row) for row in zip(*columns, strict=True)]}


def shown(value: Any) -> Any:
    """A value as JSON has it: a day or moment as text, a number with the ten digits that arithmetic leaves certain."""
    plain = scalar(value)
    if isinstance(plain, date):
        text = plain.isoformat()
        return text.removesuffix("T00:00:00") if text.endswith("T00:00:00") else f"{text}Z" if "T" in text else text
    if isinstance(plain, float):
        return float(f"{plain:.10g}") if math.isfinite(plain) else None
    return plain


def _about(signal: Signal) -> dict[str, Any]:
    return _present({name: getattr(signal, name) for name in ABOUT})


def _present(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}
