"""Chromium, and an embedded service with made-up data, for attacks on pages."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from dataservice.server import Store, import_directory, running, write_sample
from tests.addin.excel.parts.chromium import Chromium, executable
from tests.embedded import EmbeddedService


@contextmanager
def chromium_world() -> Iterator[tuple[Chromium, EmbeddedService, Path]]:
    """A Chromium, a service and a folder, all gone at the end; `SystemExit` where there is no Chromium."""
    program = executable()
    if program is None:
        raise SystemExit("there is no Chromium here")
    chromium = Chromium(program)
    with tempfile.TemporaryDirectory(prefix="attacked-sheet-") as name, Store(Path(name) / "service.db") as store:
        write_sample(Path(name) / "data", as_of=date(2026, 8, 31))
        import_directory(store, Path(name) / "data")
        with running(store) as service:
            yield chromium, EmbeddedService(service, store.create_key("pro"), store.create_key("free")), Path(name)
    chromium.close()
