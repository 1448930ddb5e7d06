"""CURRENT and CURRENTS: scores that may be blank, rows in order, all from one request."""

from tests.udfs.parts.asking import Canned, cells, records, session_on
from udfs.cells import CellError, ErrorCode

HOSTILE = [
    {"slug": "b", "momentum_score": None, "maturity_stage": "unheard-of", "heat": [1, 2]},
    {"slug": "a", "name": "x" * 40_000, "momentum_score": 10, "family": "Macro"},
    {"slug": "c", "momentum_score": 90.5, "family": "macro"},
]


async def test_every_current_cell_of_a_workbook_shares_one_request(service, sample_data):
    currents = records(sample_data, "currents.json")
    energy = currents["energy-repricing"]
    async with session_on(service) as session:
        assert await cells(session, "CURRENT", "energy-repricing") == energy["momentum_score"]
        assert await cells(session, "CURRENT", "Energy-Repricing", "maturity_stage") == energy["maturity_stage"]
        assert len(await cells(session, "CURRENTS")) == 1 + len(currents)
    assert service.running.requests == ["/v1/currents"]


async def test_a_score_that_is_open_is_a_blank_cell(service):
    async with session_on(service) as session:
        assert await cells(session, "CURRENT", "undecided", [["momentum_score", "belief_score", "family"]]) == [
            (None, None, None)
        ]


async def test_a_star_spills_the_whole_row_without_a_header(service, sample_data):
    record = records(sample_data, "currents.json")["strong-dollar"]
    async with session_on(service) as session:
        shown = await cells(session, "CURRENT", "strong-dollar", "*")
    assert shown == [tuple(record.values())]


async def test_an_unknown_current_is_told_the_nearest_one(service):
    async with session_on(service) as session:
        shown = await cells(session, "CURRENT", "digital-tides")
    assert shown == CellError(ErrorCode.NA, "no current 'digital-tides'; did you mean digital-tide?")


async def test_the_strongest_momentum_comes_first_and_blanks_last(sample_service):
    async with session_on(sample_service) as session:
        shown = await cells(session, "CURRENTS", None, "momentum_score")
    scores = [score for (score,) in shown[1:]]
    known = [score for score in scores if score is not None]
    assert len(known) > 2
    assert scores == [*sorted(known, reverse=True), *[None] * (len(scores) - len(known))]


async def test_the_top_rows_by_another_score_are_shown():
    rows = [{"slug": slug, "belief_score": score} for slug, score in {"a": 1, "b": 3.5, "c": 2, "d": None}.items()]
    service = Canned({"/v1/currents": rows})
    shown = await service("CURRENTS", None, "slug, belief_score", "sort=belief_score; top=2")
    turned = await service("CURRENTS", None, "slug", [["sort", "-belief_score"], ["top", 1]])
    assert shown == [("slug", "belief_score"), ("b", 3.5), ("c", 2.0)]
    assert turned == [("slug",), ("a",)]


async def test_only_one_family_is_shown_in_any_case():
    shown = await Canned({"/v1/currents": HOSTILE})("CURRENTS", "MACRO", "slug, family")
    assert shown[1:] == [("c", "macro"), ("a", "Macro")]


async def test_an_unknown_family_is_told_the_nearest_one(service):
    async with session_on(service) as session:
        shown = await cells(session, "CURRENTS", "comodities")
    assert shown == CellError(ErrorCode.NA, "no family 'comodities'; did you mean commodities?")


async def test_a_value_of_a_closed_list_that_is_new_is_shown_as_it_is():
    assert await Canned({"/v1/currents": HOSTILE})("CURRENT", "b", "maturity_stage") == "unheard-of"


async def test_a_field_that_the_contract_does_not_name_is_a_column():
    service = Canned({"/v1/currents": HOSTILE})
    assert await service("CURRENTS", None, "slug, heat", "sort=slug") == [
        ("slug", "heat"),
        ("a", None),
        ("b", "1, 2"),
        ("c", None),
    ]
    assert (await service("CURRENTS", None, "*"))[0][-1] == "heat"


async def test_a_name_of_forty_thousand_characters_is_cut_to_what_a_cell_holds():
    shown = await Canned({"/v1/currents": HOSTILE})("CURRENT", "a", "name")
    assert len(shown) == 32_767
    assert shown.endswith("x…")


async def test_a_sort_by_no_field_is_a_wrong_formula():
    shown = await Canned({"/v1/currents": HOSTILE})("CURRENTS", None, None, "sort=momentun_score")
    assert shown.code is ErrorCode.VALUE
    assert "did you mean momentum_score?" in shown.message


async def test_errors_can_be_shown_as_text_or_blank():
    service = Canned({"/v1/currents": 401})
    assert (await service("CURRENTS", None, None, "err=text")).startswith("the key was refused")
    assert await service("CURRENTS", None, None, "err=blank") is None


async def test_a_service_without_currents_shows_the_header():
    assert len(await Canned({"/v1/currents": []})("CURRENTS")) == 1
