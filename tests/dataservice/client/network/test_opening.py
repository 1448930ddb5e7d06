"""While few requests find out what the service takes, those that wait have their connections opened."""

import asyncio
import json

from dataservice.client import AsyncClient, SignalResource
from dataservice.client.pacing.concurrency import FIRST_ROUND
from tests.road.service import KEY

WAITING = 20


class Patient:
    """A service that answers nobody before so many connections are open and the first requests are there."""

    def __init__(self):
        self.requests = self.connections = 0
        self.may_answer = asyncio.Event()

    async def converse(self, reader, writer):
        self.connections += 1
        self._look()
        while head := await self._head(reader):
            self.requests += not self.may_answer.is_set()
            self._look()
            await self.may_answer.wait()
            slug = head.partition(b"?")[0].rpartition(b"/")[2].decode()
            body = json.dumps({"data": {"slug": slug, "name": slug, "history": []}}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        writer.close()

    def _look(self):
        if self.connections == WAITING and self.requests == FIRST_ROUND:
            self.may_answer.set()

    async def _head(self, reader):
        try:
            return await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return b""


async def test_calls_that_wait_for_the_first_answers_have_their_connections_opened_meanwhile():
    patient = Patient()
    server = await asyncio.start_server(patient.converse, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, AsyncClient(url, KEY) as client:
        await asyncio.gather(*(client.read(SignalResource(f"s{number}")) for number in range(WAITING)))
    assert (patient.requests, patient.connections) == (FIRST_ROUND, WAITING)
