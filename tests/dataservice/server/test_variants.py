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


@pytest.mark.parametrize("name", [name for name in SWITCHES if name not in ("one-signal", "prepared")])
def test_every_value_of_a_switch_answers_every_endpoint(ask, name):
    for value in SWITCHES[name].values[1:]:
        for path in ("signals", "signals/us-cpi", "signals/us-cpi/observations?start=2026-01-01", "indices", "almanac"):
            assert ask(path, **{name: value}).status_code == 200


def test_a_catalogue_may_change_its_order_or_ignore_where_a_page_begins(ask):
    pages = [[row["slug"] for row in ask(f"signals?offset={n}", catalogue_page="5").json()["data"]] for n in (0, 5)]
    deaf = [ask(f"signals?offset={n}", catalogue_page="5", catalogue_offset="ignored").json()["data"] for n in (0, 5)]
    other = ask("signals?offset=5", catalogue_page="5", catalogue_order="shuffled").json()["data"]
    assert deaf[0] == deaf[1]
    assert [row["slug"] for row in other] != pages[1]


def test_posts_and_items_come_in_pages_some_without_a_time(ask):
    told = ask("wire?limit=200", feed_page="20", feed_more="truncated", undated="absent").json()
    assert (len(told["data"]), told["truncated"]) == (20, True)
    assert ["published_at" in row for row in told["data"]][:3] == [True, False, True]
    assert ask("codex?offset=3", feed_page="3").json() != ask("codex", feed_page="3").json()


@pytest.mark.parametrize("status", ["401", "402", "403"])
def test_one_signal_may_be_closed_to_a_key(ask, status):
    assert ask("signals/us-cpi", one_signal=status).status_code == int(status)
    assert ask("signals/us-10y", one_signal=status).status_code == 200


def test_a_window_may_be_prepared_first_a_slug_told_otherwise_and_letters_in_another_set(ask):
    prepared = ask("signals/us-10y/observations", prepared="202")
    assert (prepared.status_code, prepared.headers["Retry-After"]) == (202, "1")
    assert ask("signals/us-10y", alias="prefixed").json()["data"]["slug"] == "src:us-10y"
    assert "é" in ask("signals/us-10y", charset="windows-1252").content.decode("windows-1252")
    assert ask("signals", headers="nought").headers["X-Service-RateLimit-Cap"] == "0"
