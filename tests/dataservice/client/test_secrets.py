"""The key is nowhere but in the Authorization header."""

import logging
import traceback

import httpx
import pytest

from dataservice.client import (
    AsyncClient,
    Budget,
    Client,
    HistoryResource,
    IndicesResource,
    PostsResource,
    SignalResource,
    WireResource,
)
from dataservice.errors import DataServiceError, MalformedAnswerError, NotFoundError
from dataservice.stores import SqliteStore
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import KEY, Scripted, answer, refusal

SECRET = KEY[3:]


async def test_no_file_of_the_cache_holds_the_key(service, tmp_path):
    path = tmp_path / "cache" / "shelf.sqlite"
    shelf = SqliteStore(path)
    async with AsyncClient(service.url, service.key, store=shelf) as client:
        await client.read(IndicesResource())
        await client.read(SignalResource("us-cpi"))
        held = b"".join(file.read_bytes() for file in path.parent.iterdir())
    await shelf.aclose()
    assert b"us-cpi" in held
    assert service.key.encode() not in held
    assert service.key[3:].encode() not in held


async def test_no_log_holds_the_key(service, caplog):
    with caplog.at_level(logging.DEBUG):
        async with AsyncClient(service.url, service.key) as client:
            await client.read(IndicesResource())
        async with AsyncClient(service.url, "ds_" + 40 * "f") as client:
            with pytest.raises(DataServiceError):
                await client.read(IndicesResource())
    assert "/v1/indices" in caplog.text
    assert service.key[3:] not in caplog.text
    assert 40 * "f" not in caplog.text


async def test_the_header_compression_of_http2_logs_nothing_of_requests():
    async with AsyncClient("https://127.0.0.1:9", KEY, sleep=Clock().sleep) as client:
        with pytest.raises(DataServiceError):
            await client.read(IndicesResource())
    assert not logging.getLogger("hpack.hpack").isEnabledFor(logging.DEBUG)


@pytest.mark.parametrize(
    "trouble",
    [
        refusal(401),
        httpx.Response(400, json={"error": f"bad key {KEY}"}),
        httpx.Response(200, text=KEY),
        httpx.ConnectError(f"failed with {KEY}"),
    ],
)
async def test_no_error_holds_the_key_nor_an_exception_that_does(trouble):
    async with Scripted.saying([trouble]).client() as client:
        with pytest.raises(DataServiceError) as raised:
            await client.read(IndicesResource())
    error = raised.value
    shown = "".join(traceback.format_exception(error)) + repr(error) + str(vars(error))
    assert SECRET not in shown
    assert error.__cause__ is error.__context__ is None


async def test_no_repr_holds_the_key():
    service = Scripted(lambda _: answer([]))
    async with service.client() as client:
        await client.read(IndicesResource())
        parts = [client, client.states(), client.quota_now, client.key_id, *vars(client).values()]
        assert SECRET not in "".join(repr(part) for part in parts)
    assert SECRET not in repr(Client("https://data.example", KEY))
    assert all(SECRET not in str(request.url) for request in service.requests)


async def test_a_key_has_a_name_that_tells_it_from_others():
    service = Scripted(lambda _: answer([]))
    one, same = service.client(), service.client()
    other = AsyncClient("https://data.example", KEY + "0")
    assert one.key_id == same.key_id != other.key_id
    assert len(one.key_id) == 12


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_client_whose_making_failed_shows_itself_in_tracebacks(kind):
    with pytest.raises(ValueError) as failed:
        kind("ftp://x", "ds_" + "0" * 40)
    shown = "".join(traceback.TracebackException.from_exception(failed.value, capture_locals=True).format())
    assert f"{kind.__name__}(unfinished)" in shown


@pytest.mark.parametrize(
    "made",
    [
        lambda: Client(KEY, "https://data.example"),
        lambda: Client(f"https://data.example/{KEY}", KEY),
        lambda: Client(f"http://{KEY}.example", KEY),
        lambda: Client("https://data.example", KEY, store=KEY),
        lambda: Client("https://data.example", KEY, deadline_s=KEY),
        lambda: Client("https://data.example", KEY, max_pages=KEY),
        lambda: WireResource(min_importance=KEY),
        lambda: WireResource(since=KEY),
        lambda: HistoryResource("us-cpi", start=KEY),
        lambda: WireResource(ticker=[KEY]),
        lambda: HistoryResource([KEY]),
        lambda: Budget(reserve=KEY),
    ],
)
def test_a_key_given_in_the_place_of_something_else_is_not_repeated(made):
    with pytest.raises((ValueError, TypeError)) as refused, Client("https://data.example", KEY) as client:
        client.read(made())
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    "asked",
    [
        SignalResource(KEY),
        HistoryResource(KEY),
        HistoryResource(f"us-cpi {KEY}"),
        PostsResource(handle=KEY),
        PostsResource(beat=KEY),
        WireResource(ticker=KEY),
    ],
)
async def test_a_key_given_as_a_name_or_a_filter_is_neither_sent_nor_repeated(asked, tmp_path):
    service = Scripted.saying([refusal(404)])
    store = SqliteStore(tmp_path / "shelf.sqlite")
    async with service.client(store=store) as client:
        with pytest.raises(NotFoundError, match="API key") as refused:
            await client.read(asked)
        known = repr(client.states())
    await store.aclose()
    assert service.requests == []
    held = b"".join(file.read_bytes() for file in tmp_path.iterdir()).decode(errors="replace")
    assert SECRET not in str(refused.value) + refused.value.path + known + held


def test_no_error_is_made_that_holds_a_key():
    for error in (DataServiceError(f"failed with {KEY}"), MalformedAnswerError("odd").received(KEY.encode(), str)):
        assert SECRET not in f"{error}{error.message}{error!r}"
