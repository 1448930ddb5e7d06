"""Raw pages, past all caches, through both clients."""

from datetime import date

import pytest

from dataservice.client import AsyncClient, Client
from dataservice.errors import MalformedAnswerError, NotFoundError
from dataservice.stores import SqliteStore
from tests.dataservice.client.parts.scripted import Scripted, answer


async def test_the_catalogue_comes_page_by_page(sample_service):
    async with AsyncClient(sample_service.url, sample_service.key) as client:
        pages = [page async for page in client.signal_pages()]
        assert [signal for page in pages for signal in page] == list(await client.signals())
        category = pages[0][0].category
        assert {signal.category async for page in client.signal_pages(category) for signal in page} == {category}


async def test_observations_come_page_by_page_and_none_twice(shared_service):
    async with AsyncClient(shared_service.url, shared_service.key) as client:
        pages = [page async for page in client.observation_pages("eia.wti.spot", date(2010, 1, 1))]
        whole = await client.observations("eia.wti.spot", date(2010, 1, 1))
    assert [len(page) for page in pages][:2] == [999, 999]  # a page begins with a day more, which shows that it begins
    assert sum(len(page) for page in pages) == len(whole)
    assert pages[0] == whole[:999]


def test_the_waiting_client_iterates_over_the_same_pages(shared_service):
    with Client(shared_service.url, shared_service.key) as client:
        pages = list(client.observation_pages("eia.wti.spot", date(2010, 1, 1)))
        assert sum(len(page) for page in pages) == len(client.observations("eia.wti.spot", date(2010, 1, 1)))
        assert sum(len(page) for page in client.signal_pages()) == len(client.signals())


def test_an_error_on_the_way_ends_the_iteration(sample_service):
    with Client(sample_service.url, sample_service.key) as client, pytest.raises(NotFoundError):
        list(client.observation_pages("nothing"))


async def test_a_page_is_asked_for_when_it_is_wanted_and_not_before():
    service = Scripted(lambda _: answer([{"slug": f"s{n}"} for n in range(500)]))
    async with service.client() as client:
        async for _ in client.signal_pages():
            break
    assert len(service.requests) == 1


def paged_by_number(rows, size=2, pages=None):
    """A catalogue that knows pages by their number alone, and tells how many there are."""

    def reply(request):
        number = int(request.url.params.get("page", "1"))
        page = [{"slug": slug} for slug in rows[(number - 1) * size : number * size]]
        return answer(page, page=number, pages=pages or -(-len(rows) // size))

    return reply


async def test_a_catalogue_is_asked_on_by_what_its_pages_say():
    service = Scripted(paged_by_number("abcde"))
    async with service.client() as client:
        assert [signal.slug for signal in await client.signals()] == list("abcde")
    assert len(service.requests) == 3


async def test_a_catalogue_that_is_said_to_go_on_and_repeats_itself_is_an_error_and_no_list():
    def reply(request):
        return answer([{"slug": "a"}, {"slug": "b"}], has_more=True)

    async with Scripted(reply).client() as client:
        with pytest.raises(MalformedAnswerError, match="more signals are said to follow 2"):
            await client.signals()


@pytest.mark.parametrize("beside", [{}, {"total": 15}, {"pagination": {"limit": 3, "offset": 0, "total": 3}}])
async def test_a_catalogue_that_gives_its_first_signals_again_may_be_cut_and_is_kept_so(tmp_path, beside):
    service = Scripted(lambda _: answer([{"slug": slug} for slug in "abc"], **beside))
    store = SqliteStore(tmp_path / "store.sqlite")
    async with service.client(store=store) as client:
        assert (await client.signals()).may_be_cut
    async with service.client(store=store) as client:
        assert (await client.signals()).lacks(10) == (
            "there may be more: the service gave 3, and nothing shows that these are all"
        )
    assert len(service.requests) == 2
    await store.aclose()


async def test_forgetting_leaves_nothing_of_this_key(sample_service, tmp_path):
    shelf = SqliteStore(tmp_path / "shelf.sqlite")
    async with (
        AsyncClient(sample_service.url, sample_service.key, store=shelf) as client,
        AsyncClient(sample_service.url, sample_service.free_key, store=shelf) as other,
    ):
        await client.indices()
        await other.indices()
        assert await client.forget() > 0
        assert client.states() == []
        sent = client.requests_sent, other.requests_sent
        await client.indices()
        await other.indices()
        assert (client.requests_sent, other.requests_sent) == (sent[0] + 1, sent[1])
    await shelf.aclose()
