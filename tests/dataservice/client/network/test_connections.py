"""Connections are used again, bounded in number, and closed when they were left in the middle or idle for long."""

import asyncio
import datetime as dt
import ssl
from contextlib import asynccontextmanager, suppress

import httpx
import pytest

from addin.tls.certificates import LEAF_DAYS, Certificates
from dataservice.client import AsyncClient, SignalResource
from dataservice.client.network.connection_errors import NoAnswerError, RefusedError
from dataservice.client.network.connections import MAX_HEADER_BYTES, Connections
from dataservice.errors import UnavailableError
from tests.road.service import KEY


class Serving:
    """The least service: it notes its connections, answers each request, and hangs in the body of `/slow`."""

    def __init__(self):
        self.connections = self.open = 0

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._converse, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_):
        self._server.close()

    async def _converse(self, reader, writer):
        self.connections += 1
        self.open += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nye")
                if b"/slow" in head:
                    await reader.read()
                writer.write(b"s.")
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.open -= 1
            writer.close()


async def got(connections, url):
    response = await connections.handle_async_request(httpx.Request("GET", url))
    try:
        return b"".join([part async for part in response.aiter_raw()])
    finally:
        await response.aclose()


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


async def test_requests_one_after_another_share_a_connection():
    async with Serving() as service:
        connections = Connections(service.url, 4)
        assert [await got(connections, service.url) for _ in range(5)] == 5 * [b"yes."]
        assert service.connections == 1
        await connections.aclose()


async def test_a_connection_opened_in_advance_serves_a_later_request():
    async with Serving() as service:
        connections = Connections(service.url, 4)
        await asyncio.gather(*(connections.prepare() for _ in range(3)))
        assert service.connections == 3
        assert await asyncio.gather(*(got(connections, service.url) for _ in range(3))) == 3 * [b"yes."]
        assert service.connections == 3
        await connections.aclose()


async def test_a_connection_that_cannot_be_opened_in_advance_is_left_to_the_request():
    async with Serving() as service:
        url = service.url
    connections = Connections(url, 4)
    await connections.prepare()
    with pytest.raises(RefusedError):
        await got(connections, url)
    await connections.aclose()


async def test_requests_at_once_share_as_many_as_are_allowed():
    async with Serving() as service:
        connections = Connections(service.url, 3)
        assert await asyncio.gather(*(got(connections, service.url) for _ in range(30))) == 30 * [b"yes."]
        assert service.connections <= 3
        await connections.aclose()


async def test_one_that_was_left_in_the_middle_is_not_used_again_and_its_place_is_free():
    async with Serving() as service:
        connections = Connections(service.url, 1)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await got(connections, f"{service.url}/slow")
        assert await got(connections, service.url) == b"yes."
        assert service.connections == 2
        await connections.aclose()


async def test_a_refused_connection_leaves_its_place_free():
    async with Serving() as service:
        connections = Connections(service.url, 1)
        with pytest.raises(httpx.ConnectError):
            await got(connections, "http://127.0.0.1:1")
        assert await got(connections, service.url) == b"yes."
        await connections.aclose()


async def test_the_systems_proxy_is_used(monkeypatch):
    async with Serving() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        connections = Connections("http://service.example", 4)
        assert await got(connections, "http://service.example/x") == b"yes."
        assert proxy.connections == 1
        await connections.aclose()


