"""SIGNAL shows what a fresh history in memory tells, at no request, also where no request may be sent any more."""

import httpx
import pytest

from dataservice.client import AsyncClient, CatalogueResource, HistoryResource, SignalResource
from tests.attack.parts.cold_world import ColdWorld
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import KEY, URL
from udfs.cells import CellError
from udfs.engine.session import Call, Session


class Asked:
    """A session on a service that counts."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.world = ColdWorld(self.clock)
        transport = httpx.MockTransport(self.world)
        self.client = AsyncClient(URL, KEY, transport=transport, clock=self.clock, sleep=self.clock.sleep)

    async def __call__(self, *call):
        (outcome,) = await Session(self.client, clock=self.clock).answer([Call(call[0], call[1:])])
        return outcome.result


@pytest.mark.parametrize("day", [None, "2026-08-01", "2025-12-31"])
@pytest.mark.parametrize("field", ["value", "observed_at", "change"])
async def test_after_its_history_a_value_costs_no_request_and_is_the_same(field, day):
    asked, alone = Asked(), Asked()
    await asked("SIGNAL_HISTORY", "us-10y", "MAX")
    before = asked.world.counted
    assert await asked("SIGNAL", "us-10y", field, day) == await alone("SIGNAL", "us-10y", field, day)
    assert asked.world.counted == before


async def test_what_only_the_detail_tells_is_asked_for():
    asked = Asked()
    await asked("SIGNAL_HISTORY", "us-10y", "MAX")
    before = asked.world.counted
    assert await asked("SIGNAL", "us-10y", "unit") == "percent"
    assert asked.world.counted == before + 1


async def test_a_detail_comes_out_of_a_whole_history_and_the_catalogue():
    asked = Asked()
    await asked.client.read(CatalogueResource())
    for history, requests in ((HistoryResource("us-gdp"), 0), (HistoryResource("us-cpi", start="2020-01-01"), 1)):
        await asked.client.read(history)
        before = asked.world.counted
        detail = (await asked.client.read(SignalResource(history.slug))).value
        assert (detail.signal.unit, detail.latest.value) == ("percent", detail.history.values[-1])
        assert asked.world.counted == before + requests, "a part of a series is no detail: it would look like the whole"


async def test_when_the_months_requests_are_used_up_a_fresh_history_still_shows_values(monkeypatch):
    asked = Asked()
    await asked("SIGNAL_HISTORY", "us-10y", "MAX")
    monkeypatch.setattr("tests.attack.parts.cold_world.CAP", asked.world.counted + 1)
    await asked("SIGNAL", "us-cpi")
    before = asked.world.counted
    assert isinstance(await asked("SIGNAL", "us-10y", "unit"), CellError)
    assert isinstance(await asked("SIGNAL", "us-10y"), float)
    assert asked.world.counted == before
