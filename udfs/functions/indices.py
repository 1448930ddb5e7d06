"""INDEX and INDICES: composite indices with their readings, components and weights, all from one request."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from dataservice.client import IndicesResource
from dataservice.client.contract import ALL
from dataservice.errors import RECEIVED_BYTES
from dataservice.models import READING_FIELDS, Index
from udfs.arguments.kinds import Choice, Text
from udfs.cells import Table, table
from udfs.engine.decorator import udf
from udfs.engine.effects import need
from udfs.errors import ArgumentError, NoDataError
from udfs.records.elsewhere import find_or_explain
from udfs.records.fields import Fields, naming_texts, shown_value
from udfs.records.lookup import by_slug, unknown
from udfs.records.resolve import recent_catalogue

COMPONENTS = "components"
WEIGHT = "weight:"
READING = ("value", "observed_at")

INDEX_FIELDS = Fields(
    Index,
    (
        Choice("value", "the current reading"),
        Choice("observed_at", "when the current reading was taken"),
        Choice("name", "the index's name"),
        Choice("summary", "what the index measures, in a sentence"),
        Choice("category", "what the index is about"),
        Choice("scale", "how to read the number"),
        Choice("baseline_window_months", "the months that the index is compared with"),
        Choice(COMPONENTS, "the components with weights and transforms"),
    ),
    {"value": lambda index: index.reading()[0], "observed_at": lambda index: index.reading()[1]},
)

DEFAULT_FIELDS = "slug, name, value, observed_at, category, scale"

SLUG = Text(help="slug of an index, or a range of them; INDICES lists all", example="pressure-gauge", vectorized=True)

FIELD = INDEX_FIELDS.one(
    "the field to show, also weight: with a component's name, or any other field; a range of fields spills",
    "components",
)

COLUMN_CHOICES = (*INDEX_FIELDS.choices, Choice("slug", "the index's name in formulas"))


@udf(
    group="Indices",
    shape="either",
    examples=(
        '=DS.INDEX("pressure-gauge")',
        '=DS.INDEX("pressure-gauge", "components")',
        '=DS.INDEX("pressure-gauge", "weight:us-cpi")',
    ),
)
async def INDEX(  # noqa: N802 - the id that workbooks store
    slug: Annotated[str, SLUG], field: Annotated[str, FIELD] = "value"
) -> Any:
    """The current reading of a composite index, or one of its fields.

    `components` spills a table with one row for each component and one column for each of its fields: signal, weight,
    transform and any others. `weight:` with a component's name returns its weight (the sum, if the component occurs
    twice).

    All INDEX and INDICES cells of a workbook together cost one request. An unknown index is `#N/A` with a suggestion;
    an index without a reading is `#N/A` too.
    """
    indices = (await need(IndicesResource())).value
    index = await find_or_explain(indices, slug, "index")
    if field.casefold() == COMPONENTS:
        return _components(index)
    if field.casefold().startswith(WEIGHT):
        return await _weight(index, field[len(WEIGHT) :].strip())
    value = INDEX_FIELDS.value(index, chosen := INDEX_FIELDS.find(field, indices))
    if value is None and chosen in READING and index.reading()[0] is None:
        raise NoDataError(_no_reading(index))
    return value


@udf(group="Indices", shape="table", examples=("=DS.INDICES()", '=DS.INDICES("name, value, observed_at")'))
async def INDICES(  # noqa: N802 - the id that workbooks store
    fields: Annotated[Sequence[str], INDEX_FIELDS.columns("name, value", COLUMN_CHOICES)] = DEFAULT_FIELDS,
) -> Table:
    """A table of all composite indices with their current readings.

    One row for each index, sorted by slug. A missing reading is blank; `components` lists the components in one cell,
    separated by commas. Costs one request, shared with every INDEX cell.
    """
    return INDEX_FIELDS.table(fields, by_slug((await need(IndicesResource(), records=ALL)).value))


def _no_reading(index: Index) -> str:
    """Why an index shows no reading: it has none, or the service tells numbers that may be it."""
    numbers = {name: value for name, (value, _) in index.readings().items()} or {
        name: value
        for name, value in index.extra.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    if not numbers:
        told = next((index.extra[name] for name in READING_FIELDS if index.extra.get(name) is not None), None)
        text = told.get("value") if isinstance(told, Mapping) else told
        is_told = isinstance(text, str | bool)
        return f"index '{index.slug}' has no reading{f': {str(text)[:60]!r} is no number' if is_told else ''}"
    received = json.dumps(index.extra, ensure_ascii=False, default=str)[:RECEIVED_BYTES]
    told = " or ".join(f"{name} {value:g}" for name, value in list(numbers.items())[:3])
    return f"the reading of index '{index.slug}' may be {told}: name the field; received: {received}"


def _components(index: Index) -> Table:
    if not any(index.components):
        raise NoDataError(f"index '{index.slug}' has no components")
    return component_table(index.components)


def component_table(components: Sequence[Mapping[str, Any]]) -> Table:
    """One row a component, one column a field that any of them has, in the order met."""
    header = list(dict.fromkeys(key for component in components for key in component))
    return table(header, [[shown_value(key, component.get(key)) for key in header] for component in components])


def weight_of(components: Sequence[Mapping[str, Any]], names: Sequence[str]) -> float | None:
    """The weight of the components that carry one of `names`, added up; None where none does or none has a weight."""
    folded = {name.casefold() for name in names}
    named = [each for each in components if folded & {text.casefold() for text in naming_texts(each)}]
    weights = [weight for weight in map(_own_weight, named) if weight is not None]
    return sum(weights) if weights else None


async def _weight(index: Index, component: str) -> float:
    """The weight of one component by its name; a shortcode counts where the catalogue is at hand."""
    if not component:
        raise ArgumentError(f"field {WEIGHT} needs a component after the colon, such as {WEIGHT}us-cpi")
    catalogue = await recent_catalogue()
    signal = None if catalogue is None else catalogue.find(component)
    weight = weight_of(index.components, [component] if signal is None else [component, signal.slug])
    if weight is None:
        known = [text for each in index.components for text in naming_texts(each)[:1] if _own_weight(each) is not None]
        raise NoDataError(unknown(f"weight in index '{index.slug}' for component", component, known))
    return weight


def _own_weight(component: Mapping[str, Any]) -> float | None:
    """The component's number whose key says weight, the plain `weight` before such as `weight_pct`."""
    keys = sorted((key for key in component if "weight" in key.casefold()), key=lambda key: (key != "weight", key))
    numbers = (component[key] for key in keys)
    return next((n for n in numbers if isinstance(n, int | float) and not isinstance(n, bool)), None)
