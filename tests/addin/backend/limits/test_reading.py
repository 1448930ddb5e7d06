"""Requests in very many pieces: read rightly, in turns, or refused; nobody else waits for them."""

import asyncio
import json
import socket
import threading
from collections import Counter
from urllib.parse import urlsplit

import h11
from starlette.responses import Response
from uvicorn import Config
from uvicorn.server import ServerState

from addin.backend.limits.reading import (
    BEGUN_TOGETHER,
    MAX_HEADERS,
    PIECE_S,
    READ_BYTES,
    READ_TOGETHER,
    PatientConnection,
    ReadingQueue,
    ReadingTurns,
    TimedProtocol,
)

PIECES, SENDERS = 40, 20
BODY = json.dumps({"calls": [["SIGNAL", "us-cpi"]] * 300}).encode()


def sent(url, content):
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=30) as connection:
        connection.sendall(content.replace(b"HERE", parts.netloc.encode()))
        answer = h11.Connection(h11.CLIENT)
        answer.send(h11.Request(method="GET", target="/", headers=[("host", "here")]))
        answer.send(h11.EndOfMessage())
        status, body = 0, b""
        while True:
            event = answer.next_event()
            if event is h11.NEED_DATA:
                answer.receive_data(connection.recv(2**16))
            elif isinstance(event, h11.Response):
                status = event.status_code
            elif isinstance(event, h11.Data):
                body += event.data
            else:
                return status, body


def test_a_body_in_chunks_of_a_byte_is_answered_as_any_other(sample_backend):
    head = b"POST /functions/call HTTP/1.1\r\nhost: HERE\r\ncontent-type: application/json\r\n"
    whole = head + b"content-length: %d\r\n\r\n" % len(BODY) + BODY
    shredded = head + b"transfer-encoding: chunked\r\n\r\n"
    shredded += b"".join(b"1\r\n%c\r\n" % byte for byte in BODY) + b"0\r\n\r\n"
    url = str(sample_backend.http.base_url)
    first = json.loads(sent(url, whole)[1])["answers"]
    assert [each["value"] for each in json.loads(sent(url, shredded)[1])["answers"]] == [
        each["value"] for each in first
    ]


def test_a_request_with_hundreds_of_headers_is_refused_and_one_with_many_is_not(sample_backend):
    url = str(sample_backend.http.base_url)
    for count, status in ((MAX_HEADERS - 10, 200), (MAX_HEADERS + 1, 400)):
        headers = b"".join(b"x-%d: a\r\n" % n for n in range(count))
        assert sent(url, b"GET /health HTTP/1.1\r\nhost: HERE\r\n" + headers + b"\r\n")[0] == status


def test_a_reader_stops_after_a_while_and_goes_on_where_it_was():
    reader = PatientConnection(2**16)
    reader.receive_data(b"POST / HTTP/1.1\r\nhost: here\r\ntransfer-encoding: chunked\r\n\r\n")
    reader.receive_data(b"1\r\na\r\n" * 50_000 + b"0\r\n\r\n")
    pieces, read = 0, b""
    while reader.their_state is not h11.DONE:
        reader.begin()
        while (event := reader.next_event()) is not h11.NEED_DATA and reader.their_state is not h11.DONE:
            read += event.data if isinstance(event, h11.Data) else b""
        pieces += 1
    assert read == b"a" * 50_000
    assert pieces > 1, f"reading it takes longer than {PIECE_S} s"


async def test_between_two_pieces_everything_else_of_the_loop_has_its_turn():
    queue, done = ReadingQueue(1), []

    async def other():
        for _ in range(6):
            done.append("other")
            await asyncio.sleep(0)

    for name in ("a", "b", "c"):
        queue.add(lambda name=name: done.append(name))
    await other()
    assert [name for name in done if name != "other"] == ["a", "b", "c"]
    assert all({"other"} == {*done[place + 1 : place + 2]} for place, name in enumerate(done) if name in "ab")


