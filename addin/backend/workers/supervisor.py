"""Several processes that answer on one port: started, watched and ended by this one."""

from __future__ import annotations

import logging
import os
import shutil
import signal
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
import uvicorn

from addin.autostart.watching import renewals, watch_in_thread, watched
from addin.backend.operation.metrics import FOLDER_VARIABLE
from addin.backend.serving import Listener, config_of, prepare_process
from addin.backend.workers.directory import WorkerDirectory
from addin.config.api_key import configure_logging
from addin.config.json_log import log_as_json
from addin.config.settings import Settings
from addin.errors import AddinError

if TYPE_CHECKING:
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp

MAX_PATH_BYTES = 104
"""A socket's path is at most so long, with the byte that ends it: on macOS; Linux allows four more."""

SOCKET_BYTES = len("/addin-workers-12345678/1234567890.sock")


@dataclass(frozen=True, slots=True)
class WorkerApp:
    """Makes the application in a worker, which is a process that starts with nothing.

    `pages_beside` is a function of a module, so that a worker can import it.
    """

    settings: Settings
    place: WorkerDirectory
    pages_beside: Callable[[Settings], Sequence[BaseRoute]]
    is_verbose: bool

    def __call__(self) -> ASGIApp:
        """The application of this process."""
        from addin.backend.app import create_app

        configure_logging(verbose=self.is_verbose)
        if self.settings.log_json:
            log_as_json()
        prepare_process()
        threading.Thread(target=_end_with_parent, args=(self.place,), name="watch the parent", daemon=True).start()
        return create_app(self.settings, place=self.place, pages_beside=self.pages_beside(self.settings))


class WorkerConfig(uvicorn.Config):
    """How a worker serves: it takes up a certificate that was renewed."""

    def load(self) -> None:
        """Load what the worker needs, in the worker."""
        super().load()
        if self.ssl_certfile is not None and self.ssl_keyfile is not None:
            from addin.tls.certificates import Certificate  # cryptography takes long to load

            own = Certificate(Path(self.ssl_certfile), Path(self.ssl_keyfile))
            watch_in_thread(renewals(self, own), threading.Event())  # until the process ends


def serve_workers(
    settings: Settings,
    listener: Listener,
    workers: int,
    pages_beside: Callable[[Settings], Sequence[BaseRoute]],
    *,
    maintenance: Callable[[], object] = lambda: None,
) -> None:
    """Answer requests from so many processes until Ctrl-C or SIGTERM; one that dies is replaced within a second.

    `maintenance` is called every few seconds; it may renew the certificate, which all workers then take up.
    Raises `AddinError` on Windows, whose processes cannot share what these share.
    """
    if sys.platform == "win32":
        raise AddinError("several workers need Linux or macOS; on Windows run addin serve without --workers")
    from dataservice.worker_processes import WorkerProcesses

    verbose = logging.getLogger("addin").isEnabledFor(logging.DEBUG)
    with tempfile.TemporaryDirectory(prefix="addin-workers-", dir=folder_for_sockets(tempfile.gettempdir())) as folder:
        place = WorkerDirectory(Path(folder), time.time())
        app = WorkerApp(share_of(settings, workers), place, pages_beside, verbose)
        metrics = place.folder / "metrics"
        metrics.mkdir()
        os.environ[FOLDER_VARIABLE] = str(metrics)  # the workers inherit it
        config = config_of(app, listener, grace_s=settings.stop_timeout_s, kind=WorkerConfig)
        config.factory, config.workers = True, workers
        with watched(maintenance):
            WorkerProcesses(config, sockets=[listener.socket]).run()
        listener.socket.close()


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
    return msgspec.structs.replace(settings, **{name: -(-getattr(settings, name) // workers) for name in names})


def _end_with_parent(place: WorkerDirectory) -> None:
    """End this process when the one that started it is gone: nobody else would end it, nor remove the folder."""
    if (parent := parent_process()) is not None:
        wait([parent.sentinel])
        shutil.rmtree(place.folder, ignore_errors=True)
        os.kill(os.getpid(), signal.SIGTERM)
