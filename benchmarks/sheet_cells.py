"""New cells in the sheet in the browser, beside a page that makes the same calls as Excel does, and shows nothing:
`python -m benchmarks.sheet_cells`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from addin.backend import create_app
from addin.backend.serving import listen, running
from addin.config.api_key import ConfiguredKey, KeySource, KeyStore, no_keychain
from addin.config.settings import Settings
from addin.excel import pages
from addin.sheet.component import ADVICE, is_here
from addin.sheet.routes import routes
from benchmarks.cells_in_chromium import EXCEL, TIMED, different_calls
from benchmarks.figures.measuring import Row, report
from benchmarks.figures.results import run_alone
from benchmarks.figures.served import service_settings
from dataservice.server import Store, import_directory
from dataservice.server import running as running_service
from tests.addin.excel.parts.chromium import Chromium, Tab, executable
from tests.addin.excel.parts.scripted_backend import HOST

CELLS = 1_000
REPEATS = 3
REACH = 1.5
LATENCY_S = 0.02
"""What a service somewhere else takes for an answer."""

READY = """async () => {
  while (!document.documentElement.hasAttribute("data-ready")) await new Promise((go) => setTimeout(go, 5));
}"""

PASTE = """async (isOrdinary) => {
  const { model } = sheet.book;
  const formula = ([id, ...values]) => `=DS.${id}(${values.map((value) => JSON.stringify(value)).join(",")})`;
  const ordinary = (call) => `=LEN(${JSON.stringify(call.join(" "))})`;
  const text = calls.map(isOrdinary ? ordinary : formula).join("\\n");
  const zone = { left: 0, right: 0, top: 0, bottom: calls.length - 1 };
  model.dispatch("DELETE_CONTENT", { sheetId: "Sheet1", target: [zone] });
  DataServiceAddin.forget();
  sheet.calls.known.clear();
  await new Promise((go) => setTimeout(go, 300)); // nobody has just edited anything
  const before = DataServiceAddin.totals.batches;
  const begun = performance.now();
  const target = [{ left: 0, right: 0, top: 0, bottom: 0 }];
  model.dispatch("PASTE_FROM_OS_CLIPBOARD", { target, clipboardContent: { text } });
  while (sheet.calls.waiting > 0 || sheet.calls.promised) await new Promise((go) => setTimeout(go, 0));
  const seconds = (performance.now() - begun) / 1000;
  const cells = model.getters.getEvaluatedCellsInZone("Sheet1", zone);
  if (cells.some(({ type }) => type === "error" || type === "empty")) throw new Error("a cell has no value");
  if (DataServiceAddin.totals.batches !== before + (isOrdinary ? 0 : 1)) throw new Error("more than one batch");
  return seconds;
}"""


def main() -> None:
    """Print the table."""
    program = executable()
    if program is None or not is_here():
        sys.exit(f"there is no Chromium here, or no sheet: {ADVICE}")
    chromium = Chromium(program)
    try:
        report(f"{CELLS:,} new cells in the sheet, beside a page without cells", list(_rows(chromium)))
    finally:
        chromium.close()


def _rows(chromium: Chromium) -> Iterator[Row]:
    with service_settings() as (settings, key), _pages(chromium, settings, key) as pages:
        ours, page = pages
        calls = different_calls(CELLS)
        for tab in pages:
            tab.evaluate("(given) => { globalThis.calls = given; }", calls)
        runs = [
            (
                ours.evaluate(PASTE),
                ours.evaluate(PASTE, "ordinary"),
                page.evaluate(f"(DataServiceAddin.forget(), ({TIMED})())"),
            )
            for _ in range(6)
        ]
    taken, ordinary, floor = (median(times[1:]) for times in zip(*runs, strict=True))  # the first run warms up
    yield Row("answers known to the backend", taken, floor, note="a second time, in the same cells")
    yield Row("as many ordinary formulas", ordinary, floor, note="the component alone, without a call")
    pairs = [_new_signals(chromium) for _ in range(REPEATS)]
    taken, floor = (median(times) for times in zip(*pairs, strict=True))
    yield Row("as many new signals", taken, floor, REACH, f"a request each, {1000 * LATENCY_S:g} ms")


def _new_signals(chromium: Chromium) -> tuple[float, float]:
    """The seconds of the sheet and of the page, each with a backend and a service of its own that knows nothing yet."""
    calls = [["SIGNAL", f"s{number}"] for number in range(CELLS)]
    seconds = []
    for which, timed in ((0, PASTE), (1, TIMED)):
        with many_signals() as (settings, key), _pages(chromium, settings, key) as pages:
            pages[which].evaluate("(given) => { globalThis.calls = given; }", calls)
            seconds.append(pages[which].evaluate(timed))
    return seconds[0], seconds[1]


@contextmanager
def many_signals(count: int = CELLS) -> Iterator[tuple[Settings, str]]:
    """A service of its own with so many signals, s0, s1 …, and a key: nothing is known of them yet."""
    with TemporaryDirectory(prefix="dataservice-benchmark-") as name:
        folder = Path(name)
        _write_signals(folder / "data", count)
        with Store(folder / "service.db") as store:
            import_directory(store, folder / "data")
            with running_service(store, latency_s=LATENCY_S) as service:
                yield Settings(url=service.url, cache_dir=folder / "cache", ask_above=count), store.create_key("pro")


def _write_signals(folder: Path, count: int) -> None:
    (folder / "observations").mkdir(parents=True)
    lines = ["slug,name,unit,category,signal_type,source,is_premium"]
    for number in range(count):
        lines.append(f"s{number},Signal {number},points,macro,index,Made-up data,false")
        rows = "".join(f"2026-0{month}-01T00:00:00Z,{number + month}\n" for month in range(1, 9))
        (folder / "observations" / f"s{number}.csv").write_text(f"observed_at,value\n{rows}", encoding="utf-8")
    (folder / "signals.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


@contextmanager
def _pages(chromium: Chromium, settings: Settings, key: str) -> Iterator[tuple[Tab, Tab]]:
    """The sheet, and a page that runs our functions as Excel's does, before one backend."""
    keys = KeyStore(settings.url, open_keychain=no_keychain, file=Path(f"{settings.cache_dir}-keys.json"))
    app = create_app(
        settings,
        keys=keys,
        key=ConfiguredKey(key, KeySource.CONFIG),
        pages=[*pages.routes(settings), *routes(settings)],
    )
    with (
        running(app, listen("127.0.0.1", 0)) as url,
        chromium.page(f"{url}/sheet") as ours,
        chromium.page(f"{url}/help") as page,
    ):
        ours.evaluate(READY)
        rows = {"dimension": "ROW", "base": 0, "position": "after", "quantity": CELLS}
        ours.evaluate(
            """(rows) => sheet.book.model.dispatch("ADD_COLUMNS_ROWS",
          { sheetId: "Sheet1", sheetName: "Sheet1", ...rows })""",
            rows,
        )
        page.evaluate(f"() => {{ {HOST} }}")
        page.add_script(url=f"{url}/functions.js")
        page.evaluate(EXCEL)
        yield ours, page


if __name__ == "__main__":
    run_alone(main)
