"""The service on a PostgreSQL that is stopped, started again, or stands still: 503, soon, and then answers again."""

import logging
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from dataservice.server import Store, import_directory, running
from dataservice.server.http.database_away import ANSWERS_WITHIN_S
from tests.postgresql import away, frozen, postgresql_server

PATHS = ("/v1/signals/us-cpi", "/v1/signals?limit=3", "/v1/indices")


@pytest.fixture(scope="module")
def server():
    with postgresql_server() as url:
        yield url


@pytest.fixture(scope="module")
def on_server(server, sample_data):
    with Store(server) as store:
        import_directory(store, sample_data)
        key = store.create_key("pro")
        with running(store) as service, httpx.Client(base_url=service.url, timeout=60) as http:
            http.headers["authorization"] = f"Bearer {key}"
            yield store, key, http


def statuses(http, paths=PATHS):
    with ThreadPoolExecutor(len(paths)) as threads:
        return [answer.status_code for answer in threads.map(http.get, paths)]


def test_while_the_database_is_restarted_callers_get_503_and_then_answers_without_a_trace_in_the_log(
    server, on_server, caplog
):
    _, _, http = on_server
    assert statuses(http) == [200] * 3
    with caplog.at_level(logging.ERROR), away(server):
        refused = http.get(PATHS[0])
        assert statuses(http) == [503] * 3
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "2")
    assert "database" in refused.json()["error"]
    assert refused.headers["x-service-tier"] == ""
    assert "Traceback" not in caplog.text
    assert statuses(http) == [200] * 3


def test_while_the_database_stands_still_callers_get_503_soon_and_are_not_counted_for_what_waited(server, on_server):
    store, key, http = on_server
    before = store.usage(key)
    with frozen(server):
        began = time.monotonic()
        assert statuses(http, PATHS * 20) == [503] * 60
        assert time.monotonic() - began < 3 * ANSWERS_WITHIN_S
    until = time.monotonic() + 30
    while statuses(http) != [200] * 3:
        assert time.monotonic() < until
    assert store.usage(key) - before <= 6, "three now, and the group that stood in the database"