class Rounds:
    """Counts the rounds of the loop."""

    def __init__(self):
        self.now = 0
        self._next = asyncio.get_running_loop().call_soon(self._tick)

    def _tick(self):
        self.now += 1
        self._next = asyncio.get_running_loop().call_soon(self._tick)

    def end(self):
        self._next.cancel()


async def served(protocol, app, send, callers):
    """What so many callers who come together are answered by `app`, over connections of such a protocol."""
    config, state, turns = Config(app, lifespan="off"), ServerState(), ReadingTurns()
    config.load()

    def made():
        return protocol(config=config, server_state=state, app_state={}, receive_timeout_s=30.0, turns=turns)

    async with await asyncio.get_running_loop().create_server(made, "127.0.0.1", 0) as server:
        address = server.sockets[0].getsockname()
        return await asyncio.gather(*(send(address) for _ in range(callers)))


async def test_of_bodies_whose_requests_were_refused_one_piece_is_read_in_a_round_of_the_loop():
    rounds, pieces = Rounds(), Counter()

    class Counting(TimedProtocol):
        def data_received(self, data):
            pieces[rounds.now] += self.conn.their_state is h11.SEND_BODY
            super().data_received(data)

    async def send(address):
        reader, writer = await asyncio.open_connection(*address)
        size = PIECES * READ_BYTES
        writer.write(b"POST / HTTP/1.1\r\nhost: here\r\ncontent-length: %d\r\n\r\n" % size)
        status = await reader.readline()
        writer.write(bytes(size))
        writer.write_eof()
        await reader.read()  # until all was taken, and the connection is closed
        writer.close()
        await writer.wait_closed()
        return status

    answers = await served(Counting, Response(status_code=503), send, SENDERS)
    rounds.end()
    assert answers == [b"HTTP/1.1 503 Service Unavailable\r\n"] * SENDERS
    assert sum(pieces.values()) >= PIECES * SENDERS
    assert sorted(pieces.values())[-SENDERS] <= 2, "the first piece of each is taken at once"


async def test_of_many_who_send_large_bodies_a_few_are_read_from_in_a_round_of_the_loop():
    rounds, pieces, size = Rounds(), Counter(), PIECES * READ_BYTES

    class Counting(TimedProtocol):
        def data_received(self, data):
            pieces[rounds.now] += 1
            super().data_received(data)

    async def app(scope, receive, send):
        taken = 0
        while (message := await receive())["more_body"]:
            taken += len(message["body"])
        await Response(str(taken + len(message["body"])))(scope, receive, send)

    async def send(address):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(b"POST / HTTP/1.1\r\nhost: here\r\ncontent-length: %d\r\n\r\n" % size + bytes(size))
        await reader.readuntil(b"\r\n\r\n")
        taken = await reader.readexactly(len(str(size)))
        writer.close()
        return taken

    answers = await served(Counting, app, send, 3 * READ_TOGETHER)
    rounds.end()
    assert answers == [str(size).encode()] * 3 * READ_TOGETHER
    assert max(pieces.values()) <= 2 * READ_TOGETHER, "those whose turn it is, and those who had it before"


async def test_of_many_who_come_together_a_few_requests_are_taken_in_a_round_of_the_loop():
    rounds, begun = Rounds(), Counter()

    async def app(scope, receive, send):
        begun[rounds.now] += 1
        await Response(status_code=204)(scope, receive, send)

    async def send(address):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(b"GET / HTTP/1.1\r\nhost: here\r\n\r\n")
        status = await reader.readline()
        writer.close()
        return status

    answers = await served(TimedProtocol, app, send, 10 * BEGUN_TOGETHER)
    rounds.end()
    assert answers == [b"HTTP/1.1 204 No Content\r\n"] * 10 * BEGUN_TOGETHER
    assert max(begun.values()) <= BEGUN_TOGETHER


