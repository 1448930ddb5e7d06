"""SIGNALS: the catalogue, searched on the spot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from dataservice.client import Catalogue, CatalogueResource
from dataservice.models import Signal
from udfs.arguments.kinds import Choice, Count, Names, Text, shown
from udfs.cells import Table
from udfs.engine.effects import have, need
from udfs.engine.registry import udf
from udfs.errors import NoDataError
from udfs.records.fields import Fields
from udfs.records.lookup import CATALOGUE_AGE_S, in_group
from udfs.records.search import corrected, ranked

SIGNAL_COLUMNS = Fields(
    Signal,
    (
        Choice("slug", "the signal's name in formulas"),
        Choice("shortcode", "a short name that formulas also accept"),
        Choice("name", "the signal's name"),
        Choice("category", "what the signal is about"),
        Choice("signal_type", "the kind of series"),
        Choice("source", "where the data comes from"),
        Choice("description", "what is measured, and how"),
        Choice("unit", "the unit of the values"),
        Choice("is_premium", "TRUE for a premium signal"),
    ),
)

DEFAULT_FIELDS = "slug, shortcode, name, category, unit, source"


SEARCH = Text(
    help="words to find in slug, shortcode, name or description; all must match",
    example="oil price",
)

COLUMNS = Names(
    help="the columns to show, separated by commas or as a range; * shows all",
    example="slug, name",
    choices=SIGNAL_COLUMNS.choices,
    open_choices=True,
)


@udf(
    group="Signals",
    shape="table",
    examples=("=DS.SIGNALS()", '=DS.SIGNALS("oil price")', '=DS.SIGNALS("usd","fx","slug, name",10)'),
)
async def SIGNALS(  # noqa: N802 - the id that workbooks store
    search: Annotated[str | None, SEARCH] = None,
    category: Annotated[str | None, Text(help="only signals of this category", example="commodities")] = None,
    fields: Annotated[Sequence[str], COLUMNS] = DEFAULT_FIELDS,
    limit: Annotated[int | None, Count(help="the maximum number of signals", example="20")] = None,
) -> Table:
    """The catalogue of signals, or the signals that match a search, best match first.

    Without a search, signals are sorted by slug. Searching is local and free: the catalogue costs one request for every
    500 signals, once a day. A search without a match is `#N/A`.
    """
    signals = sorted(await _catalogue(), key=lambda signal: signal.slug)
    listed = in_group(signals, category, lambda signal: signal.category, "category") if category else signals
    if search:
        listed = _found(search, listed)
    return SIGNAL_COLUMNS.table(SIGNAL_COLUMNS.select(fields, signals), listed[:limit])


async def _catalogue() -> Catalogue:
    """The catalogue at hand if it is of today, else a new one."""
    at_hand = await have(CatalogueResource(), max_age_s=CATALOGUE_AGE_S)
    return (at_hand or await need(CatalogueResource())).value


def _found(search: str, signals: Sequence[Signal]) -> list[Signal]:
    found = ranked(search, signals)
    if not found:
        guess = corrected(search, signals)
        raise NoDataError(f"no signal matches {shown(search)}" + (f"; did you mean {guess}?" if guess else ""))
    return found
