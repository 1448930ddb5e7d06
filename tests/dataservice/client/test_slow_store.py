"""A shared store that stops for a moment: processes still share their requests, and nobody waits much longer."""

import threading

import pytest
import redis

from dataservice.server import Store, import_directory, running
from tests.dataservice.stores.stores import redis_server
from tests.forking import started_code

PROCESSES = 6
PAUSE_S = 1.5
SLUGS = [f"s.{number}" for number in range(25)]

READER = """
import asyncio, sys, time
from dataservice.client import AsyncClient, SignalResource
from dataservice.stores.redis import RedisStore

async def main(url, key, redis_url, *slugs):
    store = RedisStore.from_url(redis_url)
    async with AsyncClient(url, key, store=store) as client:
        await client.last_known(SignalResource(slugs[0]))
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        began = time.perf_counter()
        await asyncio.gather(*(client.read(SignalResource(slug)) for slug in slugs))
        print(time.perf_counter() - began, client.requests_sent)
    await store.aclose()

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Return the store of a service with 25 signals."""
    folder = tmp_path_factory.mktemp("few")
    rows = "".join(f"{slug},{slug},prices,made up,price,false\n" for slug in SLUGS)
    (folder / "signals.csv").write_text(f"slug,name,category,source,signal_type,is_premium\n{rows}")
    with Store(folder / "service.db") as store:
        import_directory(store, folder)
        yield store


@pytest.mark.parametrize("pause_after_s", [0.0, 0.1])
def test_six_processes_on_a_redis_that_stops_ask_once_for_each_signal(served, tmp_path, pause_after_s):
    with redis_server(tmp_path) as url, running(served, latency_s=0.05) as service:
        arguments = [service.url, served.create_key("pro"), url, *SLUGS]
        processes = [started_code(READER, *arguments) for _ in range(PROCESSES)]
        with redis.Redis.from_url(url) as control:
            control.ping()
            pausing = threading.Timer(pause_after_s, control.client_pause, [int(PAUSE_S * 1_000)])
            assert {process.stdout.readline() for process in processes} == {"ready\n"}
            pausing.start()
            if not pause_after_s:
                pausing.join()
            for process in processes:
                process.stdin.write("go\n")
                process.stdin.flush()
            told = [process.communicate()[0].split() for process in processes]
            pausing.join()
        assert service.request_count == sum(int(sent) for _, sent in told) <= 1.2 * len(SLUGS)
        assert max(float(took_s) for took_s, _ in told) < 10.0  # half of what a cell's deadline allows
