"""The backend as it runs from login on: settings from the record, a log in place of a terminal, restarts by itself."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

import typer

from addin.autostart.log_file import log_file, log_into
from addin.autostart.machine import start_detached
from addin.autostart.maintenance import Ending, Maintenance
from addin.autostart.new_version import NewVersion, can_be_started, code_now
from addin.autostart.record import Record, read_record
from addin.backend import serving
from addin.cli.backend import new_backend
from addin.config.settings import load_settings
from addin.errors import AddinError

_log = logging.getLogger(__name__)


def run_backend(file: Path) -> None:
    """Answer until the session ends, the record is gone, or there is a new version: then start that in its place.

    Raises `AddinError` if there is no record or it cannot be used; everything later is in the log.
    """
    record = read_record(file)
    if record is None:
        raise AddinError(f"there is no {file}: set it up with addin autostart install")
    os.environ.update({name: value for name, value in record.environ.items() if name not in os.environ})
    handler = log_into(log_file())
    try:
        ending = _serve(record, file)
    except AddinError as error:
        _log.error("the backend does not run: %s", error)
        raise typer.Exit(1) from None
    except Exception:  # noqa: BLE001 - nobody watches: whatever it is, it belongs into the log
        _log.exception("the backend ended")
        raise typer.Exit(1) from None
    _log.info("the backend ended (%s)", ending or "it was told to stop")
    handler.close()
    if ending in (Ending.UPDATED, Ending.CHANGED):
        _start_again(read_record(file) or record)


def _serve(record: Record, file: Path) -> Ending | None:
    backend = new_backend(load_settings(), http=record.http)
    maintenance = Maintenance(record=file, renew=backend.renew, has_update=NewVersion(code_now, can_be_started).is_here)
    _log.info("answering at %s, version %s", backend.listener.url, backend.version)
    serving.serve(backend.app, backend.listener, goes_on=maintenance.goes_on)
    return maintenance.ending


def _start_again(record: Record) -> None:
    """Run the command of the record in place of this process, or on Windows beside it."""
    if sys.platform == "win32":
        start_detached(record.command)
    else:
        os.execv(record.command[0], record.command)  # noqa: S606 - the command that our own install wrote
