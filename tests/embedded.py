"""Embedded services for tests: real ones, over real HTTP, on data imported once a session."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from dataservice.server import RunningService, Store, import_directory, running, write_sample

SAMPLE_AS_OF = date(2026, 8, 31)


@dataclass(frozen=True)
class EmbeddedService:
    """A running service with a key of each kind tests need."""

    running: RunningService
    key: str
    """Of the Pro tier."""
    free_key: str

    @property
    def url(self) -> str:
        """The base URL."""
        return self.running.url

    @property
    def store(self) -> Store:
        """What it serves, counts and knows."""
        return self.running.store


@pytest.fixture(scope="session")
def sample_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the made-up data set, whose last day is `SAMPLE_AS_OF`."""
    folder = tmp_path_factory.mktemp("sample-data")
    write_sample(folder, as_of=SAMPLE_AS_OF)
    return folder


@pytest.fixture(scope="session")
def sample_database(sample_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database file with the made-up data set and no key: to be copied, not written to."""
    return _imported(sample_data, tmp_path_factory.mktemp("sample-database"))


@pytest.fixture(scope="session")
def shared_database(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database file with the real series and no key: to be copied, not written to."""
    return _imported(shared_data, tmp_path_factory.mktemp("shared-database"))


@pytest.fixture(scope="session")
def sample_service(sample_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedService]:
    """Serve the made-up data set for the whole session; its requests are everyone's: count on `service`."""
    yield from _served(sample_database, tmp_path_factory.mktemp("sample-service"))


@pytest.fixture(scope="session")
def shared_service(shared_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedService]:
    """Serve the real series for the whole session; its requests are everyone's: count on `real_service`."""
    yield from _served(shared_database, tmp_path_factory.mktemp("shared-service"))


@pytest.fixture
def service(sample_database: Path, tmp_path: Path) -> Iterator[EmbeddedService]:
    """Serve the made-up data set to one test alone: counts begin at zero, it may be stopped, slowed, reimported."""
    yield from _served(sample_database, tmp_path)


@pytest.fixture
def real_service(shared_database: Path, tmp_path: Path) -> Iterator[EmbeddedService]:
    """Serve the real series to one test alone."""
    yield from _served(shared_database, tmp_path)


def _imported(data: Path, folder: Path) -> Path:
    path = folder / "service.db"
    with Store(path) as store:
        import_directory(store, data)
    return path


def _served(database: Path, folder: Path) -> Iterator[EmbeddedService]:
    copy = shutil.copy(database, folder / "service.db")
    with Store(copy) as store, running(store) as service:
        yield EmbeddedService(service, store.create_key("pro"), store.create_key("free"))
