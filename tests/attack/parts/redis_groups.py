"""Several Redis processes that are one to their clients: a cluster, and servers that Sentinels watch."""

from __future__ import annotations

import itertools
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from tests.attack.parts.redis_process import RedisProcess, free_port, free_ports

NODE_TIMEOUT_MS = 800
"""A node that is gone for so long is replaced."""

SLOTS = 16_384
PATIENCE_S = 30.0


class Cluster:
    """`masters` nodes that divide all names among them, each with a replica if `replicas`; runs inside `with`."""

    def __init__(self, folder: Path, *, masters: int = 3, replicas: bool = False) -> None:
        count = masters * (2 if replicas else 1)
        ports = free_ports(2 * count)
        self.nodes = [_cluster_node(folder, *ports[2 * number : 2 * number + 2]) for number in range(count)]
        self._masters = masters
        self._stack = ExitStack()

    @property
    def url(self) -> str:
        """The address with every node in it."""
        return "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    def __enter__(self) -> Cluster:
        with ExitStack() as stack:
            for node in self.nodes:
                stack.enter_context(node)
            self._join()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *raised: object) -> None:
        self._stack.close()

    def _join(self) -> None:
        share = -(-SLOTS // self._masters)
        for number, node in enumerate(self.nodes):
            with Redis(port=node.port) as client:
                for other in self.nodes[:number]:
                    client.execute_command("CLUSTER MEET", "127.0.0.1", other.port, other.bus_port)
                if number < self._masters:
                    last = min(SLOTS, (number + 1) * share) - 1
                    client.execute_command("CLUSTER ADDSLOTSRANGE", number * share, last)
        for node in self.nodes:
            wait_until(lambda node=node: _info(node, "cluster_known_nodes") == str(len(self.nodes)))
        for number, node in enumerate(self.nodes[self._masters :]):
            with Redis(port=self.nodes[number].port) as master, Redis(port=node.port) as client:
                name = master.execute_command("CLUSTER MYID").decode()
                wait_until(lambda client=client, name=name: client.execute_command("CLUSTER REPLICATE", name))
        for node in self.nodes:
            wait_until(lambda node=node: _info(node, "cluster_state") == "ok")
        for node in self.nodes[self._masters :]:
            wait_until(lambda node=node: is_replicated(node))


@contextmanager
def sentinels(folder: Path, *, ready_to_fail_over: bool = True) -> Iterator[tuple[str, list[RedisProcess]]]:
    """A server, its replica, and three Sentinels; the address of the service, and both servers.

    They need some ten seconds until they know each other and the replica (`ready_to_fail_over`).
    """
    with ExitStack() as stack:
        first = stack.enter_context(RedisProcess(folder))
        second = stack.enter_context(RedisProcess(folder, "--replicaof", f"127.0.0.1 {first.port}"))
        wait_until(lambda: is_replicated(second))
        ports = [_sentinel(stack, folder / f"sentinel-{number}.conf", first.port) for number in range(3)]
        for port in ports:
            wait_until(lambda port=port: _sees_all(port) if ready_to_fail_over else _answers(port))
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
        yield f"redis+sentinel://{hosts}/mymaster/0", [first, second]


def _sentinel(stack: ExitStack, file: Path, master_port: int) -> int:
    port, binary = free_port(), shutil.which("redis-server") or shutil.which("valkey-server")
    assert binary is not None
    watched = "sentinel monitor mymaster 127.0.0.1"
    file.write_text(
        f"port {port}\nbind 127.0.0.1\ndir {file.parent}\n{watched} {master_port} 2\n"
        "sentinel down-after-milliseconds mymaster 700\nsentinel failover-timeout mymaster 3000\n",
        encoding="utf-8",
    )
    process = subprocess.Popen([binary, str(file), "--sentinel"], stdout=subprocess.DEVNULL)
    stack.callback(process.wait)
    stack.callback(process.kill)
    return port


def _answers(port: int) -> bool:
    with Redis(port=port) as client:
        return bool(client.ping())


def _sees_all(port: int) -> bool:
    with Redis(port=port) as client:
        seen = client.sentinel_master("mymaster")
    return seen["num-other-sentinels"] == 2 and seen["num-slaves"] == 1


def _cluster_node(folder: Path, port: int, bus_port: int) -> RedisProcess:
    options = ["--cluster-enabled", "yes", "--cluster-config-file", f"nodes-{port}.conf"]
    options += ["--cluster-node-timeout", str(NODE_TIMEOUT_MS), "--cluster-port", str(bus_port)]
    node = RedisProcess(folder, *options, port=port)
    node.bus_port = bus_port
    return node


def _info(node: RedisProcess, name: str) -> str:
    with Redis(port=node.port) as client:
        return str(client.execute_command("CLUSTER INFO").get(name))


def is_replicated(node: RedisProcess) -> bool:
    """Whether it is a replica that holds what its master holds."""
    with Redis(port=node.port) as client:
        return client.info("replication").get("master_link_status") == "up"


def wait_until(is_so: Callable[[], object]) -> None:
    """Look again and again until it is so; what cannot be asked yet is not so."""
    ends, never = time.monotonic() + PATIENCE_S, threading.Event()
    for _ in itertools.count():
        try:
            if is_so():
                return
        except RedisError:
            pass
        if time.monotonic() > ends:
            raise TimeoutError("the servers did not come together")
        never.wait(0.02)
