"""Connections: a bounded number, none that waits for ever, and a log that stays small whatever is sent."""

import gc
import resource
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route

from addin.backend.connections import LimitedSocket
from addin.backend.serving import listen, running
from tests.addin.backends import backend_of
from tests.addin.commands import command, environment
from tests.addin.serving import address_in, started

HANDLES = 256


def connected(url):
    host, _, port = url.partition("://")[2].partition(":")
    return socket.create_connection((host, int(port)), timeout=10)


def ended(connection):
    """What arrives until the other side closes."""
    received = b""
    try:
        while part := connection.recv(4096):
            received += part
    except ConnectionError:
        pass
    return received


def test_with_256_handles_it_refuses_what_it_cannot_hold_and_goes_on(service, tmp_path):
    code = (
        f"import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_NOFILE, ({HANDLES}, {HANDLES}));"
        "sys.argv = ['addin', *sys.argv[1:]]; runpy.run_module('addin.cli.main', run_name='__main__')"
    )
    arguments = [sys.executable, "-c", code, *command(["serve", "--http", "--port", "0"])[3:]]
    with subprocess.Popen(
        arguments, env=environment(tmp_path, service), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        url = address_in(process)
        with ExitStack() as stack:
            idle = [stack.enter_context(connected(url)) for _ in range(2 * HANDLES)]
            refused = [ended(connection) for connection in idle[HANDLES:]]
            assert all(b"max_connections" in told or told == b"" for told in refused)
            assert sum(b"503" in told for told in refused) > HANDLES // 2
        with httpx.Client(base_url=url, trust_env=False, timeout=30) as http:
            assert http.get("/health").json() == {"ok": True}
            response = http.post("/functions/call", json={"calls": [["SIGNAL", "us-cpi", "slug"]]})
            assert response.json()["answers"][0]["value"] == "us-cpi"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert len(errors.splitlines()) < 50
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] != HANDLES


def test_a_place_is_free_again_when_its_connection_is_closed():
    listener = LimitedSocket(socket.create_server(("127.0.0.1", 0)), max_connections=1)
    with listener, ExitStack() as stack:
        address = listener.getsockname()
        for _ in range(3):
            first, second = socket.create_connection(address), socket.create_connection(address)
            accepted, _ = listener.accept()
            with pytest.raises(ConnectionAbortedError):
                listener.accept()
            assert b"503" in ended(second)
            accepted.close()
            accepted.close()  # counts once
            stack.callback(first.close)
            second.close()


@pytest.mark.parametrize("sent", [b"", b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: "])
def test_a_connection_that_sends_no_whole_request_is_closed(service, tmp_path, sent):
    from addin.backend import create_app
    from addin.config.api_key import KeyStore, no_keychain
    from addin.config.settings import Settings

    keys = KeyStore(service.url, open_keychain=no_keychain, file=tmp_path / "keys.json")
    app = create_app(Settings(url=service.url, cache_dir=tmp_path), keys=keys)
    with running(app, listen("127.0.0.1", 0, receive_timeout_s=0.2)) as url, connected(url) as connection:
        connection.sendall(sent)
        assert ended(connection) == b""
        assert httpx.get(f"{url}/health").json() == {"ok": True}


def test_a_slow_answer_is_not_cut_off(service, tmp_path):
    with backend_of(service, tmp_path, receive_timeout_s=0.1) as backend:
        service.running.latency_s = 0.5
        assert "value" in backend.batch(["SIGNAL", "us-cpi"])["answers"][0]


def test_an_upload_that_breaks_off_and_nonsense_leave_no_traceback_and_a_short_log(service, tmp_path):
    with started("serve", "--http", "--port", "0", environ=environment(tmp_path, service)) as process:
        url = address_in(process)
        for _ in range(40):
            with connected(url) as connection:
                connection.sendall(
                    b"POST /functions/call HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    b'Content-Length: 1000\r\n\r\n{"calls"'
                )
            with connected(url) as connection:
                connection.sendall(b"\x16\x03\x01 nonsense\r\n\r\n")
                ended(connection)
        assert httpx.get(f"{url}/health", trust_env=False).json() == {"ok": True}
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert "Traceback" not in errors
    assert len(errors.splitlines()) <= 20


def test_a_caller_that_does_not_read_its_answer_is_left_when_the_backend_ends():
    async def endless(_request):
        async def parts():
            while True:
                yield b"x" * 1_000_000

        return StreamingResponse(parts())

    with running(Starlette(routes=[Route("/", endless)]), listen("127.0.0.1", 0)) as url:
        connection = connected(url)
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(10)
    with connection:
        ended(connection)
    gc.collect()  # nothing is left open, or the test fails
