"""What watches a backend from outside: metrics, ids of requests, a log for machines."""

import io
import logging

import orjson
import pytest
from prometheus_client.parser import text_string_to_metric_families

from addin.backend.operation.metrics import Metrics
from addin.config.json_log import FIELDS, REQUEST_ID, JsonFormatter
from tests.addin.backends import backend_of
from tests.turns import counted_turns


def metrics_of(backend):
    text = backend.http.get("/metrics").text
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_metrics_count_responses_cells_and_requests(service, tmp_path):
    with backend_of(service, tmp_path) as backend:
        backend.batch(["SIGNAL", "us-cpi"], ["SIGNAL", "us-cpi", "unit"], ["INDEX", "risk-dial"])
        backend.batch(["SIGNAL", "us-cpi"])
        backend.http.get("/nothing")
        told = metrics_of(backend)
        assert service.key not in backend.http.get("/metrics").text
    assert told["addin_cells_total", "value"] == 4
    assert (told["addin_batches_total", "yes"], told["addin_batches_total", "no"]) == (1, 1)
    assert told["addin_service_responses_total", "200"] == told["addin_service_seconds_count",] == 2
    assert told["addin_service_requests_total",] == service.store.usage(service.key) == 2
    assert told["addin_batch_seconds_count",] == 2
    assert (told["addin_responses_total", "200"], told["addin_responses_total", "404"]) == (2, 1)
    assert told["addin_batches_under_way",] == 0


async def test_the_errors_of_a_large_batch_are_counted_in_turns():
    async with counted_turns() as turns:
        await Metrics().answered([b'{"error":"#N/A","message":"x","kind":"quota"'] * 200_000, 0)
    assert turns.count > 1


def test_errors_are_counted_by_kind_and_an_outage_is_seen_where_it_begins_and_ends(service, tmp_path, caplog):
    with backend_of(service, tmp_path) as backend, caplog.at_level(logging.INFO, "addin.events"):
        backend.batch(["SIGNAL", "us-cpi"], ["SIGNAL", "no such name"], ["SIGNAL", 1, 2, 3, 4, 5, 6, 7, 8])
        told = metrics_of(backend)
        assert told["addin_cells_total", "value"] == 1
        assert sum(count for name, count in told.items() if name[0] == "addin_cells_total") == 3
        assert told["addin_service_up",] == told["addin_store_up",] == 1
        assert told["addin_quota_remaining",] == told["addin_quota_cap",] - service.store.usage(service.key)
        service.running.stop()
        for slug in ("us-10y", "btc-usd", "survey.pmi", "cboe.vix", "eia.wti.spot"):
            backend.batch(["SIGNAL", slug])
        assert [event_in(record) for record in caplog.records] == ["outage_begun"]


def event_in(record):
    return orjson.loads(record.getMessage())["event"]


def test_no_more_memory_is_taken_for_answers_than_the_settings_allow_and_no_request_is_lost_by_it(service, tmp_path):
    slugs = ("us-cpi", "us-10y", "eia.wti.spot", "btc-usd")
    with backend_of(service, tmp_path, memory_bytes=40_000, memo_bytes=2_000) as backend:
        for day in range(1, 29):
            answers = backend.batch(*(["SIGNAL", slug, "value", f"2026-02-{day:02}"] for slug in slugs))["answers"]
            assert all("value" in answer for answer in answers), answers
        assert metrics_of(backend)["addin_users_bytes",] <= 40_000 * 2 + 2_000
    assert service.running.request_count == len(slugs)


def test_metrics_tell_how_many_users_there_are(service, tmp_path):
    with backend_of(service, tmp_path, key="", per_user_keys=True) as backend:
        for key in (service.key, service.free_key):
            backend.batch(["SIGNAL", "us-cpi"], **{"x-data-service-key": key, "x-forwarded-proto": "https"})
        assert metrics_of(backend)["addin_users",] == 2


@pytest.mark.parametrize("sent", ["", "a b", "x" * 65, 'a"b', "ä"])
def test_a_request_without_a_proper_id_gets_a_new_one(sample_backend, sent):
    ids = {
        sample_backend.http.get("/health", headers={"x-request-id": sent.encode()}).headers["x-request-id"]
        for _ in range(2)
    }
    assert len(ids) == 2
    assert sent not in ids


def test_the_id_that_a_proxy_sent_is_kept_also_where_a_request_is_refused(sample_backend):
    for host in ("localhost", "evil.example"):
        told = sample_backend.http.get("/health", headers={"x-request-id": "proxy-1", "host": host})
        assert told.headers["x-request-id"] == "proxy-1"


def test_a_log_line_is_json_with_its_request_and_without_any_key():
    key = "ds_" + "0" * 40
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    record = logging.LogRecord("addin.requests", logging.INFO, "", 1, 'asked with Bearer "%s"', (key,), None)
    setattr(record, FIELDS, {"status": 200})
    token = REQUEST_ID.set("r-1")
    handler.handle(record)
    REQUEST_ID.reset(token)
    line = orjson.loads(stream.getvalue())
    assert (line["request_id"], line["status"], line["level"], line["logger"]) == ("r-1", 200, "info", "addin.requests")
    assert key not in stream.getvalue()
