"""Fixtures that every room's tests may use."""

import gc
import os
import signal
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.embedded import (  # noqa: F401  fixtures are found by being imported here
    real_service,
    sample_data,
    sample_database,
    sample_service,
    service,
    shared_database,
    shared_service,
)
from tests.temporary_files import pytest_configure, pytest_sessionfinish, pytest_unconfigure  # noqa: F401  hooks too

# No deadline: a busy machine fails no test. The same examples every time: what passed once passes again;
# `python -m tests.attack.parts.examples` looks for new ones.
settings.register_profile("project", deadline=None, derandomize=True)
settings.register_profile("random", deadline=None, derandomize=False, database=None)
settings.load_profile("project")

# Whoever keeps no byte code would compile the project and its tests at each start of each program that a test starts.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

PROJECT = Path(__file__).resolve().parent.parent

# Tests speak to this machine only. To read the 140 authorities of the world takes 30 ms of each client that a test or a
# program makes; this one vouches for nobody, its key was thrown away.
os.environ["SSL_CERT_FILE"] = str(PROJECT / "tests" / "authority.pem")

# Started in the background, the tests would hand an ignored SIGINT down to the programs that they interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep what collecting makes out of garbage collection: it stays until the end, and each look at it takes 0.3 s."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def project() -> Path:
    """Return the project's root folder."""
    return PROJECT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real series beside the project, or skip where it is absent."""
    folder = PROJECT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real series are not here: no ../shared/data beside the project")
    return folder
