"""EXPLAIN: where a number comes from, and what speaks for it."""

import pytest

from dataservice.client import AsyncClient
from dataservice.models import Post
from tests.udfs.parts.asking import Canned, cells, records, session_on
from udfs.cells import ErrorCode
from udfs.engine.session import Session
from udfs.functions.explain import LOCKED, Subject, posts_citing

START = 1_788_220_800.0

SIGNAL = {
    "slug": "odd",
    "name": "(odd) [name",
    "unit": None,
    "description": "d" * 40_000,
    "region": "EU",
    "a.b": [1, 2],
    "latest": None,
    "history": [],
}


def told(rows):
    """Return the rows as a mapping, the first of each kind."""
    return {what: value for what, value, _ in reversed(rows[1:])}


async def test_a_signal_is_explained_from_definition_to_cost(service):
    async with session_on(service) as session:
        rows = await cells(session, "EXPLAIN", "us-cpi")
    assert rows[0] == ("what", "value", "link")
    shown = told(rows)
    assert shown["signal"] == "us-cpi"
    assert (shown["definition"], shown["unit"], shown["source"]) == ("All items", "index 2010=100", "Made-up data")
    assert shown["endpoint"] == "GET /v1/signals/us-cpi"
    assert (shown["state"], shown["answered from"], shown["requests it cost"]) == ("fresh", "network", 1)
    assert isinstance(shown["value"], float)


async def test_the_wire_items_that_name_it_and_the_posts_that_cite_them_are_linked(service, sample_data):
    items, posts = (records(sample_data, name) for name in ("wire.jsonl", "codex.jsonl"))
    naming = {item["id"] for item in items.values() if "us-10y" in item["signal_slugs"]}
    citing = [
        post["title"] for post in posts.values() if naming & {cited["wire_item_id"] for cited in post["citations"]}
    ]
    async with session_on(service) as session:
        rows = await cells(session, "EXPLAIN", "us-10y")
    shown_items = {(title, link) for what, title, link in rows if what.startswith("wire item 2026-")}
    shown_posts = [title for what, title, _ in rows if what.startswith("post 2026-")]
    assert len(shown_items) == min(10, len(naming))
    assert shown_items <= {(items[each]["headline"], items[each]["primary_url"]) for each in naming}
    assert citing
    assert set(citing) <= set(shown_posts) or len(shown_posts) == 10
    assert told(rows)["wire items"] == f"{len(naming)} among all {len(items)}"


async def test_explaining_many_numbers_costs_two_requests_more_than_the_numbers(service):
    async with session_on(service) as session:
        for slug in ("us-cpi", "us-10y", "wb.gold", "us-cpi"):
            await cells(session, "EXPLAIN", slug)
    assert service.running.request_count == 3 + 2


async def test_evidence_up_to_a_day_old_costs_nothing_again(service):
    now = [START]
    async with AsyncClient(service.url, service.key, clock=lambda: now[0]) as client:
        session = Session(client, clock=lambda: now[0])
        await cells(session, "EXPLAIN", "us-cpi")
        now[0] += 80_000
        await cells(session, "EXPLAIN", "us-cpi")
    assert service.running.request_count == 4


async def test_a_locked_wire_is_a_row_and_no_error(service):
    async with session_on(service, tier="free") as session:
        shown = told(await cells(session, "EXPLAIN", "us-cpi"))
    assert shown["wire items"] == LOCKED
    assert "among all" in shown["posts"]


async def test_a_wire_that_is_known_to_be_locked_is_not_asked(service):
    async with session_on(service, tier="free") as session:
        await cells(session, "SIGNAL", "us-cpi")
        assert told(await cells(session, "EXPLAIN", "us-cpi"))["wire items"] == LOCKED
    assert service.running.requests == ["/v1/signals/us-cpi?history=365", "/v1/codex?limit=200"]


async def test_evidence_that_cannot_be_had_is_a_row_that_says_why():
    service = Canned({"/v1/signals/odd": SIGNAL, "/v1/wire": 402, "/v1/codex": 404})
    shown = told(await service("EXPLAIN", "odd"))
    assert shown["wire items"].startswith("the wire needs the Pro tier")
    assert shown["posts"]


async def test_a_signal_without_observations_is_explained_with_what_there_is():
    service = Canned({"/v1/signals/odd": SIGNAL, "/v1/wire": [], "/v1/codex": []})
    shown = told(await service("EXPLAIN", "odd"))
    assert "value" not in shown
    assert shown["unit"] is None
    assert (shown["region"], shown["a.b"]) == ("EU", "1, 2")
    assert len(shown["definition"]) == 32_767
    assert shown["wire items"] == "0 among all 0"


async def test_an_index_and_a_current_that_the_workbook_shows_are_explained_too(service, sample_data):
    risk = records(sample_data, "indices.json")["risk-dial"]
    tide = records(sample_data, "currents.json")["digital-tide"]
    async with session_on(service) as session:
        await cells(session, "INDICES")
        await cells(session, "CURRENTS")
        index = told(await cells(session, "EXPLAIN", "Risk-Dial"))
        current = told(await cells(session, "EXPLAIN", "digital-tide"))
    assert (index["index"], index["value"]) == ("risk-dial", risk["latest"]["value"])
    assert index["endpoint"] == "GET /v1/indices"
    assert index["components"] == ", ".join(component["signal_slug"] for component in risk["components"])
    assert (current["momentum_score"], current["definition"]) == (tide["momentum_score"], tide["phrase"])
    assert not current["wire items"].startswith("0")


@pytest.mark.parametrize("name", ["nope", "no.such", "NOPE"])
@pytest.mark.parametrize("before", [(), ("SIGNALS",), ("SIGNAL", "us-cpi")], ids=str)
async def test_an_unknown_name_costs_what_its_number_does(service, name, before):
    spent = []
    for function in ("SIGNAL", "EXPLAIN"):
        async with session_on(service) as session:
            if before:
                await cells(session, *before)
            count = service.running.request_count
            assert (await cells(session, function, name)).code is ErrorCode.NA
            spent.append(service.running.request_count - count)
    assert spent[0] == spent[1]


async def test_an_unknown_name_is_an_error(service):
    async with session_on(service) as session:
        shown = await cells(session, "EXPLAIN", "us-cpii")
    assert shown.code is ErrorCode.NA
    assert shown.message.startswith("no signal 'us-cpii'")


async def test_a_number_that_is_the_last_known_one_says_so(service):
    now = [START]
    async with AsyncClient(service.url, service.key, clock=lambda: now[0]) as client:
        session = Session(client, clock=lambda: now[0])
        await cells(session, "EXPLAIN", "us-cpi")
        service.running.stop()
        now[0] += 5_000
        shown = told(await cells(session, "EXPLAIN", "us-cpi"))
    assert shown["state"].startswith("stale: the service did not answer")
    assert shown["age (seconds)"] == 5_000


def test_a_post_names_a_signal_only_by_its_whole_slug_or_name():
    subject = Subject("wb.gold", "Gold price")
    texts = {"a": "wb.gold up", "b": "GOLD PRICE falls", "c": "Gold prices"}
    posts = [Post(slug=slug, body_md=text) for slug, text in texts.items()]
    assert [post.slug for post in posts_citing(subject, [], posts)] == ["a", "b"]
