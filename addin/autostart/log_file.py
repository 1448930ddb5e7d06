"""The log of the backend that nobody watches: a file that never grows beyond a few megabytes."""

from __future__ import annotations

import logging
import sys
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TextIO, cast

import platformdirs

from addin.config.api_key import RedactingFormatter
from addin.config.settings import APP

MAX_BYTES = 1_000_000
KEPT_FILES = 3
"""Older parts of the log beside the newest; the oldest is deleted."""


def log_file() -> Path:
    """Return where the log is: where this system keeps logs of the user."""
    return platformdirs.user_log_path(APP, appauthor=False) / "backend.log"


def log_into(file: Path, *, max_bytes: int = MAX_BYTES) -> RotatingFileHandler:
    """Send every log line, and what is printed, to `file` and nowhere else; no line holds a key.

    Raises `OSError` if the file cannot be written.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handler = RotatingFileHandler(file, maxBytes=max_bytes, backupCount=KEPT_FILES, encoding="utf-8")
    handler.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in ("addin", "udfs", "dataservice"):
        logging.getLogger(name).setLevel(logging.INFO)
    sys.stdout = sys.stderr = cast("TextIO", _Lines(logging.getLogger("addin")))
    return handler


class _Lines:
    """A stream whose lines become lines of the log."""

    encoding = "utf-8"

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._begun = ""

    def write(self, text: str) -> int:
        """Take part of a line or several lines."""
        *whole, self._begun = (self._begun + text).split("\n")
        for line in whole:
            if line.strip():
                self._log.info("%s", line)
        return len(text)

    def flush(self) -> None:
        """Nothing waits: a line is written when it ends."""

    def isatty(self) -> bool:
        """Nobody reads along."""
        return False
