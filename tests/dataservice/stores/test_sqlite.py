"""What is particular to the shelf: a file that outlives processes, and what may happen to it."""

import logging
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

import pytest

from dataservice.stores import Entry, ResilientStore, SqliteStore, default_sqlite_path

WRITER = """
import asyncio, sys
from dataservice.stores import Entry, SqliteStore

async def main():
    shelf = SqliteStore(sys.argv[1])
    for n in range(1_000_000):
        await shelf.put(f"entry {n}", Entry(b"x" * 1_000, float(n)))
        print(n, flush=True)

asyncio.run(main())
"""

COUNTER = """
import asyncio, sys
from dataservice.stores import SqliteStore

async def main():
    shelf = SqliteStore(sys.argv[1])
    for _ in range(50):
        await shelf.add("used", 1)
    await shelf.aclose()

asyncio.run(main())
"""


SET_FORMAT = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA user_version = 99')"


def run(program: str, path: Path, *, times: int) -> list[int]:
    """Run a program several times at once; the exit codes."""
    processes = [subprocess.Popen([sys.executable, "-c", program, str(path)]) for _ in range(times)]
    return [process.wait() for process in processes]


def write_until_killed(path: Path, *, entries: int) -> None:
    """Kill a writer, without any warning, in the midst of its work."""
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    for line in writer.stdout:
        if int(line) == entries:
            writer.send_signal(signal.SIGKILL)
            break
    writer.communicate()


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def opened(path, **options):
    shelf = SqliteStore(path, **options)
    try:
        yield shelf
    finally:
        await shelf.aclose()


async def test_entries_outlive_the_one_who_put_them(tmp_path):
    path = tmp_path / "folder" / "shelf.sqlite"
    async with opened(path) as shelf:
        await shelf.put("a", Entry(b"x", 1.0))
        salt = await shelf.salt()
    async with opened(path) as shelf:
        assert await shelf.get("a") == Entry(b"x", 1.0)
        assert await shelf.salt() == salt


async def test_two_who_have_it_open_see_each_others_entries(tmp_path):
    path = tmp_path / "shelf.sqlite"
    async with opened(path) as one, opened(path) as other:
        await one.put("a", Entry(b"x", 1.0))
        assert await other.get("a") == Entry(b"x", 1.0)
        assert await one.lease("a", "one", 60.0)
        assert not await other.lease("a", "other", 60.0)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no permission bits")
async def test_nobody_else_can_read_the_files(tmp_path):
    path = tmp_path / "folder" / "shelf.sqlite"
    async with opened(path) as shelf:
        await shelf.put("a", Entry(b"x", 1.0))
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert set(modes) == {"shelf.sqlite", "shelf.sqlite-wal", "shelf.sqlite-shm"}
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("content", [b"this is no database" * 100, b"SQLite format 3\x00" + b"\xff" * 5_000])
async def test_a_damaged_file_is_moved_aside_with_one_warning_and_a_new_one_begun(tmp_path, caplog, content):
    path = tmp_path / "shelf.sqlite"
    path.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        async with opened(path) as shelf:
            assert await shelf.get("a") is None
            await shelf.put("a", Entry(b"x", 1.0))
            assert await shelf.get("a") == Entry(b"x", 1.0)
    (aside,) = tmp_path.glob("shelf.sqlite.damaged-*")
    assert aside.read_bytes() == content
    assert len(caplog.records) == 1
    assert aside.name in caplog.text


async def test_a_file_whose_damage_is_in_the_names_of_its_tables_is_begun_anew(tmp_path):
    path = tmp_path / "shelf.sqlite"
    async with opened(path) as shelf:
        await shelf.put("a", Entry(b"x", 1.0))
    content = path.read_bytes()
    path.write_bytes(content.replace(b"CREATE TABLE", b"CRE\xffTE TABLE"))
    assert path.read_bytes() != content
    async with opened(path) as shelf:
        assert await shelf.get("a") is None
        await shelf.put("a", Entry(b"y", 1.0))
        assert await shelf.get("a") == Entry(b"y", 1.0)


async def test_a_file_damaged_while_it_is_open_does_not_stop_the_work(tmp_path, caplog):
    path = tmp_path / "shelf.sqlite"
    async with opened(path) as shelf:
        for n in range(200):
            await shelf.put(f"entry {n}", Entry(b"x" * 2_000, float(n)))
    async with opened(path) as shelf:
        await shelf.get("entry 1")
        with path.open("r+b") as file:
            file.seek(4_096)
            file.write(b"\xff" * 300_000)
        for n in range(200):
            await shelf.put(f"entry {n}", Entry(b"y", float(n)))
        assert await shelf.get("entry 150") == Entry(b"y", 150.0)


async def test_a_file_of_another_format_is_moved_aside(tmp_path):
    path = tmp_path / "shelf.sqlite"
    async with opened(path) as shelf:
        await shelf.put("a", Entry(b"x", 1.0))
    assert run(SET_FORMAT, path, times=1) == [0]
    async with opened(path) as shelf:
        assert await shelf.get("a") is None
    assert len(list(tmp_path.glob("*.damaged-*"))) == 1


async def test_a_writer_that_is_killed_leaves_a_whole_file(tmp_path):
    path = tmp_path / "shelf.sqlite"
    write_until_killed(path, entries=100)
    async with opened(path) as shelf:
        assert await shelf.get("entry 100") == Entry(b"x" * 1_000, 100.0)
    assert not list(tmp_path.glob("*.damaged-*"))


async def test_processes_that_open_a_new_file_at_once_count_together(tmp_path):
    path = tmp_path / "shelf.sqlite"
    assert run(COUNTER, path, times=4) == [0, 0, 0, 0]
    async with opened(path) as shelf:
        assert await shelf.add("used", 0) == 200


