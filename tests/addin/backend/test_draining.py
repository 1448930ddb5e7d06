"""A backend that was told to stop: it announces it, then lets nobody in, and answers what is under way."""

import asyncio
import threading

import httpx
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from addin.backend.serving import BackendServer, Stopping, listen


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
