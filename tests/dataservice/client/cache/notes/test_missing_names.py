"""Names that do not exist: asked once for all processes, and looked up together once there are several."""

import asyncio

import httpx
import pytest

from dataservice.client import AsyncClient, CatalogueResource, HistoryResource, SignalDetail, SignalResource
from dataservice.client.unknown_names import MANY_NAMES, RampUp, tried_at_once
from dataservice.errors import MalformedAnswerError, NotFoundError, UnavailableError
from dataservice.server import create_app
from dataservice.stores import MemoryStore
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer, refusal, signal
from tests.dataservice.client.test_sharing import open_store  # noqa: F401  a fixture
from tests.dataservice.stores.stores import redis_url  # noqa: F401  a fixture

X = SignalResource("x")


def without(*known: str) -> Scripted:
    """A service that knows these signals only, each with one observation."""

    def say(request):
        parts = request.url.path.split("/")
        if len(parts) == 3:
            rows = [{"slug": slug, "name": slug} for slug in known]
            return answer(rows, pagination={"limit": 500, "offset": 0, "total": len(rows)})
        if parts[3] not in known:
            return refusal(404)
        return answer(signal(parts[3]) if len(parts) == 4 else [])

    return Scripted(say)


@pytest.mark.parametrize("resource", [X, HistoryResource("x")])
async def test_a_name_that_does_not_exist_costs_a_second_process_nothing(open_store, resource):  # noqa: F811
    clock, service = Clock(), without()
    for _ in range(2):
        async with open_store() as store, service.client(clock, store=store) as client:
            with pytest.raises(NotFoundError, match="no signal 'x'"):
                await client.read(resource)
            assert await client.cost([resource]) == 0
    assert len(service.requests) == 1


async def test_a_name_that_does_not_exist_has_no_history_in_a_second_process_either():
    clock, service, store = Clock(), without(), MemoryStore()
    for resource in (X, HistoryResource("x", "2020-01-01")):
        async with service.client(clock, store=store) as client:
            with pytest.raises(NotFoundError):
                await client.read(resource)
    assert len(service.requests) == 1


@pytest.mark.parametrize("later", ["five minutes", "refresh"])
async def test_a_name_is_asked_for_again_after_five_minutes_or_at_refresh(later):
    clock, store = Clock(), MemoryStore()
    async with without().client(clock, store=store) as client:
        with pytest.raises(NotFoundError):
            await client.read(X)
    async with without("x").client(clock, store=store) as client:
        with pytest.raises(NotFoundError):
            await client.read(X)
        if later == "refresh":
            await client.refresh()
        else:
            clock.advance(300)
        assert (await client.read(X)).requests == 1
        assert len((await client.read(HistoryResource("x"))).value) == 1
    async with without().client(clock, store=store) as client:
        assert (await client.read(X)).requests == 0


async def test_a_signal_that_vanished_keeps_its_last_known_value_in_every_process():
    clock, store = Clock(), MemoryStore()
    async with without("x").client(clock, store=store) as client:
        await client.read(X)
    clock.advance(1_000)
    for _ in range(2):
        async with without().client(clock, store=store) as client:
            found = await client.read(X)
            assert (found.value.latest.value, type(found.stale_because)) == (1.0, NotFoundError)


async def test_a_process_that_waited_for_the_same_unknown_name_does_not_ask_for_it_too():
    clock, service = Clock(), without()

    class Late(MemoryStore):
        """Another process is told that there is no such name, right after this one looked."""

        shared = True
        meanwhile = None

        async def claim(self, name, owner, ttl_s):
            if self.meanwhile is not None:
                go, self.meanwhile = self.meanwhile, None
                with pytest.raises(NotFoundError):
                    await go()
            return await super().claim(name, owner, ttl_s)

    for resource in (X, HistoryResource("y")):
        store = Late(clock=clock)
        async with service.client(clock, store=store) as other, service.client(clock, store=store) as client:
            await client.last_known(resource)
            store.meanwhile = lambda other=other, resource=resource: other.read(resource)
            with pytest.raises(NotFoundError):
                await client.read(resource)
    assert len(service.requests) == 2


@pytest.mark.parametrize(("ask", "names"), [("signal", 1), ("observations", 3)])
async def test_a_loop_over_unknown_names_costs_few_of_them_and_a_catalogue_in_all_processes(ask, names):
    """A detail of a name with a dot that is a 404 may be one of those that only windows know: the catalogue tells."""
    clock, service, store = Clock(), without("x"), MemoryStore()
    for process in range(2):
        async with service.client(clock, store=store) as client:
            for number in range(120):
                with pytest.raises(NotFoundError, match="no signal"):
                    await getattr(client, ask)(f"unknown.{process}-{number}")
            assert (await client.signal("x")).latest.value == 1.0
    assert len(service.requests) == names + 1 + 1


async def test_a_listed_name_with_a_dot_is_read_from_its_window_where_its_detail_is_a_404_also_cold():
    def say(request):
        parts = request.url.path.split("/")
        if len(parts) == 3:
            return answer([{"slug": "eia.wti", "name": "WTI"}])
        if len(parts) == 4:
            return refusal(404)
        return answer([{"observed_at": "2026-07-01T00:00:00Z", "value": 70.5}])

    service = Scripted(say)
    async with service.client(Clock()) as client:
        assert (await client.signal("eia.wti")).latest.value == 70.5


