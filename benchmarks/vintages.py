"""How large the archive of what was known when is, and how fast it answers: `python -m benchmarks.vintages`."""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import numpy as np
import orjson
from rich.console import Console

from benchmarks.figures.measuring import Row, alternating, report
from benchmarks.figures.results import run_alone
from dataservice.client import AsyncClient, HistoryResource, Vintages
from dataservice.client.archive.archive import Archive
from dataservice.client.contract.windows import Window
from dataservice.observations import Observations
from dataservice.stores import Entry, ResilientStore, SqliteStore
from udfs.cells import cells_of
from udfs.engine.session import Call, Session

REACH = 2.0
REACH_BYTES = 32

KEY = "ds_" + 40 * "0"
HEADERS = {"X-Service-Tier": "pro", "X-Service-RateLimit-Cap": "50000", "X-Service-RateLimit-Remaining": "40000"}
BEGAN = datetime(2026, 1, 1, 12, tzinfo=UTC).timestamp()
DAY_S = 86_400.0


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table and the sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--revisions", type=int, default=1_000_000, help="how many to record (default: a million)")
    parser.add_argument(
        "--rows", type=int, default=10_000, help="of the history that is shown as it was (default: 10000)"
    )
    given = parser.parse_args(arguments)
    report("What was known when", [*_times(given.rows), _look_time()])
    for what, looks in (("100 at each look", 100), ("one at each look", 1)):
        count = given.revisions if looks > 1 else given.revisions // 50
        nbytes, taken_s = asyncio.run(_recorded(count, looks))
        reached = "" if nbytes / count <= REACH_BYTES else "[bold red]missed[/] "
        Console().print(
            f"{count:,} revisions, {what}: {nbytes / count:.1f} bytes each on disk, "
            f"{reached}to reach ≤ {REACH_BYTES}; recorded in {taken_s:.0f} s",
            highlight=False,
        )


def _times(rows: int) -> list[Row]:
    """A history as it was known beside the present one, both from the cache to the grid that hosts encode."""
    loop = asyncio.new_event_loop()
    session = loop.run_until_complete(_revised_session(rows))
    present, past = [Call("SIGNAL_HISTORY", ["x", "MAX", None, options]) for options in (None, "asof=2026-01-02")]

    def shown(call: Call) -> None:
        (outcome,) = loop.run_until_complete(session.answer([call]))
        if cells_of(outcome.result).height != rows + 1:  # type: ignore[union-attr]  # a failure has none
            raise RuntimeError(f"not the whole table: {outcome.result}")

    times = alternating({"present": lambda: shown(present), "past": lambda: shown(past)})
    loop.run_until_complete(session.client.aclose())
    loop.close()
    what = f"{rows:,} rows as of a day, a third of them revised since"
    return [Row(what, times["past"], times["present"], REACH, "floor: the same table now")]


async def _revised_session(rows: int) -> Session:
    """A session whose client has looked at a daily series three times, a third of it revised in between."""
    chance, now = np.random.default_rng(1), [BEGAN]
    days = np.datetime64("2026-01-01", "D") - np.arange(rows)[::-1]
    texts, values = [f"{day}T00:00:00Z" for day in days], chance.normal(size=rows)

    def answer(request: httpx.Request) -> httpx.Response:
        first = request.url.params.get("start", "")
        data = [{"observed_at": t, "value": v} for t, v in zip(texts, values.tolist(), strict=True) if t >= first]
        return httpx.Response(200, headers=HEADERS, content=orjson.dumps({"data": data[:1_000]}))

    client = AsyncClient("https://data.example", KEY, transport=httpx.MockTransport(answer), clock=lambda: now[0])
    for _ in range(3):
        await client.refresh(force=True)
        await client.read(HistoryResource("x"))
        values[chance.random(rows) < 1 / 6] += 1.0
        values[-5] += 1.0  # noticed by any check: then all is pulled again
        now[0] += 2 * DAY_S
    await client.refresh(force=True)
    await client.read(HistoryResource("x"))
    return Session(client, clock=lambda: now[0])


def _look_time() -> Row:
    """A look that changes nothing beside keeping its answer."""
    with TemporaryDirectory() as folder:
        loop, store = asyncio.new_event_loop(), ResilientStore(SqliteStore(Path(folder) / "shelf.sqlite"))
        archive, now = _archive(store), [BEGAN]
        found = _observations(np.random.default_rng(1).normal(size=365))
        window = Window(found.first_day)

        async def looks() -> None:
            for _ in range(100):
                now[0] += 900.0
                await archive.look("x", window, found, now[0], is_kept=True)

        async def puts() -> None:
            for _ in range(100):
                await store.put("x", Entry(found.times.tobytes() + found.values.tobytes(), now[0]))

        times = alternating(
            {"looks": lambda: loop.run_until_complete(looks()), "puts": lambda: loop.run_until_complete(puts())}
        )
        loop.run_until_complete(store.aclose())
        loop.close()
    what = "a look at 365 observations that changes nothing"
    return Row(what, times["looks"] / 100, times["puts"] / 100, note="floor: keeping the answer in the file")


async def _recorded(count: int, at_each_look: int) -> tuple[int, float]:
    """The bytes on disk of so many revisions with random values, and how long it took to record them."""
    chance, begun = np.random.default_rng(1), time.perf_counter()
    signals = max(1, count // 10_000)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "shelf.sqlite"
        store = SqliteStore(path)
        archive = _archive(ResilientStore(store))
        values = {f"signal-{number}": chance.normal(size=500) for number in range(signals)}
        recorded, now = 500 * signals, BEGAN
        for slug, column in values.items():
            await archive.look(slug, Window(), _observations(column), now)
        while recorded < count:
            now += DAY_S
            for slug, column in values.items():
                revised = chance.choice(500, min(at_each_look, max(1, count - recorded)), replace=False)
                column[revised] = chance.normal(size=len(revised))
                await archive.look(slug, Window(), _observations(column), now + chance.random())
                recorded += len(revised)
        kept = sum([len((await archive.vintages(slug)).facts) for slug in values])
        if kept != recorded:
            raise RuntimeError(f"{kept} revisions are kept of {recorded}")
        await store.aclose()  # the last connection that is closed writes everything into the file
        return path.stat().st_size, time.perf_counter() - begun


def _archive(store: ResilientStore) -> Archive:
    async def none(_: str) -> None:
        return None

    async def nothing(_: str) -> Vintages:
        return Vintages.nothing()

    return Archive(store, max_bytes=2**26, scope=64 * "0", kept_look=none, kept_state=nothing)


def _observations(values: np.ndarray) -> Observations:
    days = np.datetime64("2026-01-01", "D") - np.arange(len(values))[::-1]
    return Observations(days.astype("datetime64[us]"), values.copy())


if __name__ == "__main__":
    import sys

    run_alone(lambda: main(sys.argv[1:]))
