"""CURRENT and CURRENTS: named macro motions with momentum, belief and maturity, all from one request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from dataservice.client import CurrentsResource
from dataservice.client.contract import ALL
from dataservice.models import Current
from udfs.arguments.kinds import Choice, Count, Text
from udfs.arguments.options import Option, Options
from udfs.cells import Table
from udfs.engine.decorator import udf
from udfs.engine.effects import need
from udfs.records.elsewhere import find_or_explain
from udfs.records.fields import ALL_FIELDS, Fields
from udfs.records.lookup import by_slug, find_record, in_group, in_order

CURRENT_FIELDS = Fields(
    Current,
    (
        Choice("momentum_score", "how strongly it moves"),
        Choice("belief_score", "how strongly people believe in it"),
        Choice("maturity_stage", "its stage, such as building or fading"),
        Choice("name", "the current's name"),
        Choice("family", "its group"),
        Choice("phrase", "the current in a sentence"),
    ),
)

COLUMN_CHOICES = (Choice("slug", "the current's name in formulas"), *CURRENT_FIELDS.choices)

DEFAULT_FIELDS = "slug, name, family, momentum_score, belief_score, maturity_stage"

DEFAULT_SORT = "momentum_score"

SLUG = Text(
    help="slug of a current, or a range of them; CURRENTS lists all", example="energy-repricing", vectorized=True
)

FIELD = CURRENT_FIELDS.one(
    "the field to show, also any other field by name; * shows the whole row; a range of fields spills",
    "belief_score",
    also=[Choice(ALL_FIELDS, "the whole row, without a header")],
)

SORT = Text(
    help="the field to sort by: scores highest first, text from A to Z; a leading minus reverses the order",
    choices=COLUMN_CHOICES,
    open_choices=True,
)

OPTIONS = Options(
    help="sort= a field, top= the number of rows",
    example="sort=belief_score; top=5",
    options=(Option("sort", SORT, DEFAULT_SORT), Option("top", Count(help="the maximum number of rows"))),
)


@udf(
    group="Currents",
    shape="either",
    examples=(
        '=DS.CURRENT("energy-repricing")',
        '=DS.CURRENT("energy-repricing", "maturity_stage")',
        '=DS.CURRENT("energy-repricing", "*")',
    ),
)
async def CURRENT(  # noqa: N802 - the id that workbooks store
    slug: Annotated[str, SLUG], field: Annotated[str, FIELD] = "momentum_score"
) -> Any:
    """The momentum score of a current (a named macro motion), or one of its other fields.

    A missing score is a blank cell. `*` spills the whole record to the right in one row without a header: slug, name,
    family, phrase, momentum_score, belief_score, maturity_stage, then any other field.

    All CURRENT and CURRENTS cells of a workbook together cost one request. An unknown current is `#N/A` with a
    suggestion.
    """
    currents = (await need(CurrentsResource())).value
    current = await find_or_explain(currents, slug, "current")
    if field == ALL_FIELDS:
        every = list(dict.fromkeys([*Current.field_names(), *CURRENT_FIELDS.names(currents)]))
        return replace(CURRENT_FIELDS.table(every, [current]), shows_header=False)
    return CURRENT_FIELDS.value(current, CURRENT_FIELDS.find(field, currents))


@udf(
    group="Currents",
    shape="table",
    examples=(
        "=DS.CURRENTS()",
        '=DS.CURRENTS("commodities")',
        '=DS.CURRENTS(,"name, belief_score","sort=belief_score; top=5")',
    ),
)
async def CURRENTS(  # noqa: N802 - the id that workbooks store
    family: Annotated[str | None, Text(help="only currents of this family", example="commodities")] = None,
    fields: Annotated[Sequence[str], CURRENT_FIELDS.columns("name, momentum_score", COLUMN_CHOICES)] = DEFAULT_FIELDS,
    options: Annotated[Mapping[str, Any] | None, OPTIONS] = None,
) -> Table:
    """A table of all currents with their scores, strongest momentum first.

    `sort=belief_score` sorts by another field, `sort=-belief_score` in reverse order; currents without a value come
    last. `top=5` shows the first five. Costs one request, shared with every CURRENT cell.
    """
    given = options or {}
    currents = by_slug((await need(CurrentsResource(), records=ALL)).value)
    found = select_currents(currents, family=family, sort=given.get("sort", DEFAULT_SORT))
    return CURRENT_FIELDS.table(CURRENT_FIELDS.select(fields, currents), found[: given.get("top")])


def select_currents(
    currents: Sequence[Current], *, slug: str | None = None, family: str | None = None, sort: str
) -> list[Current]:
    """One current, those of a family or all, by the field `sort`; a minus before it turns the order round."""
    chosen = [find_record(currents, slug, "current")] if slug else currents
    listed = in_group(chosen, family, lambda current: current.family, "family")
    field = CURRENT_FIELDS.find(sort.removeprefix("-"), currents)
    return in_order(listed, lambda current: CURRENT_FIELDS.value(current, field), reverse=sort.startswith("-"))
