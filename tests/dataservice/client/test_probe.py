"""How a service answers what the contract leaves open, found out in at most eleven requests."""

import json
from datetime import UTC, datetime, time

import httpx
import pytest

from dataservice.client import AsyncClient, Budget, HistoryResource
from dataservice.client.contract.profile import VALID_S, Profile, encode
from dataservice.client.contract.profile import decode as decoded
from dataservice.client.probe import MOST_REQUESTS
from dataservice.errors import BudgetError
from dataservice.server import create_app
from dataservice.server.variants import Variant, VariantMiddleware
from dataservice.stores import MemoryStore
from tests.dataservice.client.parts.clocks import Clock as AnyClock
from tests.embedded import SAMPLE_AS_OF


class Clock(AnyClock):
    """A clock at noon of the day of the sample."""

    def __init__(self) -> None:
        super().__init__(datetime.combine(SAMPLE_AS_OF, time(12), UTC).timestamp())


DIFFERENT = [
    ("start=excluded", "start"),
    ("end=excluded", "end"),
    ("no-start=year", "without start"),
    ("no-end=year", "without end"),
    ("far-dates=refused", "far dates"),
    ("page=997", "observations: page"),
    ("more=page-total", "observations: total"),
    ("more=link", "observations: what follows"),
    ("envelope=nested", "all: stands in"),
    ("record=two-values", "observation: fields"),
    ("times=millis", "observation: time"),
    ("values=text", "observation: value"),
    ("detail-stamps=evening", "detail and window: times"),
    ("detail-values=float32", "detail and window: values"),
    ("window-longest=year-refused", "windows: longest"),
    ("window-longest=year-newest", "windows"),
    ("window-longest=from-a-year-ago", "windows: oldest"),
    ("window-longest=1000-oldest", "observations: total"),
    ("forecasts=window", "days to come"),
    ("window-unit=percent", "detail and window: values"),
    ("window-stamps=two-days-later", "detail and window: times"),
    ("history-lag=one", "history: its newest"),
    ("window-lag=three", "the newest observation"),
    ("newest=window-only", "the newest observation"),
    ("history=days", "history"),
    ("history=cap-100", "history"),
    ("catalogue-page=5", "catalogue: pages"),
    ("collections=paged", "indices: pages"),
    ("wire-page=100", "wire: most items"),
    ("reading=beside-level", "an index: reading"),
    ("odd-record=nan", "wire: JSON"),
    ("headers=grouped", "quota headers"),
    ("unknown=null-200", "an unknown signal"),
    ("address=moved-301", "paths"),
    ("page-two=fails", "second page"),
]


@pytest.fixture
def of_variant(sample_service):
    """Make a client of a variant of the service, in memory."""

    def of_variant(setting: str = "", store=None, clock=None, key: str = "", **options) -> AsyncClient:
        variant = Variant.parse(filter(None, setting.split(",")))
        app = VariantMiddleware(create_app(sample_service.store), sample_service.store, variant)
        url = options.pop("url", "https://data.example")
        return AsyncClient(
            url,
            key or sample_service.key,
            store=store,
            clock=clock or Clock(),
            transport=httpx.ASGITransport(app),
            **options,
        )

    return of_variant


@pytest.mark.parametrize(("setting", "question"), DIFFERENT)
async def test_what_differs_is_named_with_what_was_found(of_variant, setting, question):
    async with of_variant(setting) as client:
        profile = await client.probe()
    assert question in [finding.question for finding in profile.deviations], profile.deviations
    assert profile.requests <= MOST_REQUESTS


async def test_a_refusal_of_the_length_is_not_told_as_one_of_far_dates(of_variant):
    async with of_variant("window-longest=year-refused") as client:
        profile = await client.probe()
    assert "far dates" not in [finding.question for finding in profile.findings]
    assert profile.evidence.bounds == 0


