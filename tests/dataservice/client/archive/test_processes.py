"""Two processes of the operating system that look at one signal at once: no fact is lost, and none is there twice."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from datetime import date
from pathlib import Path

from dataservice.client import Vintages
from dataservice.client.archive.archive import Archive
from dataservice.client.contract.windows import Window
from dataservice.observations import Observations
from dataservice.stores import ResilientStore, SqliteStore

LOOKS = 100
APART_S = 100_000.0
"""More than a day: what is dated earlier by less counts as a look after a clock was set back."""
DAY = "2026-01-01T00:00:00Z"


def archive_in(path: str | Path) -> tuple[Archive, SqliteStore]:
    async def none(_: str) -> None:
        return None

    async def nothing(_: str) -> Vintages:
        return Vintages.nothing()

    store = ResilientStore(kept := SqliteStore(path))
    return Archive(store, max_bytes=10**6, scope="key", kept_look=none, kept_state=nothing), kept


async def look_at_every_other_moment(path: str, who: int) -> None:
    archive, store = archive_in(path)
    for number in range(who, 2 * LOOKS, 2):
        found = Observations.from_columns([DAY], [float(number)])
        await archive.look("x", Window(date(2026, 1, 1)), found, APART_S * (number + 1))
    await store.aclose()


def test_the_looks_of_two_processes_are_all_kept_and_none_twice(tmp_path: Path):
    shelf = tmp_path / "shelf.sqlite"
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.dataservice.client.archive.test_processes", str(shelf), str(who)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for who in range(2)
    ]
    for process in processes:  # both begin when both are there
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=120)
    assert [process.returncode for process in processes] == [0, 0]
    found = asyncio.run(_told(shelf))
    assert found["value"].tolist() == [float(number) for number in range(2 * LOOKS)]
    seconds = [moment.timestamp() for moment in found["first_seen"]]
    assert seconds == [APART_S * (number + 1) for number in range(2 * LOOKS)]


async def _told(shelf: Path):
    archive, store = archive_in(shelf)
    found = (await archive.vintages("x")).revisions(date(2026, 1, 1))
    await store.aclose()
    return found


if __name__ == "__main__":
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    asyncio.run(look_at_every_other_moment(sys.argv[1], int(sys.argv[2])))
