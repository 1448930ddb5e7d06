"""Waiting in a page that is hidden, whose own timers are late: a worker of the page counts the time."""

import pytest

LATE = """() => {
  const plain = setTimeout;
  globalThis.setTimeout = (work, ms, ...given) => plain(work, (ms || 0) + 1_500, ...given);
  globalThis.hide = () => {
    Object.defineProperty(document, "hidden", { get: () => true });
    document.dispatchEvent(new Event("visibilitychange"));
  };
  globalThis.timed = async (work) => {
    const began = performance.now();
    await work();
    return performance.now() - began;
  };
}"""
"""The page's timers come 1.5 seconds late, as a browser delays those of hidden pages."""


@pytest.fixture
def timing(page, scripted):
    """Return the page with `timing`, the module of its waiting."""
    prefix = page.evaluate(
        "performance.getEntriesByType('resource').map(({ name }) => name).find((name) => /functions\\/page/.test(name))"
    )
    page.evaluate(
        "(at) => import(at).then((m) => { globalThis.timing = m; })",
        prefix.replace("functions/page.js", "client/timing.js"),
    )
    return page


def test_a_hidden_page_waits_no_longer_than_a_visible_one(timing):
    timing.evaluate(LATE)
    timing.evaluate("hide()")
    assert timing.evaluate("timed(() => timing.pause(20))") < 1_000


def test_who_waits_when_the_page_is_hidden_is_on_time_too(timing):
    timing.evaluate(LATE)
    took = timing.evaluate("timed(() => { const waited = timing.pause(50); hide(); return waited; })")
    assert 45 <= took < 1_000


def test_without_the_worker_waiting_ends_by_the_late_timer(timing):
    timing.serve("*/timer_worker.js", None)
    timing.evaluate(LATE)
    timing.evaluate("hide()")
    assert timing.evaluate("timed(() => timing.pause(20))") >= 1_500
