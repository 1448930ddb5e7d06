"""INDEX and INDICES: readings, components and weights, all from one request."""

import pytest

from tests.udfs.parts.asking import Canned, cells, records, session_on
from udfs.cells import CellError, ErrorCode
from udfs.functions.indices import component_table, weight_of

HOSTILE = [
    {"slug": "bare"},
    {"slug": "plain", "name": "=1+1", "value": 7, "observed_at": "2026-08-01", "region": "EU", "shortcode": "PLN"},
    {"slug": "odd", "latest": {"value": None, "observed_at": "2026-08-01T00:00:00Z"}, "components": []},
    {
        "slug": "nested",
        "reading": {"value": -1.5, "observed_at": "2026-08-01T06:00:00Z"},
        "components": [
            {"signal": {"slug": "us-cpi", "name": "CPI"}, "weight_pct": 60, "lags": [1, 12]},
            {"signal": {"slug": "us-10y"}, "weight": -0.5, "weight_pct": 40, "since": None},
            {"signal": {"slug": "us-10y"}, "weight": 0.25},
            {"note": "no name"},
        ],
    },
]


def weights_in(folder, slug):
    """Return the weights of an index by the slugs of its components."""
    components = records(folder, "indices.json")[slug]["components"]
    return {component["signal_slug"]: component["weight"] for component in components}


async def test_every_index_cell_of_a_workbook_shares_one_request(service, sample_data):
    indices = records(sample_data, "indices.json")
    async with session_on(service) as session:
        assert await cells(session, "INDEX", "pressure-gauge") == indices["pressure-gauge"]["latest"]["value"]
        assert await cells(session, "INDEX", "risk-dial", "scale") == "100 = unchanged"
        assert len(await cells(session, "INDICES")) == 1 + len(indices)
    assert service.running.requests == ["/v1/indices"]


async def test_a_range_of_indices_and_fields_spills_a_table(service, sample_data):
    indices = records(sample_data, "indices.json")
    risk, dollar = (indices[slug]["latest"]["value"] for slug in ("risk-dial", "dollar-basket"))
    async with session_on(service) as session:
        shown = await cells(session, "INDEX", [["risk-dial"], [None], ["dollar-basket"]], [["value", "category"]])
    assert shown == [(risk, "equities"), (None, None), (dollar, "fx")]


async def test_components_spill_with_a_column_for_each_of_their_fields(service, sample_data):
    components = records(sample_data, "indices.json")["dollar-basket"]["components"]
    async with session_on(service) as session:
        shown = await cells(session, "INDEX", "dollar-basket", "components")
    assert shown[0] == ("signal_slug", "weight", "transform")
    assert shown[1:] == [tuple(component.values()) for component in components]


async def test_one_weight_is_given_by_the_component_s_name(service, sample_data):
    weights = weights_in(sample_data, "pressure-gauge")
    async with session_on(service) as session:
        assert await cells(session, "INDEX", "pressure-gauge", "weight:US-CPI") == weights["us-cpi"]


async def test_a_component_s_shortcode_counts_where_the_catalogue_is_at_hand(service, sample_data):
    weights = weights_in(sample_data, "pressure-gauge")
    async with session_on(service) as session:
        assert (await cells(session, "INDEX", "pressure-gauge", "weight:WTI")).code is ErrorCode.NA
        await cells(session, "SIGNALS")
        assert await cells(session, "INDEX", "pressure-gauge", "weight:WTI") == weights["eia.wti.spot"]
    assert service.running.request_count == 2


async def test_an_unknown_component_is_told_the_nearest_one(service):
    async with session_on(service) as session:
        shown = await cells(session, "INDEX", "pressure-gauge", "weight:us-cpii")
    assert shown == CellError(
        ErrorCode.NA, "no weight in index 'pressure-gauge' for component 'us-cpii'; did you mean us-cpi?"
    )


async def test_an_unknown_index_is_told_the_nearest_one(service):
    async with session_on(service) as session:
        shown = await cells(session, "INDEX", "pressure-guage")
    assert shown == CellError(ErrorCode.NA, "no index 'pressure-guage'; did you mean pressure-gauge?")


async def test_an_unknown_field_is_a_wrong_formula(service):
    async with session_on(service) as session:
        shown = await cells(session, "INDEX", "risk-dial", "sumary")
    assert shown.code is ErrorCode.VALUE
    assert shown.message.startswith("there is no field 'sumary' (did you mean summary?); there are value, observed_at")


async def test_a_reading_without_a_date_has_a_blank_date():
    service = Canned({"/v1/indices": [{"slug": "undated", "level": 3}]})
    assert await service("INDEX", "undated", [["value", "observed_at"]]) == [(3.0, None)]


@pytest.mark.parametrize("field", ["value", "observed_at"])
@pytest.mark.parametrize("slug", ["bare", "odd"])
async def test_an_index_without_a_reading_says_so(slug, field):
    shown = await Canned({"/v1/indices": HOSTILE})("INDEX", slug, field)
    assert shown == CellError(ErrorCode.NA, f"index '{slug}' has no reading")


async def test_the_table_of_indices_leaves_a_missing_reading_blank():
    shown = await Canned({"/v1/indices": HOSTILE})("INDICES", "slug, value, observed_at")
    assert [(slug, value, at and at.isoformat()) for slug, value, at in shown[1:]] == [
        ("bare", None, None),
        ("nested", -1.5, "2026-08-01T06:00:00"),
        ("odd", None, None),
        ("plain", 7.0, "2026-08-01T00:00:00"),
    ]


async def test_fields_that_the_contract_does_not_name_are_shown_by_name():
    service = Canned({"/v1/indices": HOSTILE})
    assert await service("INDEX", "pln", "region") == "EU"
    assert await service("INDEX", "bare", "region") is None
    assert await service("INDEX", "nested", "reading.value") == -1.5


async def test_text_that_begins_like_a_formula_is_text():
    assert await Canned({"/v1/indices": HOSTILE})("INDEX", "plain", "name") == "=1+1"


async def test_components_named_in_an_inner_object_are_found_and_their_weights_added_up():
    service = Canned({"/v1/indices": HOSTILE})
    assert await service("INDEX", "nested", "weight:cpi") == 60
    assert await service("INDEX", "nested", "weight:us-10y") == -0.25


async def test_an_index_without_components_says_so_and_has_no_weight():
    service = Canned({"/v1/indices": HOSTILE})
    assert (await service("INDEX", "odd", "components")).message == "index 'odd' has no components"
    assert (await service("INDEX", "odd", "weight:us-cpi")).message == (
        "no weight in index 'odd' for component 'us-cpi'"
    )


async def test_a_weight_without_a_name_is_a_wrong_formula():
    assert (await Canned({"/v1/indices": HOSTILE})("INDEX", "nested", "weight:")).code is ErrorCode.VALUE


async def test_a_service_without_indices_shows_the_header():
    service = Canned({"/v1/indices": []})
    assert await service("INDICES", "slug, region") == [("slug", "region")]
    assert await service("INDEX", "x") == CellError(ErrorCode.NA, "no index 'x'")


def test_keys_that_only_some_components_have_are_columns_with_blanks():
    frame = component_table(HOSTILE[3]["components"]).frame()
    assert list(frame.columns) == ["signal", "weight_pct", "lags", "weight", "since", "note"]
    assert frame["lags"].tolist()[0] == "1, 12"


def test_a_component_whose_weight_is_no_number_has_none():
    assert weight_of([{"slug": "a", "weight": "heavy"}, {"slug": "a", "weight": True}], ["a"]) is None
