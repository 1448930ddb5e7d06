"""The component and the backend: batches, refusals, and a backend that is not there."""

import json
import socket
import threading
from contextlib import contextmanager

import pytest

from addin.calc.component.backend import Address, BackendClient, BackendError
from addin.calc.component.calls import functions_of
from addin.calc.component.engine import BATCH, Engine
from addin.calc.component.response_cache import ResponseCache
from addin.calc.component.values import NA
from addin.calc.extension import Extension, extension_parts
from tests.addin.calc.counting import counted_backend, unused_url

FUNCTIONS = {
    f.id: f
    for f in functions_of(
        [{"id": "SIGNAL", "parameters": [{"zero_is_blank": True, "is_day": False}] * 4, "options_at": 3}]
    )
}
CPI = ("SIGNAL", "us-cpi")


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def backend_at():
    """Return what makes backends, and close them afterwards."""
    made = []

    def make(url: str, clock: Clock | None = None) -> BackendClient:
        made.append(BackendClient(Address(url), clock or Clock()))
        return made[-1]

    yield make
    for backend in made:
        backend.close()


@pytest.fixture
def engine_at(backend_at):
    """Return what makes engines."""

    def make(url: str) -> Engine:
        clock = Clock()
        return Engine(backend_at(url, clock), ResponseCache(clock), FUNCTIONS, clock)

    return make


def replied(answers):
    """A whole answer of a backend over HTTP."""
    body = json.dumps({"answers": answers, "requests": 0, "quota": None, "generation": 1}).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


@contextmanager
def answering(*replies: bytes):
    """A server that answers with these bytes, one connection each."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            for reply in replies:
                connection, _ = server.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(reply)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_many_calls_are_a_few_batches_and_a_recalculation_is_none(service, tmp_path, engine_at):
    with counted_backend(service, tmp_path) as backend:
        engine = engine_at(backend.url)
        calls = [("SIGNAL", "us-cpi", None, 40000.0 + i) for i in range(BATCH + 1)]
        engine.fetch(calls)
        batches = backend.batches
        assert batches >= 2
        assert engine.fresh(calls[-1]) is not None
        assert engine.value(calls[0]) is engine.cached(calls[0]).value
        assert backend.batches == batches
    assert service.running.request_count == 1


def test_one_call_that_the_backend_refuses_harms_no_other(service, tmp_path, engine_at):
    with counted_backend(service, tmp_path, max_body_bytes=2000) as backend:
        engine = engine_at(backend.url)
        huge = ("SIGNAL", "x" * 3000)
        engine.fetch([CPI, huge, ("SIGNAL", "us-10y")])
        assert "max_body_bytes" in engine.cached(huge).message
        assert engine.cached(CPI).value > 0
        assert engine.cached(("SIGNAL", "us-10y")).value > 0


def test_a_backend_that_does_not_run_is_told_and_not_tried_for_every_cell(backend_at):
    clock = Clock()
    backend = backend_at(unused_url(), clock)
    with pytest.raises(BackendError, match="start it with: addin serve"):
        backend.answers([CPI])
    backend.address = Address("http://not-even-looked-up.invalid")
    with pytest.raises(BackendError, match="start it with: addin serve"):
        backend.answers([CPI])


def test_a_backend_that_came_back_is_tried_again_after_some_seconds(service, tmp_path, backend_at):
    clock = Clock()
    backend = backend_at(unused_url(), clock)
    with pytest.raises(BackendError):
        backend.answers([CPI])
    with counted_backend(service, tmp_path) as running:
        backend.address = Address(running.url)
        clock.now += 60
        assert backend.answers([CPI])[0]["value"] > 0


RESTARTING = b'{"error":"the backend is restarting","kind":"restarting"}'
PROXY = b"<!doctype html><h1>No backend</h1>"


@pytest.mark.parametrize(("status", "body"), [(503, RESTARTING), (502, PROXY), (503, PROXY), (504, PROXY)])
def test_a_backend_that_is_away_for_a_moment_is_asked_again_until_it_is_back(backend_at, status, body):
    away = b"HTTP/1.1 %d Away\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%b" % (status, len(body), body)
    value = b'{"answers":[{"value":1,"fresh_s":9}],"requests":0,"quota":null,"generation":1}'
    answer = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%b" % (len(value), value)
    with answering(away, away, answer) as url:
        backend, pauses = backend_at(url), []
        backend._sleep = pauses.append
        assert backend.answers([CPI])[0]["value"] == 1
    assert pauses == [0.5, 1.0]


def test_a_backend_that_answered_just_now_and_is_gone_is_waited_for_once(service, tmp_path, backend_at):
    with counted_backend(service, tmp_path) as running:
        backend, pauses = backend_at(running.url), []
        backend._sleep = pauses.append
        backend.answers([CPI])
    backend.close()
    for _ in range(2):
        with pytest.raises(BackendError, match="start it with: addin serve") as raised:
            backend.answers([CPI])
        assert raised.value.is_away
    assert pauses == [0.5, 1.0, 2.0, 4.0]


def test_without_a_backend_a_cell_shows_the_error_in_the_style_it_asked_for(engine_at):
    engine = engine_at(unused_url())
    assert engine.value(CPI) is NA
    assert "addin serve" in engine.value(("SIGNAL", "us-cpi", None, None, "err=text"))
    assert engine.value(("SIGNAL", "us-cpi", None, None, "err=blank")) == ""
    assert len(engine.messages()) == 1


def test_a_backend_that_went_away_leaves_the_last_values(service, tmp_path, engine_at):
    with counted_backend(service, tmp_path) as backend:
        engine = engine_at(backend.url)
        value = engine.value(CPI)
    engine.expire()
    assert engine.value(CPI) == value
    assert "did not answer" in engine.cached(CPI).message or "does not run" in engine.cached(CPI).message


def test_a_connection_that_was_closed_meanwhile_is_opened_again(backend_at):
    reply = replied([{"value": 1}])
    with answering(reply, reply) as url:
        backend = backend_at(url, Clock())
        assert backend.answers([CPI]) == [{"value": 1}]
        assert backend.answers([CPI]) == [{"value": 1}]


@pytest.mark.parametrize(
    "reply",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"answers": []}',
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
    ],
)
def test_what_is_not_the_backend_is_told_as_such(reply, backend_at):
    with answering(reply) as url, pytest.raises(BackendError, match=r"not the add-in's backend|refused"):
        backend_at(url, Clock()).answers([CPI])


def test_an_answer_that_cannot_be_read_is_an_error_of_its_cell(engine_at):
    reply = replied([{"columns": None}])
    with answering(reply) as url:
        engine = engine_at(url)
        assert engine.value(CPI) is NA
        assert "build the extension again" in engine.cached(CPI).message


def test_an_address_that_is_none_is_told(backend_at):
    with pytest.raises(BackendError, match="is not an address"):
        backend_at("localhost:8765", Clock()).status()


def test_the_built_extension_knows_the_same_functions():
    parts = extension_parts(Extension())
    assert b'"SIGNAL"' in parts["pythonpath/dataservice_addin_ds/built.json"]
