"""The archive has a file of its own, outlives the cache and its damage, and is moved there from where it was before."""

import random
import sqlite3

import pytest

from dataservice.client import AsyncClient
from dataservice.stores import Entry, Put, SqliteStore, default_archive_path, default_sqlite_path
from dataservice.stores.sqlite_database.salvage import salvaged
from dataservice.stores.sqlite_database.statements import with_checksum
from tests.dataservice.stores.test_logs import appended, payloads

LONG = random.Random(1).randbytes(30_000)
"""Longer than several pages of a file."""


def two_files(folder):
    return SqliteStore(folder / "cache" / "shelf.sqlite", archive_path=folder / "data" / "archive.sqlite")


def test_the_archive_lies_in_the_data_folder_and_answers_in_the_cache_folder():
    store = SqliteStore()
    assert (store.path, store.archive_path) == (default_sqlite_path(), default_archive_path())
    assert store.path.parent != store.archive_path.parent


async def test_who_deletes_the_cache_keeps_the_archive_and_the_names_in_it(tmp_path):
    store = two_files(tmp_path)
    salt = await store.salt()
    await store.append("a", b"one", 0, then=Put("answer", Entry(b"x", 1.0)))
    assert await store.get("answer") == Entry(b"x", 1.0)
    await store.aclose()
    for path in (tmp_path / "cache").iterdir():
        path.unlink()
    store = two_files(tmp_path)
    assert (await store.salt(), await store.get("answer"), await payloads(store, "a")) == (salt, None, [b"one"])
    await store.aclose()


async def test_what_an_earlier_version_archived_in_the_cache_folder_is_moved_once(tmp_path):
    before = SqliteStore(tmp_path / "cache" / "shelf.sqlite")
    salt = await before.salt()
    numbers = await appended(before, "a", *(str(n).encode() for n in range(600)))
    await appended(before, "b", LONG)
    await before.aclose()
    store = two_files(tmp_path)
    assert await store.salt() == salt
    assert await payloads(store, "a") == [str(n).encode() for n in range(len(numbers))]
    assert await payloads(store, "b") == [LONG]
    await store.aclose()
    with sqlite3.connect(tmp_path / "cache" / "shelf.sqlite") as db:
        assert db.execute("SELECT count(*) FROM parts").fetchone() == (0,)


async def test_a_move_that_broke_off_loses_nothing(tmp_path):
    before = SqliteStore(tmp_path / "cache" / "shelf.sqlite")
    await before.salt()
    await appended(before, "a", b"one", b"two")
    await before.aclose()
    (tmp_path / "data").mkdir()
    moved = SqliteStore(tmp_path / "data" / "archive.sqlite")  # it was copied, and not deleted yet
    await appended(moved, "a", b"one")
    await moved.aclose()
    store = two_files(tmp_path)
    await store.salt()
    assert set(await payloads(store, "a")) == {b"one", b"two"}
    await store.aclose()


async def test_an_archive_of_which_nothing_is_left_is_named_as_before(tmp_path):
    store = two_files(tmp_path)
    salt = await store.salt()
    await appended(store, "a", b"one")
    await store.aclose()
    (tmp_path / "data" / "archive.sqlite").write_bytes(b"\xff" * 9_000)
    store = two_files(tmp_path)
    assert (await store.salt(), await payloads(store, "a")) == (salt, [])
    await store.aclose()


@pytest.mark.parametrize("is_long", [False, True])
async def test_of_a_truncated_file_all_that_is_readable_is_kept(tmp_path, is_long):
    path = tmp_path / "archive.sqlite"
    store = SqliteStore(path)
    salt = await store.salt()
    count = 60 if is_long else 800
    for number in range(count):
        last = await store.append(f"log {number}", f"short {number}".encode(), 0)
        if is_long:
            await store.append(f"log {number}", LONG, last)
    await store.aclose()
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 6 // 10])
    store = SqliteStore(path)
    found = {log.name: await store.parts(log.name) for log in await store.logs()}
    assert await store.salt() == salt
    kept = [part.payload for log in found.values() for part in log.parts if part.payload]
    assert len([payload for payload in kept if payload.startswith(b"short")]) >= count // 4
    assert {payload for payload in kept if not payload.startswith(b"short")} <= {LONG}
    assert all(any(part.is_damaged for part in log.parts) or len(log.parts) == 1 + is_long for log in found.values())
    await store.aclose()
    assert len(list(tmp_path.glob("*.damaged-*"))) == 1
    assert not list(tmp_path.glob("*.new-*"))


async def test_overwritten_bytes_are_never_shown_as_a_part(tmp_path):
    chance = random.Random(3)
    path = tmp_path / "archive.sqlite"
    store = SqliteStore(path)
    await store.salt()
    told = {f"log {number}": [chance.randbytes(chance.randrange(1, 9_000)) for _ in range(3)] for number in range(40)}
    for log, new in told.items():
        await appended(store, log, *new)
    await store.aclose()
    content = path.read_bytes()
    for _ in range(60):
        torn = bytearray(content)
        for _ in range(chance.choice((1, 5, 50))):
            place = chance.randrange(len(torn))
            torn[place : place + 40] = chance.randbytes(min(40, len(torn) - place))
        path.write_bytes(torn)
        for log, kept in salvaged(path).parts:
            assert kept in {with_checksum(payload, log) for payload in told.get(log, ())} or kept.startswith(b"\xc1sum")


async def test_what_was_deleted_is_not_brought_back(tmp_path):
    path = tmp_path / "archive.sqlite"
    store = SqliteStore(path)
    await store.salt()
    await appended(store, "a", LONG, b"short")
    await appended(store, "b", b"kept")
    await store.delete_logs("a")
    await store.aclose()
    assert {log for log, _ in salvaged(path).parts} == {"b"}


@pytest.mark.parametrize("trouble", ["no folder", "not writable"])
async def test_where_the_archive_cannot_be_written_the_cache_goes_on_and_a_warning_names_the_file(
    service, tmp_path, caplog, trouble
):
    archive = tmp_path / "data" / "archive.sqlite"
    if trouble == "no folder":
        (tmp_path / "data").write_bytes(b"a file")
    else:
        archive.mkdir(parents=True)  # nothing can be written in the place of a folder, whoever one is
    for expected in (1, 1):
        store = two_files(tmp_path)
        async with AsyncClient(service.url, service.key, store=store) as client:
            await client.signal("us-cpi")
            assert service.running.request_count == expected
            assert await client.archive.slugs() == []
        await store.aclose()
    assert f"the archive failed and is skipped for now: {archive}: " in caplog.text
    assert "cache store" not in caplog.text
