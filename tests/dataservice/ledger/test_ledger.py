"""Ledgers keep what must not be lost, say when they cannot, and are another incarnation once they began again."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys

import pytest
from redis import Redis

from dataservice.ledger import LedgerAwayError, SealedLedger, SqliteLedger
from dataservice.ledger.redis import KEY, PAUSE_S, RedisLedger
from tests.dataservice.stores.stores import redis_server


@pytest.fixture(scope="module")
def ledger_redis(tmp_path_factory):
    with redis_server(tmp_path_factory.mktemp("redis")) as url:
        yield url


class Kept:
    """A ledger of each kind, how another process opens it, and what may happen to where it keeps its facts."""

    def __init__(self, kind, path, url):
        self.kind, self.path, self.url, self.copy = kind, path / "ledger.sqlite", url, path / "copy"
        if kind == "redis":
            Redis.from_url(url).flushall()

    def opened(self):
        if self.kind == "redis":
            return RedisLedger.from_url(self.url)
        return SqliteLedger(self.path) if self.kind == "sqlite" else SealedLedger(SqliteLedger(self.path), bytes(96))

    def empty(self):
        Redis.from_url(self.url).flushall() if self.kind == "redis" else self.path.unlink()

    def save(self):
        if self.kind == "redis":
            self.copy.write_bytes(Redis.from_url(self.url).dump(KEY))
        else:
            shutil.copy(self.path, self.copy)

    def set_back(self):
        if self.kind == "redis":
            Redis.from_url(self.url).restore(KEY, 0, self.copy.read_bytes(), replace=True)
        else:
            shutil.copy(self.copy, self.path)


@pytest.fixture(params=["sqlite", "sealed", "redis"])
def kept(request, tmp_path):
    return Kept(request.param, tmp_path, request.getfixturevalue("ledger_redis") if request.param == "redis" else "")


async def test_facts_are_written_together_numbered_and_seen_by_every_process(kept):
    here, there = kept.opened(), kept.opened()
    first = await here.write({"people/a/key": b"one", "people/a/ended": b""})
    second = await there.write({"people/a/key": b"two:\0", "people/b/key": b"three", "people/a/ended": None})
    assert second.incarnation == first.incarnation
    assert second.number > first.number
    look = await here.look("people/a/key", "people/a/ended", "people/b/key", "people/c/key")
    assert look.mark == second
    assert {name: (fact.value, fact.number) for name, fact in look.facts.items()} == {
        "people/a/key": (b"two:\0", second.number),
        "people/b/key": (b"three", second.number),
    }
    assert await here.names("people/") == ["people/a/key", "people/b/key"]
    assert [await here.add("spent", 3), await there.add("spent", 4), await here.add("spent", 0)] == [3, 7, 7]
    await here.aclose()
    await there.aclose()


async def test_one_that_was_emptied_is_another_incarnation(kept):
    ledger = kept.opened()
    before = await ledger.write({"a": b"1"})
    kept.empty()
    after = await ledger.look("a")
    assert after.mark.incarnation != before.incarnation
    assert after.facts == {}
    await ledger.aclose()


async def test_one_that_was_set_back_is_another_incarnation_to_everybody(kept):
    here, there = kept.opened(), kept.opened()
    before = await here.write({"a": b"1"})
    kept.save()
    await here.write({"ended": b""})
    kept.set_back()
    after = await here.look("a")
    assert after.mark.incarnation != before.incarnation
    assert after.facts["a"].value == b"1", "what is still there is kept"
    assert (await there.look("a")).mark.incarnation == after.mark.incarnation
    await here.aclose()
    await there.aclose()


async def test_a_redis_that_refuses_or_is_away_is_told_and_is_asked_again_soon(tmp_path):
    now = [0.0]
    with redis_server(tmp_path) as url:
        server = Redis.from_url(url)
        ledger = RedisLedger.from_url(url)
        ledger._clock = lambda: now[0]
        before = await ledger.write({"a": b"1"})
        for name, value, back in (("maxmemory", "1", "0"), ("min-replicas-to-write", "1", "0")):
            server.config_set(name, value)
            with pytest.raises(LedgerAwayError):
                await ledger.write({"a": b"2"})
            server.config_set(name, back)
            now[0] += PAUSE_S
            assert (await ledger.look("a")).facts["a"].value == b"1"
        assert (await ledger.look()).mark == before
    with pytest.raises(LedgerAwayError):
        await ledger.look("a")
    await ledger.aclose()


FULL = """
import asyncio, resource, signal, sys
from pathlib import Path
from dataservice.ledger import LedgerAwayError, SqliteLedger

async def main():
    ledger = SqliteLedger(Path(sys.argv[1]))
    await ledger.write({"a": b"1"})
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))  # as on a full disk: no file grows
    try:
        await ledger.write({"a": b"2"})
        print("written")
    except LedgerAwayError:
        print((await ledger.look("a")).facts["a"].value.decode())
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await ledger.write({"a": b"3"})
    print((await ledger.look("a")).facts["a"].value.decode())

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit on Windows")
def test_on_a_full_disk_nothing_is_written_in_part_and_what_is_there_is_read(tmp_path):
    command = [sys.executable, "-c", FULL, str(tmp_path / "ledger.sqlite")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == ["1", "3"]


KILLED = """
import asyncio, sys
from pathlib import Path
from dataservice.ledger import SqliteLedger

async def main():
    ledger = SqliteLedger(Path(sys.argv[1]))
    for number in range(10**6):
        await ledger.write({"a": b"%d" % number, "b": b"%d" % number})
        print(number, flush=True)

asyncio.run(main())
"""


def test_what_was_written_survives_a_kill(tmp_path):
    path = tmp_path / "ledger.sqlite"
    with subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True) as writer:
        said = [int(writer.stdout.readline()) for _ in range(5)]
        os.kill(writer.pid, signal.SIGKILL)
        said += [int(line) for line in writer.stdout.read().split()]
    facts = asyncio.run(SqliteLedger(path).look("a", "b")).facts
    assert facts["a"].value == facts["b"].value
    assert int(facts["a"].value) >= said[-1]
    assert path.stat().st_mode & 0o777 == 0o600


async def test_what_other_keys_sealed_is_not_there(tmp_path):
    path = tmp_path / "ledger.sqlite"
    await SealedLedger(SqliteLedger(path), bytes(96)).write({"people/a/key": b"secret of a"})
    other = SealedLedger(SqliteLedger(path), bytes([1] * 96))
    assert (await other.look("people/a/key")).facts == {}
    assert await other.names("people/") == []
    assert b"secret of a" not in path.read_bytes()
