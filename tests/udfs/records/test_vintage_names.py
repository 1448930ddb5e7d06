"""Names of signals in what asks for the past: a process without a catalogue finds what one with a catalogue finds."""

from __future__ import annotations

from datetime import UTC, date, datetime

import httpx
import pytest

from dataservice.client import CatalogueResource, HistoryResource, Refresh, SignalResource
from dataservice.stores import MemoryStore
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer, refusal
from tests.udfs.parts.asking import cells
from udfs.cells import CellError
from udfs.engine.session import Call, Session

SHORTCODES = {"us-cpi": "CPI", "eia.wti.spot": "WTI", "gold": None}
NAMES = {"us-cpi": ("us-cpi", "CPI", "US-CPI", "Us-Cpi", "cpi"), "eia.wti.spot": ("WTI", "EIA.WTI.SPOT", "wti")}
ALL_NAMES = [name for names in NAMES.values() for name in names]
DAY = "asof=2026-08-01"


class Service:
    """Three signals with the value 1 on 1 August, and 2 from the next day on; each process shares one store."""

    def __init__(self) -> None:
        self.clock = Clock(datetime(2026, 8, 1, 12, tzinfo=UTC).timestamp())
        self.store = MemoryStore(clock=self.clock)
        self.scripted = Scripted(self._say)

    def _say(self, request: httpx.Request) -> httpx.Response:
        parts = request.url.path.split("/")[3:]
        if not parts:
            return answer([self._record(slug) for slug in SHORTCODES], total=3)
        if parts[0] not in SHORTCODES:
            return refusal(404)
        value = 1.0 if self.clock.now < datetime(2026, 8, 2, tzinfo=UTC).timestamp() else 2.0
        rows = [{"observed_at": "2026-07-01T00:00:00Z", "value": value}]
        return answer(rows if len(parts) > 1 else {**self._record(parts[0]), "latest": rows[0], "history": rows})

    def _record(self, slug: str) -> dict[str, str | None]:
        return {"slug": slug, "name": slug, "shortcode": SHORTCODES[slug]}

    def process(self) -> Session:
        """A process that knows what the store holds, and nothing else."""
        self.scripted.requests.clear()
        return Session(self.scripted.client(self.clock, store=self.store), clock=self.clock)

    async def look(self, *resources) -> None:
        """Look today, in another process, and let three days pass."""
        client = self.process().client
        for resource in resources:
            await client.read(resource)
        self.clock.advance(3 * 86_400)


@pytest.mark.parametrize("name", ALL_NAMES)
async def test_a_name_says_the_same_with_and_without_a_catalogue(name):
    with_catalogue, without = Service(), Service()
    await with_catalogue.look(CatalogueResource(), SignalResource("us-cpi"), SignalResource("eia.wti.spot"))
    await without.look(SignalResource("us-cpi"), SignalResource("eia.wti.spot"))
    said = []
    for service in (with_catalogue, without):
        process = service.process()
        shown = [
            await cells(process, "SIGNAL", name, "value", None, DAY),
            await cells(process, "SIGNAL_HISTORY", name, "N1", None, f"{DAY}; header=none"),
            await cells(process, "SPARK", name, "N1", 40, DAY),
            await cells(process, "SIGNAL", name, "value", None, f"{DAY}; vintage=first"),
            await cells(process, "REVISIONS", name, "2026-07-01"),
        ]
        assert set(service.scripted.targets) <= {"/v1/signals?limit=500"}
        said.append(shown)
    assert said[0][:4] == [1.0, [(date(2026, 7, 1), 1.0)], "▄", 1.0]
    assert said[0] == said[1]


@pytest.mark.parametrize("name", ["us-cpi", "CPI", "US-CPI", "Us-Cpi", "WTI", "EIA.WTI.SPOT", "unseen.slug"])
async def test_a_name_that_kept_answers_settle_costs_no_request(name):
    service = Service()
    await service.look(SignalResource("us-cpi"), SignalResource("eia.wti.spot"))
    process = service.process()
    shown = await cells(process, "SIGNAL", name, "value", None, DAY)
    assert (await process.cost([Call("SIGNAL", [name, "value", None, DAY])])).cost.at_most == 0
    assert shown == 1 or (name == "unseen.slug" and "nobody looked at it yet" in shown.message)
    assert service.scripted.targets == []


async def test_a_shortcode_that_no_kept_answer_tells_is_looked_up_in_the_catalogue_once():
    service = Service()
    await service.look(HistoryResource("eia.wti.spot"))
    calls = [Call("SIGNAL", [name, "value", None, DAY]) for name in ("WTI", "wti", "CPI", "eia.wti.spot") * 5]
    process = service.process()
    assert (await process.cost(calls)).cost.at_least == 1
    shown = [outcome.result for outcome in await process.answer(calls)]
    assert [shown[place] for place in (0, 1, 3)] == [1, 1, 1]
    assert isinstance(shown[2], CellError)
    await cells(process, "SIGNAL", "NOPE", "value", None, DAY)
    assert service.scripted.targets == ["/v1/signals?limit=500"]
    later = service.process()
    service.clock.advance(90 * 86_400)
    assert await cells(later, "SIGNAL", "WTI", "value", None, DAY) == 1
    assert service.scripted.targets == []


async def test_where_nobody_looked_at_anything_no_name_costs_a_request():
    service = Service()
    await service.look()
    process = service.process()
    for name in (*ALL_NAMES, "NOPE"):
        for function in ("SIGNAL", "SPARK", "SIGNAL_HISTORY"):
            shown = await cells(process, function, name, None, None, DAY)
            assert "nobody looked at it yet" in shown.message
    assert service.scripted.targets == []


async def test_revisions_find_a_shortcode_that_another_cell_of_the_batch_has_looked_up():
    service = Service()
    process = service.process()
    calls = [
        Call("REVISIONS", ["CPI", "2026-07-01"]),
        Call("SIGNAL", ["CPI", "value", None, "asof=2026-07-31"]),
        Call("SIGNAL", ["CPI"]),
        Call("SIGNAL", ["CPI", "value", None, "vintage=first"]),
    ]
    changes, past, present, first = [outcome.result for outcome in await process.answer(calls)]
    assert changes.frame()["value"].tolist() == [1.0]
    assert "the first look was on 2026-08-01" in past.message or "nobody looked at it yet" in past.message
    assert (present, first) == (1, 1)
    assert service.scripted.targets == ["/v1/signals?limit=500", "/v1/signals/us-cpi?history=365"]


async def test_a_preview_after_a_refresh_does_not_count_names_that_are_settled():
    service = Service()
    await service.look(SignalResource("us-cpi"))
    process = service.process()
    call = Call("REVISIONS", ["CPI"])
    for after in (None, *Refresh):
        assert (await process.cost([call], after=after)).cost.at_most == 0
