"""`dataservice serve`: the embedded service on a port."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dataservice.cli.data import DatabaseOption, import_with_progress, open_store
from dataservice.terminal.command_group import CommandError
from dataservice.terminal.printing import echo

if TYPE_CHECKING:
    from dataservice.server import Store
    from dataservice.server.timestamps import Clock


def _print_switches(wanted: bool) -> None:
    if not wanted:
        return
    from dataservice.server.variants import SWITCHES

    for switch in SWITCHES.values():
        echo(f"{switch.name}: {switch.about}")
        echo(f"    {', '.join(switch.values)}")
    raise typer.Exit


DataOption = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Import this directory first if the database is new.")
]
SampleOption = Annotated[
    bool, typer.Option("--sample", help="Answer with made-up data, which grow and are revised day by day.")
]
AsOfOption = Annotated[
    str | None,
    typer.Option(metavar="DATE", help="With --sample: show the data of this day.", show_default="today in UTC"),
]
HostOption = Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 for every network.")]
VariantOption = Annotated[
    list[str] | None,
    typer.Option(metavar="SWITCH=VALUE", help="Answer an open question of the contract so; may be repeated."),
]
ListOption = Annotated[
    bool,
    typer.Option(
        "--list-variants", is_eager=True, callback=_print_switches, help="Print the switches and their values."
    ),
]


def serve(
    data: DataOption = None,
    sample: SampleOption = False,
    as_of: AsOfOption = None,
    db: DatabaseOption = "",
    host: HostOption = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 picks a free one.")] = 8787,
    workers: Annotated[int, typer.Option(min=1, help="Processes that answer, sharing the database.")] = 1,
    access_log: Annotated[bool, typer.Option("--access-log", help="Print a line for each request.")] = False,
    variant: VariantOption = None,
    _list_variants: ListOption = False,
) -> None:
    """Answer the whole API until Ctrl-C.

    \b
    Examples:
      dataservice serve --sample --db sample.db
      dataservice serve --sample --as-of 2026-08-31 --db sample.db
      dataservice serve --data team-data
      dataservice serve --db team.db --host 0.0.0.0 --workers 2
      dataservice serve --sample --variant end=excluded --variant page=300
      dataservice serve --db postgresql+psycopg://service@db.example.org/service
    """
    from dataservice.server.running import address_of, listen
    from dataservice.server.running import serve as answer
    from dataservice.server.sample import DailySample

    if sample and data is not None:
        raise typer.BadParameter("brings its own data: leave out --data", param_hint="--sample")
    if as_of is not None and not sample:
        raise typer.BadParameter("belongs to --sample", param_hint="--as-of")
    clock = _sample_clock(as_of)
    switches = _chosen(variant or [])
    with ExitStack() as stack:
        store = stack.enter_context(open_store(db))
        try:
            listener = listen(host, port)
        except OSError as error:
            raise CommandError(_not_listening(host, port, error)) from error
        stack.callback(listener.close)
        if data is not None:
            _import_when_new(store, data)
        if sample:
            stack.enter_context(DailySample(store, clock=clock).following())
        echo(_greeting(store, address_of(listener)))
        answer(store, listener, workers=workers, access_log=access_log, variant=switches)
    echo("Stopped.")


def _chosen(settings: list[str]) -> dict[str, str]:
    from dataservice.server.variants import Variant

    try:
        return Variant.parse(settings).unusual
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--variant") from error


def _sample_clock(as_of: str | None) -> Clock:
    """Return what tells the day whose made-up data are shown: the clock, or always the day `as_of`."""
    from dataservice.server.sample.signals import checked_day
    from dataservice.server.timestamps import midnight, parse_date, utc_now

    if as_of is None:
        return utc_now
    try:
        moment = midnight(checked_day(parse_date(as_of)))
    except ValueError as error:
        raise typer.BadParameter(f"{error}, not {as_of!r}", param_hint="--as-of") from error
    return lambda: moment


def _not_listening(host: str, port: int, error: OSError) -> str:
    return f"cannot listen on {host} port {port}: {error.strerror}. Choose another port with --port."


def _import_when_new(store: Store, directory: Path) -> None:
    if store.is_empty():
        import_with_progress(store, directory)
    else:
        echo(f"{store.database} has data already; to replace them: dataservice import {directory}", err=True)


def _greeting(store: Store, url: str) -> str:
    lines = [f"Data Service at {url}, on {store.database}"]
    if store.is_empty():
        lines.append("There are no data yet: dataservice import DIR, or made-up ones: dataservice serve --sample")
    if not store.keys.records():
        lines.append(f"Callers need a key: dataservice key create --tier pro --db {store.database}")
    return "\n".join([*lines, "Ctrl-C ends it."])
