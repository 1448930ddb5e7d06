"""`dataservice serve`: the embedded service on a port."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dataservice.cli.command_group import CommandError
from dataservice.cli.data import DatabaseOption, import_with_progress, open_store
from dataservice.cli.printing import echo

if TYPE_CHECKING:
    from dataservice.server import Store


def serve(
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Import this directory first if the database is new.")
    ] = None,
    db: DatabaseOption = "",
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 for every network.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 picks a free one.")] = 8787,
    workers: Annotated[int, typer.Option(min=1, help="Processes that answer, sharing the database.")] = 1,
    access_log: Annotated[bool, typer.Option("--access-log", help="Print a line for each request.")] = False,
) -> None:
    """Answer the whole API until Ctrl-C.

    \b
    Examples:
      dataservice sample made-up && dataservice serve --data made-up
      dataservice serve --db team.db --host 0.0.0.0 --workers 2
      dataservice serve --db postgresql+psycopg://service@db.example.org/service
    """
    from dataservice.server.running import address_of, listen
    from dataservice.server.running import serve as answer

    with open_store(db) as store:
        if data is not None:
            _import_when_new(store, data)
        try:
            listener = listen(host, port)
        except OSError as error:
            raise CommandError(f"cannot listen on {host} port {port}: {error.strerror}") from error
        echo(_greeting(store, address_of(listener)))
        answer(store, listener, workers=workers, access_log=access_log)
    echo("Stopped.")


def _import_when_new(store: Store, directory: Path) -> None:
    if store.is_empty():
        import_with_progress(store, directory)
    else:
        echo(f"{store.database} has data already; to replace them: dataservice import {directory}", err=True)


def _greeting(store: Store, url: str) -> str:
    lines = [f"Data Service at {url}, on {store.database}"]
    if store.is_empty():
        lines.append("There are no data yet: dataservice import DIR, or dataservice sample DIR for made-up ones.")
    if not store.keys.records():
        lines.append(f"Callers need a key: dataservice key create --tier pro --db {store.database}")
    return "\n".join([*lines, "Ctrl-C ends it."])
