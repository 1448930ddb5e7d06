"""The monthly allowance: never more than the cap, whoever asks, and a new one each month."""

import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from dataservice.server import Store
from dataservice.server.db.keys import KeyRecord
from tests.embedded import EmbeddedService

CALLERS = 50


@dataclass
class Clock:
    now: datetime

    def __call__(self) -> datetime:
        return self.now


@contextmanager
def process(database: Path):
    """The service as a process of its own; gives its address."""
    command = [str(Path(sys.executable).with_name("dataservice")), "serve", "--port", "0", "--db", str(database)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        try:
            yield service.stdout.readline().split()[3].rstrip(",")
        finally:
            service.terminate()


def statuses(urls: list[str], key: str) -> Counter:
    """Ask with all callers at once, each at one of the addresses, and count the statuses."""
    asked = [urls[number % len(urls)] + "/v1/indices" for number in range(CALLERS)]
    authorization = {"Authorization": f"Bearer {key}"}
    with httpx.Client(headers=authorization, timeout=60) as client, ThreadPoolExecutor(CALLERS) as pool:
        return Counter(answer.status_code for answer in pool.map(client.get, asked))


def test_the_last_three_requests_of_a_month_are_exactly_three(service: EmbeddedService):
    key = service.store.create_key(cap=3)
    assert statuses([service.url], key) == {200: 3, 429: CALLERS - 3}
    assert service.store.usage(key) == 3


def test_two_processes_on_one_database_give_no_more_than_the_cap(tmp_path):
    database = tmp_path / "service.db"
    with Store(database) as store:
        key = store.create_key(cap=3)
        with process(database) as one, process(database) as other:
            assert statuses([one, other], key) == {200: 3, 429: CALLERS - 3}
        assert store.usage(key) == 3


def test_a_spent_key_is_told_so_with_nothing_remaining(service: EmbeddedService):
    client = httpx.Client(base_url=service.url, headers={"Authorization": f"Bearer {service.store.create_key(cap=1)}"})
    with client:
        assert client.get("/v1/signals").headers["X-Service-RateLimit-Remaining"] == "0"
        for path in ("/v1/signals", "/v1/wire", "/v1/no-such-endpoint"):
            answer = client.get(path)
            assert answer.status_code == 429
            assert answer.headers["X-Service-RateLimit-Remaining"] == "0"
            assert answer.headers["X-Service-RateLimit-Cap"] == "1"
            assert "used up" in answer.json()["error"]
        assert client.get("/openapi.json").status_code == 200


def used_after(store: Store, record: KeyRecord) -> int | None:
    """How many requests are used after one more; None where it was refused."""
    counted = store.keys.count(record)
    return None if counted is None else counted.used


def test_a_new_month_brings_a_new_allowance(tmp_path):
    clock = Clock(datetime(2026, 8, 31, 23, 59, 59, tzinfo=UTC))
    with Store(tmp_path / "service.db", clock=clock) as store:
        record = store.keys.find(store.create_key(cap=1))
        assert [used_after(store, record), used_after(store, record)] == [1, None]
        clock.now = datetime(2026, 9, 1, tzinfo=UTC)
        assert [used_after(store, record), used_after(store, record)] == [1, None]


def test_keys_have_allowances_of_their_own(tmp_path):
    with Store(tmp_path / "service.db") as store:
        one, other = (store.keys.find(store.create_key(cap=2)) for _ in range(2))
        assert [used_after(store, one), used_after(store, one), used_after(store, one)] == [1, 2, None]
        assert used_after(store, other) == 1


def test_counts_survive_a_restart(tmp_path):
    with Store(tmp_path / "service.db") as store:
        key = store.create_key()
        store.keys.count(store.keys.find(key))
    with Store(tmp_path / "service.db") as store:
        assert store.usage(key) == 1


@pytest.mark.parametrize("key", ["", "ds_" + "0" * 40])
def test_a_key_that_opens_nothing_has_spent_nothing(tmp_path, key):
    with Store(tmp_path / "service.db") as store:
        assert store.usage(key) == 0
