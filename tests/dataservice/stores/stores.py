"""Every tier, empty, for the contract they all keep."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from dataservice.stores import MemoryStore, ReplicatedStore, SqliteStore, Store
from dataservice.stores.redis import RedisStore
from dataservice.stores.sealed import SealedStore
from tests.attack.parts.redis_groups import Cluster


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """Run a Redis of our own on a free port; the URL of it."""
    binary = shutil.which("redis-server") or shutil.which("valkey-server")
    if binary is None:
        pytest.skip("no redis-server and no valkey-server on this machine")
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    process = subprocess.Popen([binary, *options], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if "eady to accept connections" in line:
                break
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.communicate()


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with redis_server(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture(scope="session")
def cluster_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster.url


@pytest.fixture(params=["memory", "shelf", "redis", "redis with a copy", "sealed", "cluster"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """One tier after another."""
    opened: Store
    match request.param:
        case "memory":
            opened = MemoryStore()
        case "shelf":
            opened = SqliteStore(tmp_path / "shelf.sqlite")
        case "cluster":
            opened = RedisStore.from_url(request.getfixturevalue("cluster_url"), prefix=f"{tmp_path}:")
            await opened.salt()  # what every client asks first, alone: it learns of the nodes
        case _:
            opened = RedisStore.from_url(request.getfixturevalue("redis_url"), prefix=f"{tmp_path}:")
            if request.param == "redis with a copy":
                opened = ReplicatedStore(opened, SqliteStore(tmp_path / "copy.sqlite"))
            elif request.param == "sealed":
                opened = SealedStore(opened, lambda salt: (salt * 6)[:96])
                await opened.salt()
    yield opened
    await opened.aclose()
