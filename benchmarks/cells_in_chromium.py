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

# The least a page of functions can do: take calls as Excel makes them, keep those of a moment, send them in one body,
# and hand out the values as Excel takes them. So that a cell costs nothing when Excel makes its call again, a call is
# found by its text, and its result is kept as long as it is fresh.
BAREST_PAGE = """() => {
  globalThis.known = new Map();
  let pending = [];
  globalThis.functions = { SIGNAL: (...values) => {
    values.pop();
    const text = JSON.stringify(["SIGNAL", ...values]);
    let call = known.get(text);
    if (call !== undefined && performance.now() < call.until) return call.result;
    call = { text, until: Infinity };
    call.result = new Promise((resolve) => { call.resolve = resolve; });
    known.set(text, call);
    if (pending.push(call) === 1) setTimeout(send);
    return call.result;
  } };
  async function send() {
    const batch = pending;
    pending = [];
    const body = `{"calls":[${batch.map((call) => call.text).join(",")}]}`;
    const begun = performance.now();
    const reply = await (await fetch("/functions/call", { method: "POST", body })).json();
    reply.answers.forEach((answer, index) => {
      batch[index].until = begun + 1000 * answer.fresh_s;
      batch[index].resolve([[answer.value]]);
    });
  }
}"""
# A page that remembers nothing: what batching alone costs.
FORGETFUL_PAGE = """() => {
  let pending = [];
  globalThis.functions = { SIGNAL: (...values) => new Promise((resolve) => {
    values.pop();
    if (pending.push([["SIGNAL", ...values], resolve]) === 1) setTimeout(send);
  }) };
  async function send() {
    const batch = pending;
    pending = [];
    const body = JSON.stringify({ calls: batch.map(([call]) => call) });
    const reply = await (await fetch("/functions/call", { method: "POST", body })).json();
    reply.answers.forEach((answer, index) => batch[index][1]([[answer.value]]));
  }
}"""
EXCEL = "() => { globalThis.ask = ([id, ...values]) => functions[id](...values, {}); }"

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
    answers = zip(map(tuple, calls), [orjson.dumps({"value": value, "fresh_s": 900}) for value in values], strict=True)
    server = bare_server(dict(answers))
    with (
        _bare_page(chromium, server, BAREST_PAGE) as barest,
        _bare_page(chromium, server, FORGETFUL_PAGE) as forgetful,
    ):
        for page in (barest, forgetful):
            page.evaluate("(given) => { globalThis.calls = given; }", calls)
        times = _alternating(
            {
                "forgetful": lambda: forgetful.evaluate(TIMED),
                "floor": lambda: barest.evaluate(f"(known.clear(), ({TIMED})())"),
                "first": lambda: ours.evaluate(f"(DataServiceAddin.forget(), ({TIMED})())"),
                "again": lambda: ours.evaluate(TIMED),
            }
        )
    batches = ours.evaluate("DataServiceAddin.totals.batches")
    ours.evaluate(TIMED)
    assert ours.evaluate("DataServiceAddin.totals.batches") == batches, "fresh cells must not be asked for again"
    yield Row(f"{size:,} different cells", times["first"], times["floor"], 3, f"{kept:.1f} MB in the page")
    yield Row("… beside a page that remembers nothing", times["first"], times["forgetful"])
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
        tab.evaluate(EXCEL)
        yield tab


@contextmanager
def _bare_page(chromium: Chromium, server: ASGIApp, page: str) -> Iterator[Tab]:
    async def page_or_server(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "GET":
            headers = [(b"content-type", b"text/html")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b"<!doctype html><title>barest</title>"})
        else:
            await server(scope, receive, send)

    with connection_to(page_or_server) as http, chromium.page(f"{http.base_url}/") as tab:
        tab.evaluate(page)
        tab.evaluate(EXCEL)
        yield tab


def _heap_bytes(tab: Tab) -> int:
    """The page's memory after its garbage was collected."""
    told: dict[str, int] = tab.command("HeapProfiler.collectGarbage", "Runtime.getHeapUsage")
    return told["usedSize"]


if __name__ == "__main__":
    run_alone(main)
