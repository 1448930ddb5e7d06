"""The service as a process of its own, until it is told to stop."""

import os
import socket
from contextlib import suppress
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from dataservice.server.app import DATABASE_VARIABLE, create_app
from dataservice.server.listening import KEEP_ALIVE_S
from dataservice.server.store import Store

# Answers take milliseconds; who has not finished by then waits for a slow caller.
GRACE_S = 3


def serve(store: Store, listener: socket.socket, *, workers: int = 1, access_log: bool = False) -> None:
    """Answer on a bound socket until Ctrl-C or SIGTERM; several workers are processes that share the database."""
    settings: dict[str, Any] = {
        "log_level": "info" if access_log else "warning",
        "access_log": access_log,
        "lifespan": "off",
        "ws": "none",
        "timeout_graceful_shutdown": GRACE_S,
        "timeout_keep_alive": KEEP_ALIVE_S,
        "server_header": False,
    }
    if workers == 1:
        with suppress(KeyboardInterrupt):  # uvicorn raises it again when all is closed; here it is the way to end
            uvicorn.Server(uvicorn.Config(create_app(store), **settings)).run(sockets=[listener])
        return
    os.environ[DATABASE_VARIABLE] = store.database.location
    app = "dataservice.server.app:app_from_environment"
    config = uvicorn.Config(app, factory=True, workers=workers, **settings)
    Multiprocess(config, sockets=[listener]).run()