async def test_one_that_the_service_closed_meanwhile_is_not_used_again():
    async def converse(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nyes.")
        writer.close()

    async with await asyncio.start_server(converse, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        connections = Connections(url, 1)
        for _ in range(3):
            assert await got(connections, url) == b"yes."
        await connections.aclose()


async def test_an_answer_larger_than_what_is_held_unread_arrives_whole():
    size = 5 * 2**20

    async def converse(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode() + bytes(size))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(converse, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        connections = Connections(url, 1)
        assert await got(connections, url) == bytes(size)
        await connections.aclose()


@pytest.mark.parametrize(
    ("begun", "error"),
    [(b"", NoAnswerError), (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nye", httpx.ReadError)],
)
async def test_an_answer_that_breaks_off_is_told_from_one_that_never_began(begun, error):
    async def converse(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(begun)
        writer.close()

    async with await asyncio.start_server(converse, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        connections = Connections(url, 1)
        with pytest.raises(error):
            await got(connections, url)
        await connections.aclose()


OK = b"HTTP/1.1 200 OK\r\n"
ANSWERS = {
    "in chunks": OK + b"Transfer-Encoding: chunked\r\n\r\n2;note=x\r\nye\r\n2\r\ns.\r\n0\r\nX-Trailer: t\r\n\r\n",
    "after word that it comes": b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK + b"Content-Length: 4\r\n\r\nyes.",
    "up to the end of the connection": OK + b"\r\nyes.",
    "of the version before": b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nyes.",
    "with more than was asked for": OK + b"Content-Length: 4\r\n\r\nyes." + OK,
}


@asynccontextmanager
async def saying(answer):
    """The address of a service that says this piece by piece, and goes on unless only the end of it ends an answer."""
    conversations = set()

    async def converse(reader, writer):
        conversations.add(asyncio.current_task())
        step = 1 + len(answer) // 200
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while await reader.readuntil(b"\r\n\r\n"):
                for at in range(0, len(answer), step):
                    writer.write(answer[at : at + step])
                    await writer.drain()
                if answer == ANSWERS["up to the end of the connection"]:
                    break
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    async with await asyncio.start_server(converse, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        await asyncio.gather(*conversations)


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
async def test_an_answer_is_the_same_in_whatever_pieces_and_frame_it_arrives(answer):
    async with saying(answer) as url:
        connections = Connections(url, 1)
        assert [await got(connections, url) for _ in range(3)] == 3 * [b"yes."]
        await connections.aclose()


@pytest.mark.parametrize(
    "begun", [b"SSH-2.0-server\r\n\r\n", OK + b"X: " + bytes(MAX_HEADER_BYTES)], ids=["ssh", "endless"]
)
async def test_what_is_no_answer_is_an_error_and_not_kept(begun):
    async with saying(begun) as url:
        connections = Connections(url, 1)
        for _ in range(2):
            with pytest.raises(httpx.RemoteProtocolError):
                await got(connections, url)
        await connections.aclose()


async def test_a_value_that_would_begin_another_line_is_never_sent():
    async with Serving() as service:
        connections = Connections(service.url, 1)
        with pytest.raises(httpx.LocalProtocolError):
            await connections.get("/x", [("User-Agent", "a\r\nAuthorization: b")], watch=None, connect_s=1)
        assert service.connections == 0
        await connections.aclose()


async def test_a_target_is_sent_as_it_is_or_escaped_below_the_path_of_the_address():
    heads = []

    async def converse(reader, writer):
        heads.append((await reader.readuntil(b"\r\n\r\n")).split(b"\r\n"))
        writer.write(OK + b"Content-Length: 0\r\nConnection: close\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(converse, "127.0.0.1", 0) as server:
        place = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        connections = Connections(f"http://{place}/below/", 1)
        for target in ("/v1/signals/us-cpi?history=365", "/v1/signals/a%2Fb", "/v1/signals/é"):
            arrival = await connections.get(target, [("Accept", "x")], watch=None, connect_s=1)
            await arrival.close()
        await connections.aclose()
    assert [head[0] for head in heads] == [
        b"GET /below/v1/signals/us-cpi?history=365 HTTP/1.1",
        b"GET /below/v1/signals/a%2Fb HTTP/1.1",
        b"GET /below/v1/signals/%C3%A9 HTTP/1.1",
    ]
    assert heads[0][1:] == [b"Host: " + place.encode(), b"Accept: x", b"", b""]


async def said(url, transport=None):
    async def at_once(_):
        """Try again without a pause: what is told is the failure, not how little time was left."""

    async with AsyncClient(url, KEY, deadline_s=60, sleep=at_once, transport=transport) as client:
        with pytest.raises(UnavailableError) as failed:
            await client.read(SignalResource("us-cpi"))
    return str(failed.value)


@asynccontextmanager
async def behind_tls(folder, *, age=dt.timedelta(0), host="127.0.0.1"):
    """A service with a certificate of that age, whose authority this client trusts."""
    own = Certificates(folder / "certificates")
    leaf = own.ensure(dt.datetime.now(dt.UTC) - age)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(leaf.certificate, leaf.private_key)
    server = await asyncio.start_server(lambda *_: None, host, 0, ssl=context)
    url = f"https://{host}:{server.sockets[0].getsockname()[1]}"
    trusted = ssl.create_default_context(cafile=own.authority)
    async with server:
        yield url, Connections(url, 1, verify=trusted)


async def test_a_certificate_that_is_too_old_too_new_or_anothers_is_told_apart(tmp_path):
    async with behind_tls(tmp_path / "old", age=dt.timedelta(days=LEAF_DAYS + 2)) as (url, transport):
        assert "its certificate has expired; check this machine's date" in await said(url, transport)
    async with behind_tls(tmp_path / "new", age=dt.timedelta(days=-2)) as (url, transport):
        assert "its certificate is not valid yet" in await said(url, transport)
    async with behind_tls(tmp_path / "other", host="127.0.0.2") as (url, transport):
        assert "its certificate is for another name; check the address" in await said(url, transport)
    async with behind_tls(tmp_path / "unknown") as (url, _):
        assert "ca_file" in await said(url)


async def test_no_name_nobody_there_and_no_proxy_are_told_apart_with_what_to_do(monkeypatch):
    async with Serving() as gone:
        away = gone.url
    assert "DNS" in await said("https://nowhere.invalid")
    assert "nobody listens at its address; check the port" in await said(away)
    monkeypatch.setenv("HTTPS_PROXY", away)
    monkeypatch.setenv("https_proxy", away)
    told = await said("https://nowhere.invalid")
    assert "no proxy answers at 127.0.0.1; correct HTTPS_PROXY" in told
    assert KEY not in told
    monkeypatch.setenv("HTTPS_PROXY", "http://ann:secret@proxy.invalid:3128")
    monkeypatch.setenv("https_proxy", "http://ann:secret@proxy.invalid:3128")
    told = await said("https://nowhere.invalid")
    assert "the name of the proxy proxy.invalid is unknown (DNS); correct HTTPS_PROXY" in told
    assert "secret" not in told


async def test_a_server_without_tls_at_an_address_of_https_is_told():
    async def greeting(_, writer):
        writer.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(greeting, "127.0.0.1", 0)
    async with server:
        told = await said(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    assert "does not speak https at this address" in told
