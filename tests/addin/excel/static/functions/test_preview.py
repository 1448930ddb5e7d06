"""Excel's preview of a part of a formula: it shows what the page holds and never asks."""

import random

from tests.addin.excel.parts.scripted_backend import fresh

CLOCK = """() => {
  globalThis.nowMs = 1_000_000;
  Date.now = () => nowMs;
  globalThis.preview = (id, ...values) => functions[id](...values, { functionName: id, isInValuePreview: true }).then(
    (value) => ({ value }),
    (error) => ({ error: error.code, message: error.message }),
  );
}"""


def test_a_preview_of_something_unknown_says_so_and_asks_nothing(page, scripted):
    page.evaluate(CLOCK)
    told = page.evaluate("preview('SIGNAL', 'us-cpi')")
    assert told["error"] == "#N/A"
    assert "press Enter" in told["message"]
    assert scripted.batches == []
    assert page.evaluate("call('SIGNAL', 'us-cpi')") == {"value": [["us-cpi"]]}
    assert scripted.batches == [[["SIGNAL", "us-cpi"]]]


def test_a_preview_shows_what_a_cell_has_asked_for(page, scripted):
    page.evaluate(CLOCK)
    page.evaluate("call('SIGNAL', 'us-cpi')")
    assert page.evaluate("preview('SIGNAL', [['us-cpi']])") == {"value": [["us-cpi"]]}
    assert len(scripted.batches) == 1


def test_a_preview_of_what_is_on_its_way_waits_for_it(page, scripted):
    page.evaluate(CLOCK)
    both = page.evaluate("Promise.all([call('SIGNAL', 'us-cpi'), preview('SIGNAL', 'us-cpi')])")
    assert both == [{"value": [["us-cpi"]]}] * 2
    assert len(scripted.batches) == 1


def test_a_preview_of_every_function_asks_nothing(page, scripted):
    page.evaluate(CLOCK)
    told = page.evaluate("Promise.all(Object.keys(functions).map((id) => preview(id, 'x', null, 'y')))")
    assert {answer["error"] for answer in told} == {"#N/A"}
    assert scripted.batches == []
    assert page.evaluate("[DataServiceAddin.totals.calls, DataServiceAddin.cache.entries.size]") == [0, 0]


def test_whatever_happens_between_them_previews_send_nothing_and_show_the_last_known_value(page, scripted):
    """A seeded walk over cells, previews, time that passes, and refreshes, beside a model of what the page holds."""
    page.evaluate(CLOCK)
    scripted.answer = lambda call: fresh(f"{call[1]}-{len(scripted.batches)}", fresh_s=60)
    known, fresh_until, now = {}, {}, 0
    walk = random.Random(20)
    for _ in range(150):
        slug, step = walk.choice("abc"), walk.choice(["call", "preview", "preview", "wait", "forget"])
        sent = len(scripted.batches)
        if step == "wait":
            now += (passed := walk.choice([20_000, 61_000]))
            page.evaluate("(ms) => { nowMs += ms; }", passed)
        elif step == "forget" and walk.random() < 0.3:
            page.evaluate("DataServiceAddin.forget()")
            known, fresh_until = {}, {}
        elif step == "preview":
            told = page.evaluate("(slug) => preview('SIGNAL', slug)", slug)
            assert told.get("value") == ([[known[slug]]] if slug in known else None)
            assert len(scripted.batches) == sent
        elif step == "call":
            told = page.evaluate("(slug) => call('SIGNAL', slug)", slug)
            expected = sent + (now >= fresh_until.get(slug, 0))
            assert len(scripted.batches) == expected
            if expected > sent:
                known[slug], fresh_until[slug] = f"{slug}-{expected}", now + 60_000
            assert told == {"value": [[known[slug]]]}
