"""What an administrator sees: readiness, a log of requests without keys, and a banner."""

import asyncio
import logging
import re
import traceback

import httpx
import pytest

from addin.backend.app import create_app, stopping_of
from addin.backend.operation.readiness import CHECKED_FOR_S, ReadinessCheck
from addin.backend.operation.request_log import SparingFilter
from addin.backend.operation.service_watch import FAILURES, ServiceWatch
from addin.backend.service_connections import ServiceConnections
from addin.cli.commands.serve import deployment
from addin.config.settings import Settings
from dataservice.stores import MemoryStore
from tests.addin.backends import backend_of

DEAD_REDIS = "redis://:a-password@127.0.0.1:1/0"


def test_it_is_ready_while_store_and_service_work_and_asking_costs_nothing(backend, service):
    response = backend.http.get("/ready")
    assert (response.status_code, response.json()) == (200, {"ready": True, "store": "ok", "service": "ok"})
    assert service.store.usage(service.key) == 0


def test_with_a_dead_redis_it_is_alive_and_not_ready(service, tmp_path):
    with backend_of(service, tmp_path, redis_url=DEAD_REDIS) as backend:
        assert backend.http.get("/health").json() == {"ok": True}
        response = backend.http.get("/ready")
        assert response.status_code == 503
        assert response.json()["store"].startswith("failing: it cannot be reached")
        assert "a-password" not in response.text
        assert "value" in backend.batch(["SIGNAL", "us-cpi"])["answers"][0]


async def test_told_to_stop_it_says_so_and_answers_all_the_same():
    app = create_app(Settings(url="https://data.example"), key=None)
    stopping_of(app).begin()
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        told = [(await http.get(path)).status_code for path in ("/ready", "/health/serving", "/live", "/registry.json")]
    assert told == [503, 503, 200, 200]


def test_without_the_service_it_is_alive_and_not_ready(backend, service):
    service.running.stop()
    assert backend.http.get("/health").status_code == 200
    response = backend.http.get("/ready")
    assert (response.status_code, response.json()["service"]) == (503, "failing (RefusedError)")


async def test_an_answer_holds_for_some_seconds(service):
    now = 0.0
    connections = ServiceConnections(service.url, 4)
    check = ReadinessCheck(MemoryStore(), service.url, connections, ServiceWatch(), clock=lambda: now)
    assert (await check.now()).ready
    service.running.stop()
    assert (await check.now()).ready
    now = CHECKED_FOR_S + 1
    assert not (await check.now()).ready
    await connections.close_all()


async def test_a_service_that_refuses_without_a_key_and_fails_with_one_is_away(service):
    now = 0.0
    connections, watch = ServiceConnections(service.url, 4), ServiceWatch(clock=lambda: now)
    connections.observed = lambda told, _, has_key: watch.answered(told, has_key=has_key)
    check = ReadinessCheck(MemoryStore(), service.url, connections, watch, clock=lambda: now)
    for failures in range(FAILURES):
        now += CHECKED_FOR_S + 1
        assert (await check.now()).ready, f"after {failures} failures alone"
        watch.answered(503)
    now += CHECKED_FOR_S + 1
    assert (await check.now()).parts["service"] == "failing: status 503, several times in a row"
    await connections.close_all()


def test_the_log_of_requests_has_one_line_each_and_no_key(service, tmp_path, caplog):
    with backend_of(service, tmp_path, log_requests=True) as backend, caplog.at_level(logging.INFO, "addin.requests"):
        backend.batch(["SIGNAL", service.key])
        backend.http.get(f"/{service.key}?key={service.key}")
        backend.http.get("/forged%0A127.0.0.1%20GET%20/ok")
        backend.http.get("/health", headers={"host": "evil.example"})
    lines = [record.getMessage() for record in caplog.records if record.name == "addin.requests"]
    assert [line.split(" ms")[0].rsplit(" ", 1)[0] for line in lines] == [
        "127.0.0.1 POST /functions/call 200",
        "127.0.0.1 GET /ds_\\u2026 404",
        "127.0.0.1 GET /forged\\n127.0.0.1 GET /ok 404",
        "127.0.0.1 GET /health 421",
    ]
    assert service.key not in caplog.text


def test_the_log_and_the_metrics_tell_what_a_request_has_used_of_the_processor(service, tmp_path, caplog):
    calls = [["SIGNAL_HISTORY", "us-10y", f"N{n}", None, "transform=zscore(20)"] for n in range(20, 60)]
    with backend_of(service, tmp_path, log_requests=True) as backend, caplog.at_level(logging.INFO, "addin.requests"):
        backend.batch(*calls)
        metrics = backend.http.get("/metrics").text
    line = next(record.getMessage() for record in caplog.records if "/functions/call" in record.getMessage())
    logged_ms = float(re.search(r"\(processor (\d+) ms\)", line)[1])
    counted_s = float(re.search(r'^addin_processor_seconds_total{key="accepted"} (\S+)', metrics, re.MULTILINE)[1])
    assert logged_ms > 0
    assert counted_s == pytest.approx(logged_ms / 1000, abs=0.001)


def test_the_log_of_requests_is_off_by_default(sample_backend, caplog):
    with caplog.at_level(logging.INFO):
        sample_backend.http.get("/health")
    assert [record for record in caplog.records if record.name == "addin.requests"] == []


def test_equal_warnings_are_logged_a_few_times_a_minute():
    now = 0.0
    sparing = SparingFilter(3, clock=lambda: now)

    def passed(message):
        return sparing.filter(logging.LogRecord("x", logging.WARNING, "", 1, message, None, None))

    assert [passed("nonsense") for _ in range(5)] == [True, True, True, False, False]
    assert passed("another")
    now = 61.0
    assert passed("nonsense")


def test_a_request_that_is_cut_short_is_no_failure_in_the_log():
    cut, failed = asyncio.CancelledError("the program ends"), OSError("no disk")
    passed = [
        SparingFilter(3).filter(logging.LogRecord("x", logging.ERROR, "", 1, "it failed", None, (type(why), why, None)))
        for why in (cut, failed)
    ]
    assert passed == [False, True]


def test_a_second_ctrl_c_while_it_stops_leaves_no_traceback_in_the_log():
    try:
        raise asyncio.CancelledError
    except asyncio.CancelledError:
        cut = traceback.format_exc()  # as the server logs that its own end was cut short
    try:
        raise OSError("no disk")
    except OSError:
        failed = traceback.format_exc()
    sparing = SparingFilter(3)
    passed = [sparing.filter(logging.LogRecord("x", logging.ERROR, "", 1, text, None, None)) for text in (cut, failed)]
    assert passed == [False, True]


def test_the_banner_tells_redis_and_the_public_address_but_no_password():
    settings = Settings(public_url="https://addin.example", redis_url=DEAD_REDIS, per_user_keys=True)
    told = "\n".join(deployment(settings))
    assert "https://addin.example" in told
    assert "Redis at 127.0.0.1:1" in told
    assert "Each user" in told
    assert "a-password" not in told
    assert deployment(Settings()) == []


def test_the_status_tells_of_a_name_that_no_service_can_have(backend):
    backend.batch(["SIGNAL", "no such name"])
    assert backend.http.get("/status").status_code == 200
