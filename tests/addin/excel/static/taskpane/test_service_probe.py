"""After an answer in a form of its own the pane offers to find out how the service answers."""

import pytest

from dataservice.server import running
from tests.addin.backends import backend_of
from tests.addin.excel.parts.panes import opened


@pytest.fixture
def slashes(service, tmp_path):
    """Return a backend before a service that writes days as 08/31/2026, and the service."""
    with (
        running(service.store, variant={"times": "slashes"}) as variant,
        backend_of(service, tmp_path, url=variant.url) as backend,
    ):
        yield backend, variant


def test_the_cost_is_told_before_and_what_failed_is_tried_again(chromium, slashes):
    backend, service = slashes
    (answer,) = backend.batch(["SIGNAL", "us-cpi"])["answers"]
    assert "`addin doctor --contract`, or Account in the task pane, finds out how it answers" in answer["message"]
    with opened(chromium, backend) as pane:
        pane.sees("The service answers in a form of its own")
        pane.press("Find out", exact=True)
        pane.sees("How the service answers")
        pane.run(lambda page: page.locator("section:has-text('How the service answers') button").click())
        pane.sees("It spends at most 11 of the")
        before = service.request_count
        pane.press("Ask", exact=True)
        pane.sees("not as documented")
        pane.sees("observation: time")
        assert 0 < service.request_count - before <= 11
        pane.sees_no("The service answers in a form of its own")
    (answer,) = backend.batch(["SIGNAL", "us-cpi"])["answers"]
    assert isinstance(answer["value"], float)


def test_nothing_is_asked_without_a_yes(chromium, slashes):
    backend, service = slashes
    with opened(chromium, backend) as pane:
        pane.open_tab("Account")
        pane.press("Find out", exact=True)
        pane.sees("Ask the service how it answers?")
        pane.press("Cancel", exact=True)
    assert service.request_count == 0
