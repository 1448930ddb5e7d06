"""What a service may do to one client: no endless pages, no bombs, no lasting lock by a passing refusal."""

import gzip
import zlib
from datetime import date, timedelta

import httpx
import pytest

from dataservice.client import CatalogueResource, HistoryResource, IndicesResource, SignalResource
from dataservice.errors import DataServiceError, MalformedAnswerError, TooManyPagesError, UnavailableError
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer, quota, signal

SIGNAL = SignalResource("us-cpi")


class Unread(httpx.AsyncByteStream):
    """A body as the network gives it: not yet read."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    async def __aiter__(self):
        for start in range(0, len(self.content), 65_536):
            yield self.content[start : start + 65_536]


def packed(content: bytes, packing: str) -> httpx.Response:
    return httpx.Response(200, headers={**quota(), "Content-Encoding": packing}, stream=Unread(content))


@pytest.mark.parametrize("bomb", [gzip.compress(bytes(10**8)), bytes(10**6)], ids=["packed", "plain"])
async def test_an_answer_is_read_no_further_than_its_bound(bomb):
    service = Scripted(lambda _: packed(bomb, "gzip" if bomb[:2] == b"\x1f\x8b" else "identity"))
    async with service.client(max_answer_bytes=100_000) as client:
        with pytest.raises(MalformedAnswerError, match="more than 100,000 bytes, the limit max_answer_bytes"):
            await client.read(SIGNAL)
        assert client.requests_sent == 1


@pytest.mark.parametrize(
    ("packing", "pack"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("deflate", lambda body: zlib.compress(body)[2:-4])],
)
async def test_packed_answers_are_unpacked(packing, pack):
    body = httpx.Response(200, json={"data": signal()}).content
    async with Scripted(lambda _: packed(pack(body), packing)).client() as client:
        assert (await client.read(SIGNAL)).value.signal.slug == "us-cpi"


@pytest.mark.parametrize("content", [b"plain", gzip.compress(b"{}", mtime=0)[:-9], b"\x1f\x8b"])
async def test_a_damaged_packing_is_a_malformed_answer(content):
    async with Scripted(lambda _: packed(content, "gzip")).client() as client:
        with pytest.raises(MalformedAnswerError):
            await client.read(SIGNAL)


async def test_pages_that_bring_nothing_new_end_a_catalogue():
    signals = [{"slug": f"s-{number}"} for number in range(500)]
    service = Scripted(lambda _: answer(signals, pagination={"limit": 500, "offset": 0, "total": 10**9}))
    async with service.client() as client:
        assert len((await client.read(CatalogueResource())).value) == 500
    assert len(service.requests) == 2


async def test_an_endless_catalogue_costs_no_more_than_the_pages_of_one_answer():
    def more(request):
        offset = int(request.url.params.get("offset", "0"))
        signals = [{"slug": f"s-{offset + number}"} for number in range(500)]
        return answer(signals, pagination={"limit": 500, "offset": offset, "total": 10**9})

    service = Scripted(more)
    async with service.client(max_pages=7) as client:
        for _ in range(3):
            with pytest.raises(TooManyPagesError, match=r"more than 7 requests; .* or raise max_pages"):
                await client.read(CatalogueResource())
    assert len(service.requests) == 2, "two pages that differ show that the total is meant"


async def test_an_endless_history_costs_no_more_than_the_pages_of_one_answer():
    def more(request):
        start = request.url.params.get("start", "1900-01-01")
        row = {"observed_at": f"{max(1900, int(start[:4])) + 1}-01-01T00:00:00Z", "value": 1.0}
        return answer([row], pagination={"limit": 1, "offset": 0, "total": 10**9})

    service = Scripted(more)
    async with service.client(max_pages=5) as client:
        for _ in range(3):
            assert isinstance(await kept_away_by(client, HistoryResource("x.y")), TooManyPagesError)
    assert len(service.requests) == 1, "the first page says how many there are"


async def test_pages_that_are_counted_are_refused_before_they_are_read():
    def more(request):
        first = max(date(1900, 1, 1), date.fromisoformat(request.url.params["start"]))
        rows = [{"observed_at": f"{first + timedelta(days=day)}T00:00:00Z", "value": 1.0} for day in range(100)]
        return answer(rows, meta={"page": 1, "total_pages": 10_000})

    service = Scripted(more)
    async with service.client(max_pages=5) as client:
        assert isinstance(await kept_away_by(client, HistoryResource("x.y")), TooManyPagesError)
    assert len(service.requests) == 1


@pytest.mark.parametrize("said", [{"total": 10**6}, {"page": 1, "total_pages": 10**4}])
async def test_an_endless_list_costs_no_more_than_two_pages(said):
    def more(request):
        offset, page = int(request.url.params.get("offset", 0)), int(request.url.params.get("page", 1))
        begin = max(offset, 100 * (page - 1))
        indices = [{"slug": f"i-{begin + number}", "name": "x"} for number in range(100)]
        return answer(indices, pagination=said | ({"page": page} if "page" in said else {"offset": offset}))

    service = Scripted(more)
    async with service.client(max_pages=5) as client:
        assert isinstance(await kept_away_by(client, IndicesResource()), TooManyPagesError)
    assert len(service.requests) == 2, "two pages that differ show that what is told is meant"


async def test_an_endless_history_that_never_says_how_long_it_is_costs_no_more_either():
    def more(request):
        first = max(date(1900, 1, 1), date.fromisoformat(request.url.params["start"]))
        days = [first, first + timedelta(days=1)]
        return answer([{"observed_at": f"{day}T00:00:00Z", "value": 1.0} for day in days], has_more=True)

    service = Scripted(more)
    async with service.client(max_pages=5) as client:
        for _ in range(3):
            assert isinstance(await kept_away_by(client, HistoryResource("x.y")), TooManyPagesError)
    assert len(service.requests) == 5


async def test_a_page_that_brings_nothing_new_and_promises_more_is_not_taken_for_the_end():
    row = {"observed_at": "2026-01-05T00:00:00Z", "value": 1.0}
    service = Scripted(lambda _: answer([row], has_more=True))
    async with service.client() as client:
        assert isinstance(await kept_away_by(client, HistoryResource("x.y")), MalformedAnswerError)
    assert len(service.requests) <= 3


async def test_a_window_is_not_believed_to_be_empty_where_the_detail_shows_observations():
    days = [{"observed_at": f"2026-08-{day:02}T00:00:00Z", "value": 1.0} for day in range(1, 11)]
    detail = {"slug": "us-cpi", "latest": days[-1], "history": days}

    def says(request):
        return answer([] if request.url.path.endswith("/observations") else detail)

    clock = Clock()
    async with Scripted(says).client(clock) as client:
        await client.read(SIGNAL)
        clock.advance(1_000)
        refused = await kept_away_by(client, HistoryResource("us-cpi"))
        assert "no observations from 2026-08-01 on, where its detail shows 10" in str(refused)


async def kept_away_by(client, resource):
    """Why there is no fresh answer."""
    try:
        return (await client.read(resource)).stale_because
    except DataServiceError as error:
        return error


async def test_a_refusal_that_does_not_prove_the_end_of_the_month_passes():
    clock = Clock()
    service = Scripted.saying([httpx.Response(429, headers={"Retry-After": "60"}), answer(signal())])
    async with service.client(clock) as client:
        with pytest.raises(UnavailableError, match="fewer requests at a time"):
            await client.read(SIGNAL)
        clock.advance(61)
        assert (await client.read(SIGNAL)).value.latest.value == 1.0
