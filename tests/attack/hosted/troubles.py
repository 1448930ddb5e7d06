"""What happens to a shared Redis while users work: it is paused and killed, or servers take over from each other."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from tests.attack.parts.redis_groups import Cluster, is_replicated, sentinels, wait_until
from tests.attack.parts.redis_process import RedisProcess

PAUSED_S = 1.5
AWAY_S = 1.5

Trouble = Callable[[random.Random, threading.Event], int]
"""Makes trouble until told to end, leaves all servers running, and tells how often it made some."""

KINDS = ("single", "sentinel", "cluster")


@contextmanager
def deployment(kind: str, folder: Path) -> Iterator[tuple[str, Trouble]]:
    """The address of a Redis of this kind, and the trouble it has."""
    if kind == "single":
        with RedisProcess(folder) as redis:
            yield redis.url, lambda chance, ended: _come_and_go(redis, chance, ended)
    elif kind == "sentinel":
        with sentinels(folder) as (url, servers):
            yield url, lambda chance, ended: _take_over(servers, chance, ended)
    else:
        with Cluster(folder, replicas=True) as cluster:
            yield cluster.url, lambda chance, ended: _take_over(cluster.nodes, chance, ended)


def _come_and_go(redis: RedisProcess, chance: random.Random, ended: threading.Event) -> int:
    times = 0
    while not ended.wait(chance.uniform(0.2, 1.0)):
        redis.pause()
        ended.wait(PAUSED_S)
        redis.resume()
        times += 1
        if ended.wait(chance.uniform(0.2, 1.0)):
            break
        redis.kill()
        ended.wait(AWAY_S)
        redis.start()
    return times


def _take_over(servers: list[RedisProcess], chance: random.Random, ended: threading.Event) -> int:
    """Kill a master, see another server take over, and start the killed one again, as its replica."""
    times = 0
    while not ended.wait(chance.uniform(0.2, 1.0)):
        masters = {server.port for server in servers if _is_master(server)}
        killed = chance.choice([server for server in servers if server.port in masters])
        killed.kill()
        others = [server for server in servers if server is not killed and server.port not in masters]
        wait_until(lambda others=others: any(_is_master(server) for server in others))
        ended.wait(AWAY_S)
        killed.start()
        wait_until(lambda killed=killed: is_replicated(killed))
        times += 1
    return times


def _is_master(server: RedisProcess) -> bool:
    try:
        with Redis(port=server.port) as client:
            return client.info("replication")["role"] == "master"
    except RedisError:
        return False
