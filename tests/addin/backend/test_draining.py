"""A backend that was told to stop: it announces it, then lets nobody in, and answers what is under way."""

import asyncio
import gc
import ssl
import threading
from datetime import UTC, datetime
from urllib.parse import urlsplit

import httpx
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from addin.backend.serving import BackendServer, Stopping, listen
from addin.tls.certificates import Certificates
from tests.addin.backend.test_connections import connected


def test_it_announces_its_end_answers_meanwhile_refuses_newcomers_at_once_and_ends_what_is_under_way():
    begun, arrived, go_on = threading.Event(), threading.Event(), threading.Event()

    async def slow(_):
        arrived.set()
        await asyncio.to_thread(go_on.wait)
        return PlainTextResponse("done")

    routes = [Route("/slow", slow), Route("/", lambda _: PlainTextResponse("here"))]
    listener = listen("127.0.0.1", 0)
    url = listener.url
    server = BackendServer(Starlette(routes=routes), listener, Stopping(begun.set, drain_s=0.5, grace_s=30.0))
    running = threading.Thread(target=server.run, kwargs={"sockets": [listener.socket]}, daemon=True)
    running.start()
    server.ready.wait()
    told = []
    with httpx.Client(trust_env=False, timeout=30) as http:
        under_way = threading.Thread(target=lambda: told.append(http.get(f"{url}/slow").text))
        under_way.start()
        arrived.wait()
        server.should_exit = True
        assert begun.wait(10)
        assert httpx.get(url, trust_env=False).text == "here"
        while True:
            try:
                httpx.get(url, trust_env=False)
            except httpx.ConnectError:
                break
            except httpx.TransportError:
                continue
        go_on.set()
        under_way.join(10)
    running.join(10)
    assert told == ["done"]
    assert not running.is_alive()


def test_a_connection_of_the_last_moment_keeps_nobody_waiting():
    listener = listen("127.0.0.1", 0)
    server = BackendServer(Starlette(), listener, Stopping(grace_s=600.0))
    running = threading.Thread(target=server.run, kwargs={"sockets": [listener.socket]}, daemon=True)
    running.start()
    server.ready.wait()
    with httpx.Client(trust_env=False) as http:
        http.get(listener.url)  # stays open, as a proxy keeps its connections
        server.should_exit = True
        running.join(10)
        assert not running.is_alive()


def test_a_caller_over_tls_that_keeps_its_connection_open_is_left_when_the_time_is_over(tmp_path):
    listener = listen("127.0.0.1", 0, Certificates(tmp_path).ensure(datetime.now(UTC)))
    server = BackendServer(Starlette(), listener, Stopping(grace_s=1.0))
    running = threading.Thread(target=server.run, kwargs={"sockets": [listener.socket]}, daemon=True)
    running.start()
    server.ready.wait()
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    with trusting.wrap_socket(connected(listener.url)) as caller:
        caller.sendall(f"GET / HTTP/1.1\r\nHost: {urlsplit(listener.url).netloc}\r\n\r\n".encode())
        assert caller.recv(10)
        server.should_exit = True  # as a browser, the caller does not answer that the connection ends
        running.join(10)
        assert not running.is_alive()
        gc.collect()  # nothing is left open, or the test fails
