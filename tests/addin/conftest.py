"""Fixtures of the ways in."""

from tests.addin.backends import backend, sample_backend  # noqa: F401  fixtures are found by being imported here
from tests.addin.excel.parts.chromium import chromium  # noqa: F401
