"""New signals in one page load, each a request: the first value, and the last beside bare httpx asking for the same.

The service is the least that can answer, in a process of its own, as a service elsewhere takes nothing from this
machine. `python -m benchmarks.loading [10000]` loads so many.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import httpx

from addin.backend import create_app
from addin.backend.serving import collect_rarely, listen, running
from addin.config.api_key import ConfiguredKey, KeySource, KeyStore, no_keychain
from addin.config.settings import Settings
from addin.excel import pages
from benchmarks.cells_in_chromium import EXCEL
from benchmarks.figures.measuring import Row, report
from benchmarks.series import KEY, slow_service
from dataservice.client.network.transport import MAX_CONNECTIONS
from tests.addin.excel import chromium
from tests.addin.excel.parts.chromium import Chromium, executable
from tests.addin.excel.parts.scripted_backend import HOST

SIGNALS = 2_000
LATENCY_S = 0.02
REPEATS = 3

FIRST_REACH_S = 2.0
REACH = 1.1

LOAD = """async (count) => {
  const begun = performance.now();
  const at = [];
  const failed = [];
  const note = () => at.push((performance.now() - begun) / 1000);
  const call = (number) => ask(["SIGNAL", `s${number}`]).then(note, (error) => failed.push(error.message));
  await Promise.all(Array.from({ length: count }, (_, number) => call(number)));
  if (failed.length > 0) throw new Error(`${failed.length} cells failed: ${failed[0]}`);
  return [at[0], at[count - 1], DataServiceAddin.spent.requests];
}"""


def main(count: int = SIGNALS) -> None:
    """Print the table."""
    program = executable()
    if program is None:
        sys.exit("there is no Chromium here")
    chromium.LONGEST_STEP_S = 600
    collect_rarely()  # as `addin serve` does; bare httpx gains by it too
    browser = Chromium(program)
    try:
        runs = [_run(browser, count) for _ in range(REPEATS)]
    finally:
        browser.close()
    (floor_s, bare_cpu_s), (first_s, last_s, cpu_s) = (_middle(part) for part in zip(*runs, strict=True))
    note = f"a request each, {1000 * LATENCY_S:g} ms"
    rows = [
        Row("the first value", first_s, reach_s=FIRST_REACH_S),
        Row("the last value, beside bare httpx", last_s, floor_s, REACH, note),
        Row("the backend's processor time, beside that of bare httpx", cpu_s, bare_cpu_s),
    ]
    report(f"{count:,} new signals in one page load", rows)


def _middle(runs: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(map(median, zip(*runs, strict=True)))


def _run(browser: Chromium, count: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """What bare httpx takes, and what the page takes."""
    with slow_service(LATENCY_S) as url, TemporaryDirectory(prefix="dataservice-benchmark-") as folder:
        bare = asyncio.run(_bare(url, KEY, count))
        settings = Settings(url=url, cache_dir=Path(folder) / "cache", ask_above=count)
        return bare, _loaded(browser, settings, KEY, count)


async def _bare(url: str, key: str, count: int) -> tuple[float, float]:
    """The seconds that bare httpx takes for the same requests, and those of the processor."""
    left = iter(range(count))
    limits = httpx.Limits(max_connections=MAX_CONNECTIONS)
    async with httpx.AsyncClient(base_url=url, headers={"authorization": f"Bearer {key}"}, limits=limits) as client:

        async def work() -> None:
            for number in left:
                (await client.get(f"/v1/signals/s{number}", params={"history": 365})).raise_for_status()

        begun, cpu_begun_s = time.perf_counter(), time.process_time()
        await asyncio.gather(*(work() for _ in range(MAX_CONNECTIONS)))
        return time.perf_counter() - begun, time.process_time() - cpu_begun_s


def _loaded(browser: Chromium, settings: Settings, key: str, count: int) -> tuple[float, float, float]:
    """The seconds from the page's calls to the first and to the last value, and those of the backend's processor."""
    keys = KeyStore(settings.url, open_keychain=no_keychain, file=Path(f"{settings.cache_dir}-keys.json"))
    app = create_app(settings, keys=keys, key=ConfiguredKey(key, KeySource.CONFIG), pages=pages.routes(settings))
    with running(app, listen("127.0.0.1", 0)) as url, browser.page(f"{url}/help") as page:
        page.evaluate(f"() => {{ {HOST} }}")
        page.add_script(url=f"{url}/functions.js")
        page.evaluate(EXCEL)
        cpu_begun_s = time.process_time()
        first_s, last_s, requests = page.evaluate(LOAD, count)
        cpu_s = time.process_time() - cpu_begun_s
    assert requests == count, f"{requests} requests were told, {count} were needed"
    return first_s, last_s, cpu_s


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