async def test_a_service_as_documented_is_passed_in_silence_and_the_count_is_right(of_variant, sample_service):
    async with of_variant() as client:
        before = sample_service.store.usage(sample_service.key)
        profile = await client.probe()
        assert profile.deviations == ()
        assert len(profile.findings) > 20
        spent = sample_service.store.usage(sample_service.key) - before
        described = 1  # which tells no quota, and so is not counted
        assert profile.requests == MOST_REQUESTS
        assert client.requests_sent == spent == MOST_REQUESTS - described


async def test_nothing_is_asked_where_the_requests_or_the_reserve_are_not_left(sample_service, of_variant):
    key = sample_service.store.create_key("free", cap=15)
    async with of_variant(key=key, budget=Budget(reserve=5)) as client:
        await client.indices()
        with pytest.raises(BudgetError, match="14 requests are left, and 5 are held in reserve; it may take 11"):
            await client.probe()
        assert client.requests_sent == 1


async def test_a_profile_is_kept_for_a_key_and_a_service_alone_and_for_thirty_days(of_variant, sample_service):
    clock, store = Clock(), MemoryStore()
    async with of_variant("page=300", store, clock) as client:
        made = await client.probe()
    async with of_variant("page=300", store, clock) as client:
        assert await client.profile() == made
        assert client._reader.evidence.now.most_rows == 300
    async with of_variant(store=store, clock=clock, url="https://other.example") as client:
        assert await client.profile() is None
    async with of_variant(store=store, clock=clock, key=sample_service.free_key) as client:
        assert await client.profile() is None
    clock.advance(VALID_S)
    async with of_variant("page=300", store, clock) as client:
        assert await client.profile() is None


async def test_after_a_probe_no_request_is_spent_on_showing_that_a_window_ends(of_variant):
    window = HistoryResource("us-10y", None, None)
    async with of_variant("more=unsaid") as client:
        cold = (await client.read(window)).requests
    async with of_variant("more=unsaid") as client:
        await client.probe()
        assert (await client.read(window)).requests <= cold


async def test_a_damaged_or_foreign_profile_counts_as_none(of_variant):
    store = MemoryStore()
    async with of_variant(store=store) as client:
        profile = await client.probe()
        assert decoded(encode(profile)) == profile
        old = Profile(profile.made_at, 1, (), version="v0")
        assert not old.holds(profile.made_at)


async def test_two_keys_and_two_services_keep_answers_and_profiles_apart(of_variant, sample_service):
    store, other_key = MemoryStore(), sample_service.store.create_key("pro")
    async with of_variant("page=300", store) as client:
        await client.probe()
        whole = await client.observations("us-10y")
    for setting, options in (("", {"url": "https://other.example"}), ("", {"key": other_key})):
        async with of_variant(setting, store, **options) as client:
            assert await client.last_known(HistoryResource("us-10y")) is None
            assert client._reader.evidence.now.most_rows == 0
            assert await client.observations("us-10y") == whole
            assert client.requests_sent == 2  # two pages of a thousand
    async with of_variant("page=300", store) as client:
        assert await client.observations("us-10y") == whole
        assert client.requests_sent == 0


@pytest.mark.parametrize("later", ["page=300,more=unsaid", "end=excluded,start=excluded", "envelope=items,record=date"])
async def test_a_service_that_changes_in_the_middle_of_the_month_is_read_as_it_is_now(of_variant, later):
    store = MemoryStore()
    async with of_variant("more=unsaid", store) as client:
        await client.probe()
        wti = await client.observations("eia.wti.spot")
    async with of_variant(later, store) as client:
        assert client.requests_sent == 0
        whole = await client.observations("us-10y")
        async with of_variant() as plain:
            assert whole == await plain.observations("us-10y")
        assert await client.observations("eia.wti.spot") == wti


