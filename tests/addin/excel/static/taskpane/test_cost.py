"""What the pane says something would cost, and what it cost."""

import pytest

from tests.addin.backends import backend_of
from tests.addin.excel.parts.panes import opened


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        ({"requests": 1}, "1 request"),
        ({"requests": 2, "at_least": 2, "at_most": 2}, "2 requests"),
        ({"requests": 1, "at_least": 1, "at_most": 3}, "1 to 3 requests"),
        ({"requests": 2, "at_least": 2, "at_most": None}, "at least 2 requests"),
        ({"requests": 1, "at_least": 1, "at_most": None}, "at least 1 request"),
        ({"requests": 40, "at_least": 20, "at_most": None}, "at least 20 requests, likely 40"),
        ({"requests": 0, "at_least": 0, "at_most": 2}, "0 to 2 requests"),
    ],
)
def test_a_cost_is_told_as_a_number_or_a_range(chromium, backend, service, cost, words):
    """The offer is the same in the catalogue and in a form; what may cost something is never loaded unasked."""
    answer = {"calls": 1, "fresh_calls": 0, "quota": None, "allowed": True, "reason": None, **cost}

    async def priced(route):
        await route.fulfill(json=answer)

    with opened(chromium, backend) as pane:
        pane.run(lambda page: page.route("**/functions/cost", priced))
        pane.open_tab("Insert")
        pane.press("SPARK")
        pane.type("slug", "us-cpi")
        pane.sees(f"Preview ({words})")
        pane.sees(f"Costs {words}")
    assert service.running.request_count == 0


def test_what_the_pane_says_it_spent_is_what_the_service_counted(chromium, backend, service):
    with opened(chromium, backend) as pane:
        pane.press("Load the catalogue")
        pane.sees("15 signals")
        for slug, start in (("us-cpi", "N24"), ("eia.wti.spot", "MAX")):
            before = service.running.request_count
            pane.open_tab("Insert")
            pane.press("SIGNAL_HISTORY")
            pane.type("slug", slug)
            pane.type("start", start)
            pane.press("Preview (")
            told = pane.text("p.cost:has-text('Spent')")
            spent = service.running.request_count - before
            assert told == f"Spent {spent} request{'s' * (spent != 1)}"
            pane.press("Functions")


def test_a_refused_tier_is_charged_as_the_service_counts_it(chromium, service, tmp_path):
    with backend_of(service, tmp_path, key=service.free_key) as backend, opened(chromium, backend) as pane:
        pane.open_tab("Insert")
        pane.press("WIRE")
        pane.press("Preview (1 request)")
        pane.sees("needs the Pro tier")
        assert service.running.request_count == 1
