"""Refreshes in pages that are really hidden, or frozen and let go, in a whole Chromium: they end as in a visible one.

`python -m tests.attack.pages.hidden_pages` measures each way in front and behind another page, one after the other.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dataservice.server import Store, import_directory, write_sample
from dataservice.server import running as running_service
from tests.addin.backends import RunningBackend, backend_of
from tests.addin.excel.parts.stand_in import OFFICE
from tests.attack.parts.devtools import Devtools, HiddenPage, browsing
from tests.attack.parts.told import Told, conclude
from tests.embedded import SAMPLE_AS_OF, EmbeddedService

TOLERANCE_S = 0.5

# The stand-in calculates at once: Excel's own work is not done by timers of our page.
EXCEL = f"""((setTimeout) => {{ {OFFICE} }})((go) => {{
  const {{ port1, port2 }} = new MessageChannel();
  port1.onmessage = () => go();
  port2.postMessage(null);
}});"""

READY = """new Promise((go) => {
  const look = () => (document.documentElement?.dataset.ready ? go(true) : setTimeout(look, 20));
  look();
})"""

BOOK = """
book.put("Sheet1", "A1", { formula: '=DS.SIGNAL("us-cpi")' });
book.put("Sheet1", "A2", { formula: '=IF(FALSE,DS.SIGNAL("us-10y"),0)' });
for (const [row, slug] of ["us-10y", "wb.gold", "btc-usd", "eth-usd", "sp-500", "cboe.vix"].entries())
  book.put("Sheet1", `C${row + 1}`, { formula: `=DS.SIGNAL_HISTORY("${slug}","N${row + 3}")` });
"""

TIMED = """(async () => {
  const began = performance.now();
  const told = await (%s);
  return [document.hidden, (performance.now() - began) / 1000, told ?? null];
})()"""

WAYS: dict[str, str] = {
    "what is stale": "DataServiceRefresh.run().then(({ requests }) => requests)",
    "everything": "DataServiceRefresh.run({ mode: 'force' }).then(({ requests }) => requests)",
    "a connection that breaks twice": """(() => {
      const real = fetch;
      let left = 2;
      globalThis.fetch = (...given) => (left-- > 0 ? Promise.reject(new TypeError("broken")) : real(...given));
      return DataServiceAddin.ask("status").then(() => void (globalThis.fetch = real));
    })()""",
    "a backend that was away": """(() => {
      const real = fetch;
      globalThis.fetch = () => Promise.reject(new TypeError("away"));
      const back = new Promise((go) => { const end = DataServiceAddin.on("answered", () => (end(), go())); });
      return DataServiceAddin.resultOfCall("SIGNAL", [`none ${Math.random()}`, {}])
        .catch(() => void (globalThis.fetch = real))
        .then(() => back);
    })()""",
    "tables that wait for room": """(async () => {
      Object.assign(DataServiceAddin.limiter, { room: 3_000_000, filledMs: performance.now() });
      for (let n = 0; n < 3; n++) await DataServiceAddin.limiter.acquire(1_900_000);
    })()""",
}
"""What takes its time in a page."""


def attack(browser: Devtools, backend: RunningBackend, service: EmbeddedService, *, rounds: int) -> dict[str, Any]:
    """Seconds of each way in front and behind; what was told and counted while pages were frozen."""
    page = browser.page(f"{backend.url}/taskpane.html", first=EXCEL)
    page.evaluate(READY)
    page.evaluate(f"(() => {{ book.delayMs = 0; book.chained = true; {BOOK} }})()")
    page.evaluate(WAYS["everything"])
    before = browser.page("about:blank")
    measured: dict[str, Any] = {}
    for name, way in WAYS.items():
        seconds: dict[bool, list[float]] = {False: [], True: []}
        for turn in range(2 * rounds):
            (page if turn % 2 == 0 else before).show()
            until(lambda turn=turn: page.evaluate("document.hidden") is (turn % 2 == 1))
            hidden, took, _ = page.evaluate(TIMED % way)
            seconds[hidden].append(took)
        measured[name] = {"visible_s": statistics.median(seconds[False]), "hidden_s": statistics.median(seconds[True])}
    return {"ways": measured, "frozen": frozen(page, before, service, rounds)}


def frozen(page: HiddenPage, before: HiddenPage, service: EmbeddedService, rounds: int) -> list[dict[str, Any]]:
    """Refreshes that were frozen on their way: what they told, and how long they took after they were let go."""
    found = []
    for turn in range(rounds):
        service.running.latency_s = 0.1
        counted = service.running.request_count
        page.evaluate(f"void (globalThis.under = {WAYS['everything']})")
        passed(before, 50 * turn)
        page.freeze(frozen=True)
        passed(before, 2_000)
        page.freeze(frozen=False)
        began = time.monotonic()
        told = page.evaluate("under")
        after_s = time.monotonic() - began
        service.running.latency_s = 0
        waiting = page.evaluate("DataServiceAddin.waiting")
        found.append(
            {"told": told, "counted": service.running.request_count - counted, "s": after_s, "waiting": waiting}
        )
    return found


def passed(page: HiddenPage, ms: int) -> None:
    """Let so much time pass, by the timer of a page in front."""
    page.evaluate(f"new Promise((go) => setTimeout(go, {ms}))")


def until(condition: Callable[[], bool], within_s: float = 10) -> None:
    """Wait until a page is as it was told to be."""
    ends = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < ends


def judged(found: dict[str, Any]) -> Told:
    """Late is what took longer behind than in front, or did not end; over is what was spent and not told."""
    late = [name for name, each in found["ways"].items() if abs(each["hidden_s"] - each["visible_s"]) > TOLERANCE_S]
    stuck = [each for each in found["frozen"] if each["waiting"] or each["s"] > 5]
    untold = [each for each in found["frozen"] if each["told"] != each["counted"]]
    return Told(len(found["ways"]) + len(found["frozen"]), hung=len(late) + len(stuck), over=len(untold))


def program() -> str | None:
    """A Chromium with windows: the shell without them shows every page."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def main() -> None:
    """Run as often as asked, and print what was measured."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=5)
    chosen = arguments.parse_args()
    chromium = program()
    assert chromium is not None, "no Chromium with windows here"
    with TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        write_sample(folder / "data", as_of=SAMPLE_AS_OF)
        with Store(folder / "service.db") as store:
            import_directory(store, folder / "data")
            with running_service(store) as service:
                embedded = EmbeddedService(service, store.create_key("pro"), store.create_key("free"))
                with (
                    backend_of(embedded, folder, ask_above=1_000_000) as backend,
                    browsing(chromium, folder / "profile") as browser,
                ):
                    found = attack(browser, backend, embedded, rounds=chosen.rounds)
    sys.stdout.write(f"{json.dumps(found, indent=1)}\n")
    conclude(judged(found))


if __name__ == "__main__":
    main()
