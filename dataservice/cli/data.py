"""`dataservice import` and `dataservice sample`: fill the database, and write made-up data to fill it with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dataservice.terminal.command_group import CommandError
from dataservice.terminal.printing import echo

if TYPE_CHECKING:
    from dataservice.server import ImportSummary, Store

DatabaseOption = Annotated[
    str,
    typer.Option(
        "--db",
        envvar="DATA_SERVICE_DB",
        metavar="FILE|URL",
        help="A SQLite file, or a PostgreSQL URL.",
        show_default="a file in your data folder",
    ),
]


@contextmanager
def open_store(db: str) -> Iterator[Store]:
    """The store of `--db`; raises `CommandError` for what goes wrong with it."""
    import platformdirs
    from sqlalchemy.exc import DBAPIError

    from dataservice.server import ServiceError, Store

    try:
        with Store(db or platformdirs.user_data_path("dataservice", appauthor=False) / "dataservice.db") as store:
            yield store
    except DBAPIError as error:
        raise CommandError(f"the database failed: {error.orig}") from error
    except ServiceError as error:
        raise CommandError(str(error)) from error


def import_(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="signals.csv, observations/<slug>.csv and so on.")],
    db: DatabaseOption = "",
) -> None:
    """Replace the service's data with a directory's; keys and their usage are kept.

    Everything is imported or nothing: a bad row is refused with its file and line. A running service goes on
    answering, with the old data until the new are complete.

    \b
    Examples:
      dataservice import team-data
      dataservice import team-data --db team.db
    """
    with open_store(db) as store:
        import_with_progress(store, directory)


def sample(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Created if it does not exist.")],
    as_of: Annotated[
        str | None, typer.Option(metavar="DATE", help="The last day, such as 2026-08-31.", show_default="today in UTC")
    ] = None,
) -> None:
    """Write a small made-up data set to import: the same for the same day.

    \b
    Examples:
      dataservice sample made-up
      dataservice sample made-up --as-of 2026-08-31
    """
    from dataservice.server import write_sample
    from dataservice.server.timestamps import parse_date

    try:
        write_sample(directory, as_of=None if as_of is None else parse_date(as_of))
    except ValueError as error:
        raise typer.BadParameter(f"{error}, not {as_of!r}", param_hint="--as-of") from error
    except OSError as error:
        raise CommandError(f"{directory} cannot be written: {error.strerror}") from error
    echo(f"Made-up data are in {directory}. Serve them: dataservice serve --data {directory}")


def import_with_progress(store: Store, directory: Path) -> None:
    """Import a directory, with a progress bar on a terminal, and print how much was imported on stderr."""
    from rich.console import Console
    from rich.progress import Progress

    from dataservice.server import import_directory

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        steps = {"reading": progress.add_task("Reading"), "writing": progress.add_task("Writing", start=False)}

        def show(step: str, done: int, total: int) -> None:
            progress.start_task(steps[step])
            progress.update(steps[step], completed=done, total=total)

        summary = import_directory(store, directory, on_progress=show)
    echo(_summary_text(summary), err=True)


def _summary_text(summary: ImportSummary) -> str:
    names = ("signals", "observations", "indices", "currents", "posts", "wire_items")
    counts = ", ".join(f"{getattr(summary, name):,} {name.replace('_', ' ')}" for name in names)
    ignored = f"\nSkipped, not part of the layout: {', '.join(summary.ignored)}." if summary.ignored else ""
    return f"Imported {counts}.{ignored}"
