"""The embedded service answering otherwise where the contract leaves it open."""

import httpx
import pytest
from starlette.testclient import TestClient

from dataservice.server import create_app, running
from dataservice.server.variants import SWITCHES, Variant, VariantMiddleware

START, END = "2026-08-03", "2026-08-07"


@pytest.fixture
def ask(service):
    """Ask a variant of the service for a path; give the answer."""

    def ask(path: str, **switches: str):
        variant = Variant({name.replace("_", "-"): value for name, value in switches.items()})
        app = VariantMiddleware(create_app(service.store), service.store, variant)
        return TestClient(app, headers={"Authorization": f"Bearer {service.key}"}).get(f"/v1/{path}")

    return ask


def days(answer) -> list[str]:
    return [row["observed_at"][:10] for row in answer.json()["data"]]


def test_without_a_switch_a_variant_answers_as_the_embedded_service(ask):
    for path in ("signals", f"signals/us-10y/observations?start={START}", "signals/us-10y?history=5", "codex", "wire"):
        assert ask(path, page="1000", packing="asked").json() == ask(path).json()


def test_the_bounds_of_a_window_are_understood_as_the_switches_say(ask):
    path = f"signals/us-10y/observations?start={START}&end={END}"
    assert len(days(ask(path))) == 5
    assert days(ask(path, start="excluded"))[0] == "2026-08-04"
    assert days(ask(path, end="excluded"))[-1] == "2026-08-06"
    assert days(ask(path, end="midnight"))[-1] == END
    assert days(ask(path, end="midnight", stamps="evening"))[-1] == "2026-08-06"


@pytest.mark.parametrize("more", SWITCHES["more"].values)
def test_each_way_of_paging_leads_to_the_last_page_or_says_nothing(ask, more):
    first = ask(f"signals/us-10y/observations?start={START}", page="100", more=more)
    assert len(days(first)) == 21
    whole = ask("signals/us-10y/observations", page="1000", more=more)
    assert len(days(whole)) == 1_000
    told = {name for name in whole.json() if name != "data"} | ({"Link"} & set(map(str.title, whole.headers)))
    assert bool(told) == (more != "unsaid")


def test_recent_history_and_window_may_differ(ask):
    path = "signals/us-cpi"
    assert ask(path, detail_stamps="evening").json()["data"]["latest"]["observed_at"].endswith("T21:00:00Z")
    assert len(ask(f"{path}?history=365", history="cap-100").json()["data"]["history"]) == 100
    assert ask(path, detail_values="one-decimal").json()["data"]["latest"]["value"] == 162.9
    assert ask(f"{path}/observations", newest="detail-only").json()["data"][-1]["observed_at"].startswith("2026-07")


def test_headers_unknown_names_and_packing_are_told_as_the_switches_say(ask):
    assert ask("indices", headers="grouped").headers["x-service-ratelimit-cap"] == "50,000"
    assert ask("signals/no-such", unknown="html-404").headers["content-type"].startswith("text/html")
    assert ask("signals/no-such", unknown="null-200").json() == {"data": None}
    assert ask("indices", packing="always").headers["content-encoding"] == "gzip"


def test_requests_of_a_variant_are_counted_and_refused_like_all(service, ask):
    before = service.store.usage(service.key)
    ask("signals/us-cpi", page="300")
    assert service.store.usage(service.key) == before + 1
    with running(service.store, variant={"page": "300"}) as variant:
        assert httpx.get(f"{variant.url}/v1/indices").status_code == 401


@pytest.mark.parametrize("settings", [["sort=newest"], ["end=never"], ["end"]])
def test_a_switch_or_value_that_there_is_none_of_is_refused(settings):
    with pytest.raises(ValueError, match=r"is no switch|not '"):
        Variant.parse(settings)


def test_a_variant_names_what_is_unusual():
    variant = Variant.parse(["end=excluded", "page=1000"])
    assert (str(variant), variant["end"], variant["page"]) == ("end=excluded", "excluded", "1000")


@pytest.mark.parametrize("name", SWITCHES)
def test_every_value_of_a_switch_answers_every_endpoint(ask, name):
    for value in SWITCHES[name].values[1:]:
        for path in ("signals", "signals/us-cpi", "signals/us-cpi/observations?start=2026-01-01", "indices", "almanac"):
            assert ask(path, **{name: value}).status_code == 200
