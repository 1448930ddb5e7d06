"""Many signals in one answer: which ones are meant, and a table of their latest values."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from addin.mcp.texts import in_words_of_tools
from addin.mcp.tools.described import about, frequency_of, present
from addin.mcp.tools.rows import has_times, labels, meaningful
from dataservice.client import SignalDetail
from udfs.arguments import Names
from udfs.engine import gather
from udfs.errors import ArgumentError, error_cell
from udfs.records import need_detail
from udfs.timeseries import latest

MOST_SLUGS = 50
"""Columns that a model can still compare."""

SLUGS = Names(help=f"several signals in one answer, up to {MOST_SLUGS}: slugs or shortcodes", example="us-cpi, WTI")


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
    return [
        {"slug": name, "error": in_words_of_tools(error_cell(found, "get_signal").message)}
        if isinstance(found, Exception)
        else {**about(found.value.signal), **await frequency_of(found.value), **observed(found.value)}
        for name, found in zip(names, details, strict=True)
    ]


def observed(detail: SignalDetail) -> dict[str, Any]:
    """The latest observation of a signal and the change from the one before; nothing where there is none."""
    if not len(detail.history) and detail.latest is None:
        return {}
    found = latest(detail)
    moment = np.array([found.time_us], "datetime64[us]")
    told = {
        "observed_at": labels(moment, timed=has_times(detail.history.times))[0],
        "value": found.value,
        "previous": found.before,
    }
    if found.value is not None and found.before is not None:
        told["change"] = float(Decimal(repr(found.value)) - Decimal(repr(found.before)))
    if (change := found.field("pct_change")) is not None:
        told["pct_change"] = meaningful(change)
    return present(told)
