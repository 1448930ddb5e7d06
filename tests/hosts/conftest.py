"""Fixtures of the hosts: a backend and a browser."""

from tests.addin.backends import sample_backend  # noqa: F401  fixtures are found by being imported here
from tests.addin.excel.parts.chromium import chromium  # noqa: F401
