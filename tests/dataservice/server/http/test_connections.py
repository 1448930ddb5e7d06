"""Connections that send nothing, or only half a request, cannot keep others from being answered."""

import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from socket import create_connection

import httpx
import pytest
import uvicorn

from dataservice.server.http.connections import BoundedProtocol
from dataservice.server.running import SERVER_OPTIONS, listen

WHOLE = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"


async def application(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@contextmanager
def served(**bounds):
    """The port of a server whose protocol has other bounds."""
    listener = listen("127.0.0.1", 0)
    options = {**SERVER_OPTIONS, "http": type("Bounded", (BoundedProtocol,), bounds), "log_level": "error"}
    server = uvicorn.Server(uvicorn.Config(application, **options))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


def answer(caller):
    """Send a whole request and read its whole answer."""
    caller.sendall(WHOLE)
    received = b""
    while not received.endswith(b"ok"):
        received += caller.recv(4096)
    return received


@pytest.mark.parametrize("beginning", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost: x\r\n"])
def test_a_connection_that_stops_within_a_head_is_closed(beginning):
    with served(head_timeout_s=0.1) as port, create_connection(("127.0.0.1", port), timeout=10) as caller:
        caller.sendall(beginning)
        assert caller.recv(4096) == b""


def test_a_second_request_on_a_connection_that_stops_within_its_head_is_closed():
    with served(head_timeout_s=0.1) as port, create_connection(("127.0.0.1", port), timeout=10) as caller:
        assert answer(caller).endswith(b"ok")
        caller.sendall(b"GET / HT")
        assert caller.recv(4096) == b""


def test_a_connection_between_two_requests_stays_open():
    with served(head_timeout_s=0.1) as port, create_connection(("127.0.0.1", port), timeout=10) as caller:
        with create_connection(("127.0.0.1", port), timeout=10) as silent:
            assert answer(caller).endswith(b"ok")
            assert silent.recv(4096) == b""  # so the time is over
        assert answer(caller).endswith(b"ok")


def test_more_connections_than_it_can_hold_are_refused_with_a_reason():
    with served(max_connections=2) as port, ExitStack() as stack:
        callers = [stack.enter_context(create_connection(("127.0.0.1", port), timeout=10)) for _ in range(3)]
        assert b"503 Service Unavailable" in callers[2].recv(4096)
        assert answer(callers[0]).endswith(b"ok")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit to set")
def test_with_few_handles_it_answers_again_and_writes_no_flood_of_log_lines(tmp_path):
    command = f"ulimit -n 256; exec {sys.executable} -m dataservice.cli.main serve --port 0 --db {tmp_path / 'a.db'}"
    with subprocess.Popen(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            port = int(server.stdout.readline().split(" on ")[0].rpartition(":")[2].rstrip(","))
            with ExitStack() as stack:
                for _ in range(300):
                    stack.enter_context(create_connection(("127.0.0.1", port), timeout=10))
            ends = time.monotonic() + 30  # a busy server sees one after the other that they have gone
            while (status := httpx.get(f"http://127.0.0.1:{port}/openapi.json", timeout=30).status_code) == 503:
                assert time.monotonic() < ends
            assert status == 200
        finally:
            server.terminate()  # whatever happened: else it is waited for, for ever
        assert len(server.communicate(timeout=30)[1].splitlines()) < 20
