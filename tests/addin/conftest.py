"""Fixtures of the ways in."""

import pytest

from tests.addin.backends import backend, sample_backend  # noqa: F401  fixtures are found by being imported here
from tests.addin.excel.parts.chromium import chromium  # noqa: F401


@pytest.fixture(scope="session")
def axe(project):
    """Return the source of axe-core, or skip where it is not installed."""
    source = project / "tests" / "node" / "node_modules" / "axe-core" / "axe.min.js"
    if not source.is_file():
        pytest.skip("axe-core is not here: npm ci in tests/node")
    return source.read_text(encoding="utf-8")