async def test_names_that_exist_are_not_looked_up():
    service = without(*(f"s.{number}" for number in range(20)))
    async with service.client() as client:
        for number in range(20):
            await client.signal(f"s.{number}")
    assert len(service.requests) == 20


@pytest.mark.parametrize("ask", ["signal", "observations"])
@pytest.mark.parametrize(("known", "unknown"), [(0, 240), (240, 0), (120, 120)])
async def test_of_names_asked_for_at_the_same_time_few_go_first(ask, known, unknown):
    listed = [f"s-{number}" for number in range(known)]
    service, spread = without("x", *listed), [f"unknown-{number}" for number in range(unknown)]
    async with service.client() as client:
        found = await asyncio.gather(
            *(getattr(client, ask)(name) for name in [*listed, *spread]), return_exceptions=True
        )
    assert sum(isinstance(each, NotFoundError) for each in found) == unknown
    assert len(service.requests) <= known + max(tried_at_once(known), MANY_NAMES - 1) + 1


async def test_two_names_asked_for_at_the_same_time_do_not_wait_for_each_other():
    both = asyncio.Barrier(2)

    async def say(request):
        await both.wait()
        return answer(signal(request.url.path.rpartition("/")[2]))

    async with Scripted(say).client() as client:
        found = await asyncio.gather(client.signal("a"), client.signal("b"))
    assert [each.signal.slug for each in found] == ["a", "b"]


@pytest.mark.parametrize(("wait_s", "error"), [(0.0, None), (60.0, UnavailableError("away"))])
async def test_no_call_waits_long_for_what_others_find_out(wait_s, error):
    ramp_up, many, under_way = RampUp(asyncio.sleep, wait_s=wait_s), asyncio.Event(), 0

    async def call():
        nonlocal under_way
        async with ramp_up.turn():
            under_way += 1
            if under_way == 40:
                many.set()
            if error:
                raise error
            await many.wait()

    calls = await asyncio.gather(*(call() for _ in range(40)), return_exceptions=True)
    assert (under_way, set(calls)) == (40, {error})


async def test_where_the_catalogue_cannot_be_had_the_name_itself_is_asked_for():
    service = without("x")
    known = service.handler
    service.handler = lambda request: refusal(402) if request.url.path == "/v1/signals" else known(request)
    async with service.client() as client:
        for number in range(5):
            with pytest.raises(NotFoundError):
                await client.signal(f"unknown.{number}")
        assert (await client.signal("x")).latest.value == 1.0


async def test_a_new_signal_is_found_an_hour_after_the_catalogue():
    clock, names = Clock(), ["x"]
    service = Scripted(lambda request: without(*names).handler(request))
    async with service.client(clock) as client:
        await client.signals()
        names.append("y")
        with pytest.raises(NotFoundError):
            await client.signal("y")
        clock.advance(3_601)
        assert (await client.signal("y")).latest.value == 1.0


async def test_a_listed_name_with_a_dot_that_has_no_detail_is_read_from_its_observations(sample_service):
    inner = httpx.ASGITransport(create_app(sample_service.store))

    class Dotless(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            if request.url.path.endswith(("cboe.vix", "no.such")):
                return httpx.Response(404, json={"error": "signal not found"})
            return await inner.handle_async_request(request)

    async def asked(transport: httpx.AsyncBaseTransport, slug: str) -> tuple[SignalDetail, int]:
        async with AsyncClient(
            "https://data.example", sample_service.key, transport=transport, clock=Clock()
        ) as client:
            await client.read(CatalogueResource())
            sent = client.requests_sent
            detail = await client.signal(slug)
            return detail, client.requests_sent - sent

    usual, _ = await asked(inner, "cboe.vix")
    found, sent = await asked(Dotless(), "cboe.vix")
    assert found.latest == usual.latest
    assert found.history == usual.history[-len(found.history) :]
    assert len(found.history) > 200
    assert sent == 2
    with pytest.raises(NotFoundError):
        await asked(Dotless(), "no.such")


@pytest.mark.parametrize("pagination", [None, {"limit": 500, "offset": 0, "total": 0}, {"total": 60}])
async def test_an_empty_catalogue_is_an_error_and_the_known_one_stays(pagination):
    says_nothing = False

    def say(request):
        rows = [] if says_nothing else [{"slug": "us-cpi", "name": "CPI"}]
        told = {"limit": 500, "offset": 0, "total": 1} if rows else pagination
        return answer(rows, **({} if told is None else {"pagination": told}))

    clock, service = Clock(), Scripted(say)
    async with service.client(clock) as client:
        assert len((await client.read(CatalogueResource())).value) == 1
        clock.advance(2 * 86_400)
        says_nothing = True
        known = await client.read(CatalogueResource())
        assert (len(known.value), "lists no signal at all" in str(known.stale_because)) == (1, True)
    async with service.client(clock) as client:
        with pytest.raises(MalformedAnswerError, match="lists no signal at all"):
            await client.read(CatalogueResource())
