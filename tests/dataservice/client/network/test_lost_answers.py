"""Over real connections: a request counts if it left, and not if it never did."""

import asyncio

import pytest

from dataservice.client import AsyncClient, Meter, SignalResource
from dataservice.errors import ConnectionFailedError, UnavailableError
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import KEY


async def spent_on(port: int, **options) -> tuple[int, int | None]:
    """What one read told, and what the client counted."""
    meter, clock = Meter(), Clock()
    async with AsyncClient(f"http://127.0.0.1:{port}", KEY, sleep=clock.sleep, **options) as client:
        with pytest.raises(UnavailableError):
            await client.read(SignalResource("x.y"), meter=meter)
        return meter.requests, client.requests_sent


async def serve(answer):
    """A server whose connections `answer` handles, and how many requests it received."""
    received = []

    async def handle(reader, writer):
        if await reader.readuntil(b"\r\n\r\n"):
            received.append(1)
        await answer(writer)
        writer.close()

    return await asyncio.start_server(handle, "127.0.0.1", 0), received


async def test_answers_lost_on_the_way_count_each():
    async def hang_up(writer):
        writer.transport.abort()

    server, received = await serve(hang_up)
    async with server:
        told = await spent_on(server.sockets[0].getsockname()[1])
    assert told == (len(received), len(received))
    assert len(received) > 1


async def test_an_answer_that_does_not_come_in_time_counts():
    never = asyncio.Event()

    async def wait(_):
        await never.wait()

    server, received = await serve(wait)
    async with server:
        told = await spent_on(server.sockets[0].getsockname()[1], deadline_s=0.3)
        never.set()
    assert told == (1, 1) == (len(received), 1)


async def test_where_nobody_listens_nothing_is_spent():
    server, _ = await serve(None)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    assert await spent_on(port) == (0, 0)


async def test_where_nobody_listens_the_error_says_so():
    server, _ = await serve(None)
    port = server.sockets[0].getsockname()[1]
    server.close()
    async with AsyncClient(f"http://127.0.0.1:{port}", KEY) as client:
        with pytest.raises(ConnectionFailedError):
            await client.read(SignalResource("x.y"))