async def test_of_a_body_that_waits_for_room_little_is_read_beforehand_and_then_all_of_it():
    loop, begun, has_room = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
    arrived = most = 0

    class Measured(TimedProtocol):
        def _take(self, data):
            nonlocal most
            super()._take(data)
            most = max(most, len(self.cycle.body))

    async def app(scope, receive, send):
        nonlocal arrived
        while (message := await receive())["more_body"]:
            arrived += len(message["body"])
            begun.set()
            await has_room.wait()
        arrived += len(message["body"])
        await Response(status_code=204)(scope, receive, send)

    config, state = Config(app, lifespan="off"), ServerState()
    config.load()

    def protocol():
        return Measured(config=config, server_state=state, app_state={}, receive_timeout_s=30.0, turns=ReadingTurns())

    async with await loop.create_server(protocol, "127.0.0.1", 0) as server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(b"POST / HTTP/1.1\r\nhost: here\r\ncontent-length: %d\r\n\r\n" % 10**7 + bytes(10**7))
        await begun.wait()
        for _ in range(1_000):
            await asyncio.sleep(0)
        assert arrived + most <= 120_000, "of four hundred callers 48 MB"
        has_room.set()
        assert b" 204 " in await reader.readline()
        assert arrived == 10**7
        writer.close()


async def test_a_request_that_wants_its_body_takes_no_more_while_reading_it_waits_for_a_turn():
    loop, places, wanted = asyncio.get_running_loop(), [], asyncio.Event()

    class Never(ReadingQueue):
        def add(self, read_on):
            places.append(read_on)

    turns = ReadingTurns()
    turns.parsing = Never(1)

    class CutShort(TimedProtocol):
        def handle_events(self):
            super().handle_events()
            self._wait()

    async def app(scope, receive, send):
        await receive()
        wanted.set()
        await receive()

    config, state, made = Config(app, lifespan="off"), ServerState(), []
    config.load()

    def protocol():
        made.append(CutShort(config=config, server_state=state, app_state={}, receive_timeout_s=30.0, turns=turns))
        return made[-1]

    async with await loop.create_server(protocol, "127.0.0.1", 0) as server:
        _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(b"POST / HTTP/1.1\r\nhost: here\r\ncontent-length: %d\r\n\r\n" % 10**7 + bytes(10**7))
        await wanted.wait()
        for _ in range(1_000):
            await asyncio.sleep(0)
        assert len(places) == 1
        assert sum(map(len, made[0]._parts)) <= READ_BYTES
        writer.close()
        places[0]()


async def test_after_a_body_that_was_refused_half_read_the_connection_serves_the_next_request():
    loop, buffered = asyncio.get_running_loop(), asyncio.Event()

    class Watched(TimedProtocol):
        def _take(self, data):
            super()._take(data)
            if len(self.cycle.body) >= READ_BYTES // 2:
                buffered.set()

    async def app(scope, receive, send):
        await buffered.wait()
        await Response(status_code=503)(scope, receive, send)

    config, state = Config(app, lifespan="off"), ServerState()
    config.load()

    def protocol():
        return Watched(config=config, server_state=state, app_state={}, receive_timeout_s=30.0, turns=ReadingTurns())

    async with await loop.create_server(protocol, "127.0.0.1", 0) as server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        head = b"POST / HTTP/1.1\r\nhost: here\r\ncontent-length: %d\r\n\r\n" % (2 * READ_BYTES)
        for _ in range(2):
            writer.write(head + bytes(READ_BYTES))
            assert b" 503 " in await reader.readline()
            await reader.readuntil(b"\r\n\r\n")
            writer.write(bytes(READ_BYTES))
        writer.close()


def test_a_reader_is_not_cut_short_while_the_machine_does_other_things():
    reader = PatientConnection(2**16)
    reader.receive_data(b"GET /health HTTP/1.1\r\nhost: here\r\n\r\n")
    reader.begin()
    threading.Event().wait(2 * PIECE_S)
    assert isinstance(reader.next_event(), h11.Request)
    assert not reader.is_cut_short
