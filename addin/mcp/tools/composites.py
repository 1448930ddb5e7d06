"""The tools about what the service itself composes: indices and currents, each list one request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeVar

from addin.mcp.schemas import NUMBER, TEXT, record_of
from addin.mcp.tool import Found, tool
from addin.mcp.tools.filters import Values, respelled
from addin.mcp.tools.records import OFFSET, field_names, limit, listed, listing_schema, nothing
from dataservice.client import CurrentsResource, IndicesResource
from dataservice.client.contract import WIDEST, Collection
from dataservice.models import Current, Index, Record
from udfs.arguments import Flag, Text
from udfs.engine import need
from udfs.functions.currents import CURRENT_FIELDS, DEFAULT_SORT, select_currents
from udfs.functions.indices import INDEX_FIELDS
from udfs.records import by_slug

R = TypeVar("R", bound=Record)

INDEX_SUMMARY = "slug, name, summary, category, value, observed_at, scale"

CURRENT_SUMMARY = "slug, name, family, phrase, momentum_score, belief_score, maturity_stage"

ORDER_BY = Text(help="the field to sort by; descending says in which direction", example="belief_score")

SORT = Text(
    help="the older way: a field, numbers highest first, text from A to Z; a minus before it turns this round",
    example="belief_score",
)

INDEX = record_of(Index, {"value": NUMBER, "observed_at": TEXT})


@tool(title="List the composite indices", result=listing_schema("indices", INDEX))
async def list_indices(
    slug: Annotated[str | None, Text(help="only this index", example="pressure-gauge")] = None,
    limit: Annotated[int, limit(1_000)] = 20,
    offset: Annotated[int, OFFSET] = 0,
    fields: Annotated[Sequence[str], field_names(INDEX_FIELDS, ("slug",))] = INDEX_SUMMARY,
) -> Found:
    """Composite indices with their current readings (`value`, `observed_at`).

    Ask for the field `components` to see what an index is made of, with weights and transforms. One request answers
    this for all indices.
    """
    every = (await need(IndicesResource())).value
    indices, lacks = by_slug(every), _lacks(every)
    named: dict[str, Values[Index]] = {"index": lambda index: [index.slug]}
    met = respelled({"index": slug or None}, indices, named)
    if met.unmet:
        return nothing("indices", met.unmet[0], met.suggestions, lacks)
    found = [index for index in indices if met.filters["index"] in (None, index.slug)]
    return listed("indices", found, INDEX_FIELDS, fields, most=limit, offset=offset, more=lacks)


@tool(title="List the macro currents", result=listing_schema("currents", record_of(Current)))
async def list_currents(
    slug: Annotated[str | None, Text(help="only this current", example="energy-repricing")] = None,
    family: Annotated[str | None, Text(help="only currents of this family", example="commodities")] = None,
    order_by: Annotated[str | None, ORDER_BY] = None,
    descending: Annotated[bool, Flag(help="with order_by: the highest, newest or last first")] = True,
    sort: Annotated[str, SORT] = DEFAULT_SORT,
    limit: Annotated[int, limit(1_000)] = 20,
    offset: Annotated[int, OFFSET] = 0,
    fields: Annotated[Sequence[str], field_names(CURRENT_FIELDS, ("slug",))] = CURRENT_SUMMARY,
) -> Found:
    """Currents (named macro motions) with momentum, belief and maturity, the strongest momentum first.

    One request answers this for all currents.
    """
    every = (await need(CurrentsResource())).value
    currents, lacks = by_slug(every), _lacks(every)
    named: dict[str, Values[Current]] = {"current": lambda each: [each.slug], "family": lambda each: [each.family]}
    met = respelled({"current": slug or None, "family": family or None}, currents, named)
    if met.unmet:
        return nothing("currents", "; ".join(met.unmet), met.suggestions, lacks)
    if order_by:
        field = CURRENT_FIELDS.find(order_by, currents, "order_by")
        is_text = any(isinstance(CURRENT_FIELDS.value(each, field), str) for each in currents)
        sort = field if descending is not is_text else f"-{field}"  # texts begin with A unless told otherwise
    found = select_currents(currents, slug=None, family=met.filters["family"], sort=sort)
    found = [each for each in found if met.filters["current"] in (None, each.slug)]
    return listed("currents", found, CURRENT_FIELDS, fields, most=limit, offset=offset, more=lacks)


def _lacks(records: Sequence[Record]) -> str:
    """Return why there may be others; empty where these are all."""
    return records.lacks(WIDEST) if isinstance(records, Collection) else ""
