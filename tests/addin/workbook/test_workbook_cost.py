"""What a whole workbook spends: one request for each resource behind it, and none for what is still fresh."""

from tests.addin.backends import backend_of

MACRO = ("us-cpi", "us-unemployment", "us-10y", "survey.pmi")
MARKETS = ("eia.wti.spot", "wb.gold", "eia.henry-hub", "sp-500", "cboe.vix", "etf.world", "fx.eur-usd", "btc-usd")
SLUGS = (*MACRO, *MARKETS)
INDICES = ("pressure-gauge", "risk-dial", "dollar-basket", "coin-heat")
CURRENTS = ("energy-repricing", "calm-or-storm", "rates-plateau", "digital-tide")
FIELDS = ("value", "unit", "observed_at")

WORKBOOK = [
    *([["SIGNAL", SLUGS[cell % 12], FIELDS[cell // 12]] for cell in range(30)]),
    *([["SIGNAL_HISTORY", slug, "N10"] for slug in SLUGS]),
    *([["INDEX", INDICES[cell % 4], ("value", "name", "scale")[cell // 4]] for cell in range(10)]),
    *([["CURRENT", CURRENTS[cell % 4], ("momentum_score", "family")[cell // 4]] for cell in range(8)]),
]
RESOURCES = 12 + 1 + 1


def test_a_workbook_costs_one_request_for_each_resource(backend, service):
    response = backend.batch(*WORKBOOK)
    assert [answer for answer in response["answers"] if "error" in answer] == []
    assert response["requests"] == service.running.request_count == RESOURCES


def test_the_same_workbook_again_costs_nothing(backend, service):
    first = backend.batch(*WORKBOOK)
    again = backend.batch(*WORKBOOK)
    assert again["requests"] == 0
    assert service.running.request_count == RESOURCES
    assert [_without_age(answer) for answer in again["answers"]] == [_without_age(a) for a in first["answers"]]


def test_a_workbook_reopened_after_a_restart_costs_nothing(service, tmp_path):
    with backend_of(service, tmp_path) as before:
        first = before.batch(*WORKBOOK)
    with backend_of(service, tmp_path) as after:
        again = after.batch(*WORKBOOK)
    assert again["requests"] == 0
    assert service.running.request_count == RESOURCES
    assert [_without_age(answer) for answer in again["answers"]] == [_without_age(a) for a in first["answers"]]


def test_the_cost_is_told_before_it_is_spent(backend, service):
    preview = backend.http.post("/functions/cost", json={"calls": WORKBOOK}).json()
    assert (preview["requests"], preview["calls"], preview["fresh_calls"]) == (RESOURCES, len(WORKBOOK), 0)
    assert preview["allowed"] is True
    assert service.running.request_count == 0
    backend.batch(*WORKBOOK)
    preview = backend.http.post("/functions/cost", json={"calls": WORKBOOK}).json()
    assert (preview["requests"], preview["fresh_calls"]) == (0, len(WORKBOOK))


def _without_age(answer):
    return {name: value for name, value in answer.items() if name != "fresh_s"}


def test_a_name_with_a_blank_stops_no_preview(backend):
    calls = [["REVISIONS", "US CPI"], ["SIGNAL", "US CPI", "value", None, "asof=2026-06-30"], ["SIGNAL", "us-cpi"]]
    preview = backend.http.post("/functions/cost", json={"calls": calls})
    assert preview.status_code == 200
    assert preview.json()["at_least"] >= 1
