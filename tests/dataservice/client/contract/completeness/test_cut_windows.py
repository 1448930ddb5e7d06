"""Services that refuse long windows, cut them or hide what is old: what is learned of it, and what is shown then."""

import asyncio
from datetime import UTC, date, datetime, time, timedelta

import httpx
import pytest

from dataservice.client import AsyncClient, CurrentsResource, HistoryResource, SignalResource
from dataservice.client.cache.history import FULL_PULL_S
from dataservice.errors import MalformedAnswerError
from dataservice.server import create_app
from dataservice.server.variants import Variant, VariantMiddleware
from dataservice.stores import MemoryStore
from tests.dataservice.client.parts.clocks import Clock
from tests.embedded import SAMPLE_AS_OF

WHOLE = HistoryResource("us-10y")


@pytest.fixture
def clock():
    """A clock that stands at noon of the day of the sample."""
    return Clock(datetime.combine(SAMPLE_AS_OF, time(12), UTC).timestamp())


@pytest.fixture
def of_variant(sample_service, clock):
    """Make a client of a variant of the service, on the day of the sample."""

    def of_variant(setting: str = "", through=lambda transport: transport, store=None) -> AsyncClient:
        variant = Variant.parse(setting.split())
        app = VariantMiddleware(create_app(sample_service.store), sample_service.store, variant)
        transport = through(httpx.ASGITransport(app))
        return AsyncClient("https://data.example", sample_service.key, clock=clock, transport=transport, store=store)

    return of_variant


@pytest.mark.parametrize(
    ("how", "longest_days", "is_cut"),
    [
        ("year-refused", 362, False),
        ("five-years-refused", 1_821, False),
        ("year-newest", 0, True),
        ("1000-newest", 0, True),
    ],
)
async def test_a_window_is_whole_in_parts_where_longer_ones_are_refused_or_cut(of_variant, how, longest_days, is_cut):
    async with of_variant() as plain:
        whole = (await plain.read(WHOLE)).value
    async with of_variant(f"window-longest={how}") as client:
        assert (await client.read(WHOLE)).value == whole
        seen = client._reader.evidence.now
    assert (seen.longest_days, seen.cuts_windows, seen.hidden_until) == (longest_days, is_cut, None)


class EveryOtherLater(httpx.AsyncBaseTransport):
    """Another transport, every other answer of which comes some turns later."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner
        self._sent = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self._sent += 1
        turns = 300 * (self._sent % 2)
        response = await self._inner.handle_async_request(request)
        for _ in range(turns):
            await asyncio.sleep(0)
        return response


async def test_how_long_windows_may_be_is_found_out_for_several_signals_at_a_time(of_variant):
    wanted = [HistoryResource(slug) for slug in ("btc-usd", "us-cpi", "fx.eur-usd", "sp-500")]
    async with of_variant() as plain:
        whole = [(await plain.read(each)).value for each in wanted]
    async with of_variant("window-longest=year-refused-unsaid", EveryOtherLater) as client:
        found = await asyncio.gather(*map(client.read, wanted))
    assert [each.value for each in found] == whole


class HeldBack(httpx.AsyncBaseTransport):
    """Another transport, whose answers about one signal are held back."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner
        self.released = asyncio.Event()
        self.refused = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._inner.handle_async_request(request)
        if "/btc-usd/" in request.url.path:
            self.refused += response.status_code == httpx.codes.BAD_REQUEST
            await self.released.wait()
        return response


async def test_a_signal_whose_window_was_refused_goes_by_what_another_one_found_out_meanwhile(of_variant):
    held = []

    def through(transport):
        held.append(HeldBack(transport))
        return held[0]

    async with of_variant("window-longest=year-refused-unsaid", through) as client:
        late = asyncio.ensure_future(client.read(HistoryResource("btc-usd")))
        await client.read(HistoryResource("us-cpi"))
        held[0].released.set()
        assert len((await late).value) > 2_000
    assert held[0].refused <= 2  # with the ends of time, and with nearer ones


@pytest.mark.parametrize("is_detail_first", [True, False])
async def test_windows_that_begin_behind_what_the_detail_shows_are_refused(of_variant, is_detail_first):
    async with of_variant("window-longest=from-a-year-ago") as client:
        if is_detail_first:
            await client.read(SignalResource("us-10y"))
        with pytest.raises(MalformedAnswerError, match="detail shows"):
            await client.read(WHOLE)
        assert client._reader.evidence.now.hidden_until


async def test_a_window_before_the_rows_of_a_detail_is_not_empty_where_windows_do_not_reach_these(of_variant):
    async with of_variant("window-longest=from-a-year-ago") as client:
        await client.read(HistoryResource("btc-usd"))
        await client.read(SignalResource("btc-usd"))  # detail and windows agree as far as these reach
        await client.read(SignalResource("fx.eur-usd"))
        with pytest.raises(MalformedAnswerError, match="where its detail shows"):
            await client.read(HistoryResource("fx.eur-usd", date(2022, 1, 3)))
        assert client._reader.evidence.now.hidden_until


@pytest.mark.parametrize("how", ["year-newest", "year-oldest"])
async def test_a_window_that_is_cut_is_whole_again_once_all_of_it_is_pulled_again(of_variant, clock, how):
    async with of_variant(f"window-longest={how}") as client:
        whole = await client.read(HistoryResource("us-cpi"))
        clock.now += FULL_PULL_S
        again = await client.read(HistoryResource("us-cpi"))
    assert again.stale_because is None
    assert (again.value, again.fetched_at) == (whole.value, clock.now)


@pytest.mark.parametrize("how", ["year-newest", "year-oldest", "ten-years-newest", "1000-newest"])
@pytest.mark.parametrize("slug", ["us-cpi", "us-10y"])
async def test_rows_that_a_window_leaves_out_are_not_gone_to_a_process_that_saw_no_window_cut(
    of_variant, clock, how, slug
):
    setting, store = f"window-longest={how}", MemoryStore()
    async with of_variant(setting, store=store) as client, of_variant(setting, store=store) as other:
        await other.read(CurrentsResource())
        whole = (await client.read(HistoryResource(slug))).value
        clock.now += 1_000.0
        await client.read(HistoryResource(slug, whole.last_day - timedelta(days=900)))
        clock.now += 1_000.0
        again = (await other.read(HistoryResource(slug))).value
        revisions = await other.revisions(slug)
    assert again == whole
    assert revisions.empty


@pytest.mark.parametrize("how", ["year-newest", "year-refused"])
async def test_a_refresh_asks_for_the_newest_part_alone_where_windows_are_cut_or_refused(of_variant, clock, how):
    async with of_variant(f"window-longest={how}") as client:
        whole = await client.read(HistoryResource("us-cpi"))
        sent = client.requests_sent
        clock.now += 1_000.0
        again = await client.read(HistoryResource("us-cpi"))
    assert (again.stale_because, again.value, again.fetched_at) == (None, whole.value, clock.now)
    assert client.requests_sent - sent <= 3  # its last thirty months, a year at a time
