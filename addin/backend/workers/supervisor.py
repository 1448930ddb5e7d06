"""Several processes that answer on one port: started, watched and ended by this one."""

from __future__ import annotations

import logging
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.process import parent_process
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from addin.autostart.watching import renewals, watch_in_thread, watched
from addin.backend.operation.metrics import FOLDER_VARIABLE
from addin.backend.serving import BackendServer, Listener, prepare_process
from addin.backend.workers.directory import WorkerDirectory
from addin.config.api_key import configure_logging
from addin.config.json_log import log_as_json
from addin.config.settings import Settings, load_settings
from addin.errors import AddinError
from dataservice.worker_processes import NoWorkerError, WorkerProcesses, answer

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

MAX_PATH_BYTES = 104
"""A socket's path is at most so long, with the byte that ends it: on macOS; Linux allows four more."""

_log = logging.getLogger(__name__)

SOCKET_BYTES = len("/addin-workers-12345678/1234567890.sock")


@dataclass(frozen=True)
class BackendWorker:
    """The work of a worker, which is a process that starts with nothing.

    `pages` is a function of a module, so that a worker can import it.
    """

    settings: Settings
    listener: Listener
    place: WorkerDirectory
    pages: Callable[[Settings], Sequence[BaseRoute]]
    is_verbose: bool

    def __call__(self, beat: Callable[[], None]) -> None:
        """Answer until told to stop."""
        from addin.backend.app import create_app, stopping_of

        configure_logging(verbose=self.is_verbose)
        if self.settings.log_json:
            log_as_json()
        prepare_process()
        threading.Thread(target=_tidy_up, args=(self.place,), name="tidy up", daemon=True).start()
        app = create_app(self.settings, place=self.place, pages=self.pages(self.settings))
        server = BackendServer(app, self.listener, stopping_of(app))
        if (own := self.listener.certificate) is not None:
            server.config.load()
            watch_in_thread(renewals(server.config, own), threading.Event())  # until the process ends
        answer(server, self.listener.socket, beat)


def serve_workers(
    settings: Settings,
    listener: Listener,
    workers: int,
    pages: Callable[[Settings], Sequence[BaseRoute]],
    *,
    maintenance: Callable[[], object] = lambda: None,
) -> None:
    """Answer requests from so many processes until Ctrl-C or SIGTERM; one that dies or stands still is replaced.

    On SIGHUP the settings are read anew, and the workers are replaced one after another. `maintenance` is called every
    few seconds; it may renew the certificate, which all workers then take up. Raises `AddinError` where no worker can
    begin, and on Windows, whose processes cannot share what these share.
    """
    if sys.platform == "win32":
        raise AddinError("several workers need Linux or macOS; on Windows run addin serve without --workers")
    verbose = logging.getLogger("addin").isEnabledFor(logging.DEBUG)
    with tempfile.TemporaryDirectory(prefix="addin-workers-", dir=folder_for_sockets(tempfile.gettempdir())) as folder:
        place = WorkerDirectory(Path(folder), time.time())
        metrics = place.folder / "metrics"
        metrics.mkdir()
        os.environ[FOLDER_VARIABLE] = str(metrics)  # the workers inherit it

        def work(now: Settings) -> BackendWorker:
            return BackendWorker(share_of(now, workers), listener, place, pages, verbose)

        processes = WorkerProcesses(
            work(settings),
            workers,
            stop_s=settings.drain_s + settings.stop_timeout_s,
            reload=lambda: _read_anew(work),
            let_go=listener.socket.close,
        )
        try:
            with watched(maintenance):
                processes.run()
        except NoWorkerError as error:
            raise AddinError(str(error)) from None


def _read_anew(work: Callable[[Settings], BackendWorker]) -> BackendWorker | None:
    """Return what workers do with the settings as they stand now; None, and a line in the log, if these cannot be used.

    Address, port and number of workers stay; variables of the environment are those of the start.
    """
    try:
        return work(load_settings())
    except (AddinError, OSError) as error:
        _log.error("the settings cannot be read anew, so nothing changes: %s", error)
        return None


def _tidy_up(place: WorkerDirectory) -> None:
    """Remove the folder when the process that made it was killed: nobody else would."""
    if (parent := parent_process()) is not None:
        wait([parent.sentinel])
        shutil.rmtree(place.folder, ignore_errors=True)


def folder_for_sockets(folder: str) -> str:
    """`folder`, or /tmp where the path of a worker's socket in it would be longer than systems allow.

    >>> folder_for_sockets("/var/tmp"), folder_for_sockets("/home/" + 80 * "x")
    ('/var/tmp', '/tmp')
    """
    return folder if len(os.fsencode(folder)) + SOCKET_BYTES < MAX_PATH_BYTES else "/tmp"  # noqa: S108 - made by tempfile


def share_of(settings: Settings, workers: int) -> Settings:
    """The settings of one of so many workers: what all of them may take together is divided among them.

    >>> share_of(Settings(max_connections=500), 4).max_connections
    125
    """
    names = (
        "max_connections",
        "max_service_connections",
        "max_users_bytes",
        "memory_bytes",
        "memo_bytes",
        "requests_bytes",
    )
    parts = {name: -(-getattr(settings, name) // workers) for name in names}
    return msgspec.structs.replace(settings, workers=workers, **parts)
