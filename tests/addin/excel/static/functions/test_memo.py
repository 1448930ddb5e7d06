"""What the page remembers, and for how long."""

import pytest

from addin.excel.assets import STATIC
from tests.addin.excel.parts.scripted_backend import fresh

CLOCK = """() => {
  globalThis.nowMs = 1_000_000;
  Date.now = () => nowMs;
}"""
STEADY_CLOCK = """() => {
  globalThis.steadyMs = performance.now();
  performance.now = () => steadyMs;
}"""


def test_the_same_cells_again_cost_no_request(page, scripted):
    page.evaluate("Promise.all([...Array(100).keys()].map((i) => call('SIGNAL', `s-${i}`)))")
    again = page.evaluate("Promise.all([...Array(100).keys()].map((i) => call('SIGNAL', `s-${i}`)))")
    assert again[99] == {"value": [["s-99"]]}
    assert len(scripted.batches) == 1


def test_an_answer_is_asked_for_again_when_its_own_freshness_ends(page, scripted):
    scripted.answer = lambda call: fresh(len(scripted.batches), fresh_s=10)
    page.evaluate(CLOCK)
    ask = "(passed) => { nowMs += passed; return call('SIGNAL', 'x'); }"
    values = [page.evaluate(ask, passed)["value"] for passed in (0, 9_000, 1_500)]
    assert values == [[[1]], [[1]], [[2]]]


def test_an_answer_that_is_not_fresh_is_not_kept(page, scripted):
    scripted.answer = lambda call: fresh(len(scripted.batches), fresh_s=0)
    assert [page.evaluate("call('SIGNAL', 'x')")["value"] for _ in range(2)] == [[[1]], [[2]]]


def test_freshness_counts_from_when_the_answer_was_asked_for(page, scripted):
    page.evaluate(CLOCK)
    page.evaluate(
        """() => {
          const real = fetch;
          globalThis.fetch = (...given) => real(...given).finally(() => { nowMs += 8_000; });
        }"""
    )
    scripted.answer = lambda call: fresh(1, fresh_s=10)
    page.evaluate("call('SIGNAL', 'x')")
    page.evaluate("(nowMs += 3_000, call('SIGNAL', 'x'))")
    assert len(scripted.batches) == 2


def test_errors_are_kept_as_long_as_the_backend_says(page, scripted):
    scripted.answer = lambda call: {"error": "#N/A", "message": f"no signal '{call[1]}'", "fresh_s": 60}
    told = [page.evaluate("call('SIGNAL', 'x')") for _ in range(3)]
    assert told == [{"error": "#N/A", "message": "no signal 'x'"}] * 3
    assert len(scripted.batches) == 1


def test_all_is_forgotten_on_demand_also_what_is_on_its_way(page, scripted):
    scripted.answer = lambda call: fresh(len(scripted.batches))
    values = page.evaluate(
        """async () => {
          const early = call("SIGNAL", "x");
          while (DataServiceAddin.totals.batches === 0) await new Promise((go) => setTimeout(go, 0));
          DataServiceAddin.forget();
          return [await call("SIGNAL", "x"), await early, await call("SIGNAL", "x")];
        }"""
    )
    assert [value["value"][0][0] for value in values] == [2, 1, 2]


def test_a_refresh_elsewhere_ends_what_was_kept(page, scripted):
    page.evaluate("call('SIGNAL', 'x')")
    scripted.generation = 2
    page.evaluate("call('SIGNAL', 'y')")
    page.evaluate("call('SIGNAL', 'x')")
    assert scripted.batches == [[["SIGNAL", "x"]], [["SIGNAL", "y"]], [["SIGNAL", "x"]]]


@pytest.mark.parametrize(("entries", "size"), [(10, 1_000_000), (1_000, 100)])
def test_what_is_kept_is_bounded_by_count_and_by_size(chromium, entries, size):
    with chromium.page() as tab:
        tab.load_module(STATIC / "client/result_cache.js")
        kept = tab.evaluate(
            """([maxEntries, maxSize]) => {
              const cache = new ResultCache({ maxEntries, maxSize, clock: () => 0 });
              cache.expect({ text: "on its way", freshUntilMs: Infinity });
              for (let i = 0; i < 50; i++) {
                const entry = cache.expect({ text: `${i}`, freshUntilMs: Infinity });
                cache.arrived(Object.assign(entry, { freshUntilMs: 9, size: 10 }));
              }
              return [...cache.entries.keys()].filter((key) => cache.get(key));
            }""",
            [entries, size],
        )
    assert 9 <= len(kept) <= 11
    assert {"on its way", "49"} <= set(kept)


def test_the_page_counts_calls_and_batches(page):
    page.evaluate("call('SIGNAL', 'x')")
    page.evaluate("call('SIGNAL', 'x')")
    assert page.evaluate("DataServiceAddin.totals") == {"calls": 2, "remembered": 1, "batches": 1}
    assert page.evaluate("DataServiceAddin.waiting") == 0


def test_a_clock_that_was_set_back_makes_nothing_fresh_for_longer(page, scripted):
    scripted.answer = lambda call: fresh(len(scripted.batches), fresh_s=900)
    page.evaluate(CLOCK)
    page.evaluate(STEADY_CLOCK)
    ask = "(ms) => { steadyMs += ms; nowMs += ms; return call('SIGNAL', 'x'); }"
    page.evaluate(ask, 0)
    page.evaluate("nowMs -= 3_600_000")
    assert [page.evaluate(ask, ms)["value"] for ms in (600_000, 301_000)] == [[[1]], [[2]]]


def test_the_time_that_the_machine_slept_counts(page, scripted):
    scripted.answer = lambda call: fresh(len(scripted.batches), fresh_s=900)
    page.evaluate(CLOCK)
    page.evaluate(STEADY_CLOCK)
    ask = "(slept) => { nowMs += slept; return call('SIGNAL', 'x'); }"
    assert [page.evaluate(ask, ms)["value"] for ms in (0, 901_000)] == [[[1]], [[2]]]


def test_calls_go_out_even_where_the_clock_stands_still(page):
    page.evaluate("() => { performance.now = () => 5; }")
    assert page.evaluate("call('SIGNAL', 'x')") == {"value": [["x"]]}
