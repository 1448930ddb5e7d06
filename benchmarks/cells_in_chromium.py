"""Cells in a headless Chromium, from Excel's call to the last value, beside the barest page and server that can answer
a batch: `python -m benchmarks.cells_in_chromium`."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import orjson
from starlette.types import ASGIApp, Receive, Scope, Send

from benchmarks.batch import FIELDS, SLUGS
from benchmarks.figures.measuring import REPEATS, Row, report
from benchmarks.figures.results import run_alone
from benchmarks.figures.served import backend, bare_server, connection_to
from tests.addin.excel.parts.chromium import Chromium, Tab, executable
from tests.addin.excel.parts.scripted_backend import HOST

SIZES = (100, 1_000, 10_000, 100_000)
ASKED = 10_000
NAMES = 100
AGAIN_REACH_S = 0.05

# The least a page can do: keep the calls of a moment, send them in one body, hand out the values.
BAREST_PAGE = """() => {
  let pending = [];
  globalThis.ask = (call) => new Promise((resolve) => {
    if (pending.push([call, resolve]) === 1) setTimeout(send);
  });
  async function send() {
    const batch = pending;
    pending = [];
    const body = JSON.stringify({ calls: batch.map(([call]) => call) });
    const reply = await (await fetch("/functions/call", { method: "POST", body })).json();
    reply.answers.forEach((answer, index) => batch[index][1](answer.value));
  }
}"""
OUR_PAGE = "() => { globalThis.ask = ([id, ...values]) => functions[id](...values, {}); }"

TIMED = """async () => {
  const begun = performance.now();
  await Promise.all(calls.map(ask));
  return (performance.now() - begun) / 1000;
}"""


def main() -> None:
    """Print the table."""
    program = executable()
    if program is None:
        sys.exit("there is no Chromium here")
    chromium = Chromium(program)
    try:
        with backend() as http, _our_page(chromium, str(http.base_url)) as ours:
            report("Cells in Chromium, from the call to the last value", list(_rows(chromium, ours)))
    finally:
        chromium.close()


def different_calls(size: int) -> list[list[str]]:
    """Calls that are different for the page and for the backend: blanks after a name belong to the question's text."""
    names = [slug.decode() for slug in SLUGS]
    fields = [field.decode() for field in FIELDS]
    side = 1 + int((size / len(names) / len(fields)) ** 0.5)
    every = ((a, b, name, field) for a in range(side) for b in range(side) for name in names for field in fields)
    return [
        ["SIGNAL", name + " " * a, field + " " * b] for (a, b, name, field), _ in zip(every, range(size), strict=False)
    ]


def _rows(chromium: Chromium, ours: Tab) -> Iterator[Row]:
    for size in SIZES:
        yield from _different_cells(chromium, ours, size)
    yield _few_slugs(ours)


def _different_cells(chromium: Chromium, ours: Tab, size: int) -> Iterator[Row]:
    """The first time, when the backend has the answers and the page has none; and again, when the page has them."""
    calls = different_calls(size)
    ours.evaluate("(given) => { globalThis.calls = given; }", calls)
    heap = _heap_bytes(ours)
    values = ours.evaluate("Promise.all(calls.map(ask)).then((results) => results.map(([[value]]) => value))")
    assert len(values) == size
    kept = (_heap_bytes(ours) - heap) / 1e6
    answers = {tuple(call): orjson.dumps({"value": value}) for call, value in zip(calls, values, strict=True)}
    with _barest_page(chromium, bare_server(answers)) as barest:
        barest.evaluate("(given) => { globalThis.calls = given; }", calls)
        times = _alternating(
            {
                "floor": lambda: barest.evaluate(TIMED),
                "first": lambda: ours.evaluate(f"(DataServiceAddin.forget(), ({TIMED})())"),
                "again": lambda: ours.evaluate(TIMED),
            }
        )
    batches = ours.evaluate("DataServiceAddin.totals.batches")
    ours.evaluate(TIMED)
    assert ours.evaluate("DataServiceAddin.totals.batches") == batches, "fresh cells must not be asked for again"
    yield Row(f"{size:,} different cells", times["first"], times["floor"], 3, f"{kept:.1f} MB in the page")
    reach_s = AGAIN_REACH_S if size == ASKED else None
    yield Row(f"{size:,} the same cells again", times["again"], note="no request", reach_s=reach_s)


def _few_slugs(ours: Tab) -> Row:
    """Many cells on few names."""
    few = different_calls(NAMES)
    ours.evaluate("(given) => { globalThis.calls = given; }", [few[n % NAMES] for n in range(ASKED)])
    before = ours.evaluate("DataServiceAddin.totals")
    times = [ours.evaluate(f"(DataServiceAddin.forget(), ({TIMED})())") for _ in range(REPEATS)]
    after = ours.evaluate("DataServiceAddin.totals")
    batches = (after["batches"] - before["batches"]) / REPEATS
    remembered = (after["remembered"] - before["remembered"]) / REPEATS
    note = f"{batches:g} batch of {ASKED - remembered:g} calls"
    return Row(f"{ASKED:,} cells on {NAMES} names", statistics.median(times), note=note)


def _alternating(works: Mapping[str, Callable[[], float]]) -> dict[str, float]:
    """The medians of times that a page takes itself, in turns."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(REPEATS + 1):
        for name, work in works.items():
            seconds = work()
            if turn > 0:
                times[name].append(seconds)
    return {name: statistics.median(taken) for name, taken in times.items()}


@contextmanager
def _our_page(chromium: Chromium, url: str) -> Iterator[Tab]:
    """A page that runs our functions as Excel's does."""
    with chromium.page(f"{url}/help") as tab:
        tab.evaluate(f"() => {{ {HOST} }}")
        tab.add_script(url=f"{url}/functions.js")
        tab.evaluate(OUR_PAGE)
        yield tab


@contextmanager
def _barest_page(chromium: Chromium, server: ASGIApp) -> Iterator[Tab]:
    async def page_or_server(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "GET":
            headers = [(b"content-type", b"text/html")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b"<!doctype html><title>barest</title>"})
        else:
            await server(scope, receive, send)

    with connection_to(page_or_server) as http, chromium.page(f"{http.base_url}/") as tab:
        tab.evaluate(BAREST_PAGE)
        yield tab


def _heap_bytes(tab: Tab) -> int:
    """The page's memory after its garbage was collected."""
    told: dict[str, int] = tab.command("HeapProfiler.collectGarbage", "Runtime.getHeapUsage")
    return told["usedSize"]


if __name__ == "__main__":
    run_alone(main)
