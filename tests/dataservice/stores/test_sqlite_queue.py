"""Work that waits together shares a transaction; each piece ends as if it had been done by itself."""

import asyncio
import sqlite3
import subprocess
import sys

import pytest

from dataservice.stores.sqlite_database.file import SqliteFile, SqliteQueue, transaction


@pytest.fixture
async def queue(tmp_path):
    queue = SqliteQueue(SqliteFile(tmp_path / "shelf.sqlite"))
    yield queue
    await queue.aclose()


def counting(db):
    return db.execute("INSERT INTO counters VALUES ('n', 1) ON CONFLICT DO UPDATE SET value = value + 1").rowcount


def counted(db):
    return db.execute("SELECT value FROM counters").fetchone()[0]


async def test_what_is_given_together_is_done_in_its_order_and_in_few_transactions(queue):
    statements = []
    await queue.run(lambda db: db.set_trace_callback(statements.append))
    seen = await asyncio.gather(*(queue.run(lambda db: (counting(db), counted(db))) for _ in range(50)))
    assert [value for _, value in seen] == list(range(1, 51))
    assert statements.count("COMMIT") == 1


async def test_what_comes_one_by_one_behind_many_shares_a_transaction(queue):
    statements = []
    await queue.run(lambda db: db.set_trace_callback(statements.append))
    await asyncio.gather(*(queue.run(counting) for _ in range(50)))
    given = []
    for _ in range(20):
        given.append(queue.run(counting))
        await asyncio.sleep(0)
    await asyncio.gather(*given)
    assert statements.count("COMMIT") <= 3


async def test_a_piece_that_fails_harms_no_other(queue):
    def wrong(db):
        counting(db)
        db.execute("INSERT INTO nowhere VALUES (1)")

    await queue.run(counting)
    results = await asyncio.gather(queue.run(counting), queue.run(wrong), queue.run(counting), return_exceptions=True)
    assert [type(result) for result in results] == [int, sqlite3.OperationalError, int]
    assert await queue.run(counted) == 4  # what failed had counted before, in no transaction of its own


async def test_a_transaction_of_its_own_is_undone_alone(queue):
    def undone(db):
        with transaction(db):
            counting(db)
            raise ValueError("no")

    results = await asyncio.gather(*(queue.run(work) for work in (counting, undone, counting)), return_exceptions=True)
    assert [type(result) for result in results] == [int, ValueError, int]
    assert await queue.run(counted) == 2


async def test_while_another_process_holds_the_lock_all_fail_after_one_wait(queue, tmp_path):
    await queue.run(counting)
    await queue.run(lambda db: db.execute("PRAGMA busy_timeout = 50").fetchall())
    other = sqlite3.connect(tmp_path / "shelf.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    results = await asyncio.gather(*(queue.run(counting) for _ in range(20)), return_exceptions=True)
    assert {type(result) for result in results} == {sqlite3.OperationalError}
    other.execute("ROLLBACK")
    other.close()
    assert await queue.run(counting) == 1


async def test_what_no_transaction_can_hold_is_done_alone(queue):
    results = await asyncio.gather(
        queue.run(counting), queue.run(lambda db: db.execute("VACUUM").fetchall(), alone=True), queue.run(counting)
    )
    assert results == [1, [], 1]


async def test_closing_comes_after_all_that_was_given_and_opens_nothing(tmp_path):
    queue = SqliteQueue(SqliteFile(tmp_path / "a.sqlite"))
    given = [asyncio.ensure_future(queue.run(counting)) for _ in range(5)]
    await asyncio.sleep(0)
    await queue.aclose()
    assert all(each.done() for each in given)
    await SqliteQueue(SqliteFile(tmp_path / "b.sqlite")).aclose()
    assert not (tmp_path / "b.sqlite").exists()


ENDING = """
import asyncio, atexit, sys
from dataservice.stores import ResilientStore, SqliteStore

store = ResilientStore(SqliteStore(sys.argv[1]))
asyncio.run(store.add("n", 1))
atexit.register(lambda: print(asyncio.run(store.add("n", 1))))
"""


def test_a_process_that_ends_meanwhile_says_nothing_of_it(tmp_path):
    command = [sys.executable, "-c", ENDING, str(tmp_path / "shelf.sqlite")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "None\n", "")


def test_a_loop_that_stops_before_it_has_started_the_thread_keeps_no_other_one_waiting(tmp_path):
    queue = SqliteQueue(SqliteFile(tmp_path / "shelf.sqlite"))
    stopped = asyncio.new_event_loop()

    async def given():
        return queue.run(counting)

    first = stopped.run_until_complete(given())
    asked = asyncio.run(asyncio.wait_for(_counted_in(queue), 10))
    assert asked == 1
    assert stopped.run_until_complete(first) == 1
    stopped.run_until_complete(queue.aclose())
    stopped.close()


async def _counted_in(queue):
    return await queue.run(counted)