async def test_the_lease_of_a_dead_owner_ends(tmp_path):
    clock = Clock()
    async with opened(tmp_path / "shelf.sqlite", clock=clock) as shelf:
        assert await shelf.lease("a", "dead", 20.0)
        clock.now += 19.9
        assert not await shelf.lease("a", "alive", 20.0)
        clock.now += 0.2
        assert await shelf.lease("a", "alive", 20.0)


async def test_a_shelf_that_is_full_forgets_what_was_fetched_longest_ago(tmp_path):
    async with opened(tmp_path / "shelf.sqlite", max_bytes=100_000) as shelf:
        for n in range(300):
            await shelf.put(f"entry {n}", Entry(b"x" * 1_000, float(n)))
        left = [n for n in range(300) if await shelf.get(f"entry {n}") is not None]
        assert left == list(range(left[0], 300))
        assert 50 <= len(left) <= 170


async def test_a_folder_that_cannot_be_made_is_an_error_of_the_tier(tmp_path):
    (tmp_path / "file").write_text("in the way")
    shelf = SqliteStore(tmp_path / "file" / "shelf.sqlite")
    with pytest.raises(OSError):
        await shelf.get("a")


def test_the_usual_place_is_in_the_users_cache_folder_and_names_its_format():
    assert default_sqlite_path().name == "shelf-1.sqlite"
    assert SqliteStore().path == default_sqlite_path()


def test_a_shelf_without_room_is_refused(tmp_path):
    with pytest.raises(ValueError, match="max_bytes"):
        SqliteStore(tmp_path / "shelf.sqlite", max_bytes=0)


async def test_a_file_that_cannot_be_written_is_still_read(tmp_path):
    path = tmp_path / "shelf.sqlite"
    async with opened(path) as shelf:
        salt = await shelf.salt()
        await shelf.put("a", Entry(b"x", 1.0))
    (tmp_path / "shelf.sqlite-wal").mkdir()  # no side file can be made, as on a full or read-only disk
    async with opened(path) as shelf:
        guarded = ResilientStore(shelf)
        await guarded.put("b", Entry(b"y", 1.0))
        assert await guarded.salt() == salt
        assert await guarded.get("a") == Entry(b"x", 1.0)
        assert await guarded.add("used", 0) == 0
        (tmp_path / "shelf.sqlite-wal").rmdir()
        await shelf.put("b", Entry(b"y", 1.0))  # it can be written again
        assert await shelf.get("b") == Entry(b"y", 1.0)


async def test_a_lease_from_a_clock_that_was_ahead_holds_nobody_back(tmp_path):
    clock = Clock()
    async with opened(tmp_path / "shelf.sqlite", clock=clock) as shelf:
        clock.now += 86_400
        assert await shelf.lease("a", "dead", 20.0)
        clock.now -= 86_400
        assert await shelf.lease("a", "alive", 20.0)


async def test_the_disk_space_of_what_was_cleared_is_given_back(tmp_path):
    store = SqliteStore(tmp_path / "shelf.sqlite")
    for number in range(20):
        await store.put(f"key/{number}", Entry(bytes(100_000), 1.0))
    await store.clear()
    assert await store.shrink()
    await store.aclose()
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 100_000


async def test_disk_space_is_not_given_back_while_another_process_writes(tmp_path):
    store = SqliteStore(tmp_path / "shelf.sqlite")
    await store.put("key/a", Entry(b"x", 1.0))
    with closing(sqlite3.connect(tmp_path / "shelf.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert not await store.shrink()
        other.execute("ROLLBACK")
    assert await store.get("key/a") is not None
    await store.aclose()


@pytest.mark.parametrize("seed", range(5))
async def test_whatever_is_overwritten_in_the_file_no_payload_is_another_one(tmp_path, seed):
    chance, path = random.Random(seed), tmp_path / "shelf.sqlite"
    kept = {f"entry {n}": Entry(chance.randbytes(chance.choice((20, 900, 30_000))), float(n)) for n in range(40)}
    async with opened(path) as shelf:
        for name, entry in kept.items():
            await shelf.put(name, entry)
            await shelf.append(name, entry.payload, 0)
    content = bytearray(path.read_bytes())
    for _ in range(8):
        at = chance.randrange(4_096, len(content))  # the head is tested above
        content[at : at + 300] = chance.randbytes(300)
    path.write_bytes(content)
    read = 0
    async with opened(path) as shelf:
        for name, entry in kept.items():
            with suppress(sqlite3.DatabaseError):  # the structure is damaged: the file is begun anew
                found = await shelf.get(name)
                assert found in (entry, None) or found.payload == b""
                assert {part.payload for part in (await shelf.parts(name)).parts} <= {entry.payload, b""}
                read += 1
    assert read


async def test_an_entry_of_an_earlier_version_is_read_as_it_is(tmp_path):
    async with opened(tmp_path / "shelf.sqlite") as shelf:
        await shelf.put("new", Entry(b"x", 1.0))
        with closing(sqlite3.connect(shelf.path, isolation_level=None)) as earlier:
            earlier.execute("INSERT INTO entries VALUES ('old', 2.0, ?)", (b"as it was",))
            (bytes_new,) = earlier.execute("SELECT payload FROM entries WHERE name = 'new'").fetchone()
            earlier.execute("INSERT INTO entries VALUES ('moved', 1.0, ?)", (bytes_new,))
        assert (await shelf.get("old"), await shelf.get("new")) == (Entry(b"as it was", 2.0), Entry(b"x", 1.0))
        assert await shelf.get("moved") == Entry(b"", 1.0)
