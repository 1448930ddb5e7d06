"""Fixtures of Excel's tests: a browser, a backend that can fail, and a page that runs our functions."""

from collections.abc import Iterator

import pytest

from tests.addin.excel.parts.chromium import Chromium, Tab
from tests.addin.excel.parts.scripted_backend import ScriptedBackend, scripted, stage

__all__ = ["page", "scripted", "stage"]


@pytest.fixture
def page(chromium: Chromium, scripted: ScriptedBackend) -> Iterator[Tab]:
    """Return a page with our functions, where `call(id, ...)` calls one as Excel does."""
    with chromium.page(f"{scripted.url}/page") as tab:
        yield tab
    assert tab.errors == []
