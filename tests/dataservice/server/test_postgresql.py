"""The same service on PostgreSQL: on a server of our own, or the one that DATA_SERVICE_TEST_POSTGRESQL names.

Everything happens in a schema of its own, which is dropped at the end.
"""

import os
import secrets
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

from dataservice.server import Store, import_directory, running
from tests.dataservice.server.db import counted_together
from tests.postgresql import postgresql_server

PATHS = [
    "/v1/signals",
    "/v1/signals?limit=3&offset=4",
    "/v1/signals?category=fx",
    "/v1/signals/eia.wti.spot?history=365",
    "/v1/signals/none",
    "/v1/signals/%00",
    "/v1/signals/eia.wti.spot/observations",
    "/v1/signals/eia.wti.spot/observations?offset=1000",
    "/v1/signals/us-cpi/observations?start=2024-01-01&end=2025-01-01",
    "/v1/signals/us-cpi/observations?start=0001-01-01&end=9999-12-31",
    "/v1/signals/us-cpi/observations?offset=2147483647",
    "/v1/indices",
    "/v1/currents",
    "/v1/codex?handle=ballast&story_type=brief",
    "/v1/almanac?beat=macro&since=2026-08-01",
    "/v1/wire?limit=200",
    "/v1/wire?min_importance=60&kind=breaking",
    "/v1/wire?ticker=WTI&source=Made-up%20Wire",
    "/v1/wire?beat=%00&since=2026-08-01T00:00:00Z",
    "/v1/wire?limit=0",
]


@pytest.fixture(scope="module")
def server():
    if given := os.environ.get("DATA_SERVICE_TEST_POSTGRESQL"):
        yield given
        return
    with postgresql_server() as started:
        yield started


@pytest.fixture(scope="module")
def url(server):
    given = server
    schema = f"dataservice_{secrets.token_hex(4)}"
    engine = create_engine(given)
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
    own = make_url(given).update_query_dict({"options": f"-csearch_path={schema}"})
    yield own.render_as_string(hide_password=False)
    with engine.begin() as connection:
        connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
    engine.dispose()


@pytest.fixture(scope="module")
def store(url, sample_data):
    with Store(url) as store:
        import_directory(store, sample_data)
        yield store


@pytest.fixture(scope="module")
def service(store):
    with running(store) as service:
        yield service


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_is_that_of_sqlite(store, service, sample_service, path):
    here = httpx.get(service.url + path, headers={"Authorization": f"Bearer {store.create_key('pro')}"})
    there = httpx.get(sample_service.url + path, headers={"Authorization": f"Bearer {sample_service.key}"})
    assert (here.status_code, here.json()) == (there.status_code, there.json())


def test_fifty_callers_get_no_more_than_the_cap(store, service):
    key = store.create_key(cap=3)
    with httpx.Client(headers={"Authorization": f"Bearer {key}"}) as client, ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(client.get, [f"{service.url}/v1/indices"] * 50))
    assert sorted(answer.status_code for answer in answers) == [200] * 3 + [429] * 47
    assert store.usage(key) == 3


def test_processes_that_share_the_database_give_no_more_than_the_cap_between_them(store, url):
    key = store.create_key(cap=40)
    command = [sys.executable, "-m", "dataservice", "serve", "--db", url, "--port", "0", "--workers", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as serving:
        try:
            address = next(word for word in serving.stdout.readline().split() if word.startswith("http://"))
            path = f"{address.rstrip(',')}/v1/signals/us-cpi"
            client = httpx.Client(headers={"Authorization": f"Bearer {key}"}, timeout=60)
            with client, ThreadPoolExecutor(20) as pool:
                answers = list(pool.map(client.get, [path] * 60))
        finally:
            serving.terminate()
            serving.wait()
    assert sorted(answer.status_code for answer in answers) == [200] * 40 + [429] * 20
    assert store.usage(key) == 40


def test_requests_counted_together_get_what_they_get_one_by_one(store):
    counted_together.check(store)


def test_no_key_gets_more_than_its_cap_whoever_counts(store):
    counted_together.check_side_by_side(store)


def test_after_an_import_the_new_data_are_shown(store, service, sample_data):
    headers = {"Authorization": f"Bearer {store.create_key('pro')}"}
    with httpx.Client(headers=headers) as client:
        first = client.get(f"{service.url}/v1/signals/us-cpi")
        import_directory(store, sample_data)
        assert client.get(f"{service.url}/v1/signals/us-cpi").content == first.content


def test_importing_again_replaces_while_readers_see_one_state(store, service, sample_data):
    seen = set()

    def read(*_):
        seen.add(store.observations("us-cpi", start=None, before=None, limit=1_000, offset=0).total)

    import_directory(store, sample_data, on_progress=read)
    assert len(seen) == 1


def test_a_key_can_be_revoked(store):
    key = store.create_key("enterprise", cap=5_000_000_000)
    record = store.keys.find(key)
    store.keys.revoke(record)
    assert store.keys.find(key) is None
    assert record.id in {other.id for other in store.keys.records()}