async def test_a_connection_that_breaks_late_loses_nothing_of_what_a_probe_has_found(sample_service):
    variant = Variant.parse(["end=excluded"])
    inner = httpx.ASGITransport(VariantMiddleware(create_app(sample_service.store), sample_service.store, variant))

    class Breaking(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            if request.url.path in ("/openapi.json", "/v1/wire"):
                raise httpx.ReadError("reset", request=request)
            return await inner.handle_async_request(request)

    async with AsyncClient("https://data.example", sample_service.key, transport=Breaking(), clock=Clock()) as client:
        profile = await client.probe()
        assert [finding.question for finding in profile.deviations] == ["end"]
        assert await client.profile() == profile


async def test_what_another_version_of_the_service_has_shown_is_forgotten_and_its_profile_does_not_hold(sample_service):
    version, store, clock = ["1.0.0"], MemoryStore(), Clock()
    app = VariantMiddleware(create_app(sample_service.store), sample_service.store, Variant.parse(["page=300"]))
    inner = httpx.ASGITransport(app)

    class Versioned(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            response = await inner.handle_async_request(request)
            response.headers["X-API-Version"] = version[0]
            return response

    def client() -> AsyncClient:
        return AsyncClient("https://data.example", sample_service.key, transport=Versioned(), store=store, clock=clock)

    async with client() as first:
        await first.probe()
    async with client() as second:
        await second.indices()
        assert await second.profile() is not None
        version[0] = "1.1.0"
        await second.currents()
        assert second._reader.evidence.now.most_rows == 0
        assert await second.profile() is None
        later = await second.probe()
        version[0] = "1.0.0"
        await second.wire()
        await second.codex()
        first_again = await second.profile()
        assert first_again is not None
        assert first_again != later
        assert second._reader.evidence.now.version == "1.0.0"
        assert second._reader.evidence.now.most_rows == 300, "what was found of that version before"


async def test_a_probe_names_windows_that_are_cut_and_lists_that_go_on_behind_a_page_without_a_word(sample_service):
    inner = httpx.ASGITransport(create_app(sample_service.store))

    class Cutting(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            response = await inner.handle_async_request(request)
            path, offset = request.url.path, int(request.url.params.get("offset", "0"))
            told = json.loads(await response.aread())
            if path.endswith("/observations"):
                url = str(request.url.copy_set_param("start", request.url.params.get("start", "1900-01-01")))
                whole = [row async for row in _all_rows(inner, url, request)]
                told = {"data": whole[-700:]}
            elif path in ("/v1/wire", "/v1/almanac"):
                told = {"data": told["data"][offset : offset + 5]}
            headers = {name: value for name, value in response.headers.items() if name.startswith("x-")}
            return httpx.Response(response.status_code, json=told, headers=headers)

    async with AsyncClient("https://data.example", sample_service.key, transport=Cutting(), clock=Clock()) as client:
        profile = await client.probe("us-10y")
        named = {finding.question: finding.found for finding in profile.deviations}
        assert named["windows"].startswith("cut to the newest 700")
        assert named["wire: most items"] == "5 of 200 asked for, and others behind them"
        assert profile.requests <= MOST_REQUESTS
        assert len(await client.wire()) == 20


async def _all_rows(inner, url, request):
    """The rows of all pages of a window of the embedded service."""
    offset, total = 0, 1
    while offset < total:
        asked = httpx.Request("GET", httpx.URL(url).copy_set_param("offset", offset), headers=request.headers)
        told = json.loads(await (await inner.handle_async_request(asked)).aread())
        for row in told["data"]:
            yield row
        offset, total = offset + len(told["data"]), told["pagination"]["total"]


@pytest.mark.parametrize(
    ("ignored", "found"),
    [("start", "2020-09-01 to 2023-"), ("end", "to 2026-08-31, asked "), ("start end", "2020-09-01 to 2023-")],
)
async def test_a_probe_names_windows_that_are_not_those_asked_for(sample_service, ignored, found):
    inner = httpx.ASGITransport(create_app(sample_service.store))

    class Minding(httpx.AsyncBaseTransport):
        """A gateway that leaves out these parameters."""

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            for name in ignored.split():
                request.url = request.url.copy_remove_param(name)
            return await inner.handle_async_request(request)

    async with AsyncClient("https://data.example", sample_service.key, transport=Minding(), clock=Clock()) as client:
        named = {finding.question: finding.found for finding in (await client.probe("btc-usd")).deviations}
    assert found in named["windows: days"]
    assert not {"start", "end"} & {*named}
