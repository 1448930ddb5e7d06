"""A running soffice with the extension, done to by `driver.py` under the Python that has UNO."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from select import select
from typing import Any

import pytest

from addin.calc.extension import Extension
from addin.calc.soffice import ALWAYS, end, find_soffice, pipe_file, prepared
from addin.errors import AddinError

DRIVER = Path(__file__).with_name("driver.py")
PYTHONS = ("/usr/bin/python3", "/usr/lib/libreoffice/program/python", "/opt/libreoffice/program/python")
ANSWER_S = 150
"""Twice as long as the driver itself waits for values: a soffice that stands still fails a test, and not the run."""

COMMAND = "org.dataservice.addin.ds:"


class Office:
    """Commands for one soffice: every method of the driver, by its name."""

    def __init__(self, driver: subprocess.Popen[str], files: list[Path]) -> None:
        self._driver = driver
        self.files = files
        """What it needs outside of the test's folder: its temporary folder and its sockets."""

    def __getattr__(self, command: str) -> Any:
        return lambda *arguments: self._ask(command, *arguments)

    def _ask(self, *line: Any) -> Any:
        assert self._driver.stdin is not None
        assert self._driver.stdout is not None
        self._driver.stdin.write(json.dumps(line) + "\n")
        self._driver.stdin.flush()
        if not select([self._driver.stdout], [], [], ANSWER_S)[0]:
            self._driver.kill()  # whoever asks later is told at once
            raise TimeoutError(f"soffice stands still: {line}")
        answer = self._driver.stdout.readline()
        assert answer, "soffice or its driver ended"
        reply = json.loads(answer)
        if "error" in reply:
            raise RuntimeError(reply["error"])
        return reply["value"]


@contextmanager
def running_office(
    extension: Extension,
    *,
    display: str | None = None,
    locale: str = "en-US",
    environ: Mapping[str, str] | None = None,
    recalculate: int = ALWAYS,
) -> Iterator[Office]:
    """A soffice inside the block, without a screen unless a display is given; `environ` is set as it is."""
    pipe = f"dataservice-{uuid.uuid4().hex[:12]}"
    with prepared(extension, locale=locale, recalculate=recalculate) as office:
        environment = {**office.environment, **({"DISPLAY": display} if display else {}), **(environ or {})}
        # Without its start window: LibreOffice stands still for ever where a book is loaded while that is painted.
        screen = ["--nodefault"] if display else ["--headless"]
        command = [*office.command, *screen, f"--accept=pipe,name={pipe};urp"]
        soffice = subprocess.Popen(
            command,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        driver = subprocess.Popen(
            [uno_python(), str(DRIVER), pipe],
            env=dict(os.environ),
            stdin=-1,
            stdout=-1,
            text=True,
            start_new_session=True,
        )
        try:
            yield Office(driver, [Path(office.environment["TMPDIR"]), office.pipe, pipe_file(pipe)])
        finally:
            end(driver)
            end(soffice)
            pipe_file(pipe).unlink(missing_ok=True)


def require_soffice() -> None:
    """Skip where there is no LibreOffice."""
    try:
        find_soffice()
    except AddinError as error:
        pytest.skip(str(error))


@cache
def uno_python() -> str:
    """The Python that has UNO, or skip."""
    for python in PYTHONS:
        if (
            shutil.which(python)
            and subprocess.run([python, "-c", "import uno"], capture_output=True, check=False).returncode == 0
        ):
            return python
    pytest.skip("no Python with UNO is here (python3-uno)")
