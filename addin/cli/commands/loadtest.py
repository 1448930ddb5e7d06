"""`addin loadtest`: many users at once before a hosted backend, and how long each of them waits."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from addin.errors import AddinError, SettingsError
from dataservice.terminal import echo, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from addin.cli.load.report import LoadReport

PERCENTILES = (50, 95, 99, 100)


def loadtest(
    url: Annotated[str | None, typer.Argument(help="A backend; without one, a made-up one is started.")] = None,
    keys: Annotated[Path | None, typer.Option(help="A file with a key of each user, one a line.")] = None,
    users: Annotated[int, typer.Option(min=1, max=10_000, help="Users who send a batch at the same time.")] = 50,
    cells: Annotated[int, typer.Option(min=1, max=100_000, help="Cells in the batch of each of them.")] = 500,
    large: Annotated[int, typer.Option(min=0, max=100_000, help="Cells of one more user, beside them.")] = 0,
    rounds: Annotated[int, typer.Option(min=1, max=1_000, help="How often all of them recalculate.")] = 3,
    within: Annotated[float, typer.Option(min=0, help="Seconds in which they come; 0: all at once.")] = 0,
    cold: Annotated[bool, typer.Option("--cold", help="Let the backend named ask for everything again first.")] = False,
    predict: Annotated[int, typer.Option(min=0, max=100_000, help="Tell how long so many would wait.")] = 0,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Workers of the made-up backend.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Simulate many users who open workbooks and recalculate at once, and show how long they wait.

    In the morning each user's nine signals are loaded: the made-up backend has an empty cache, and one that is named
    asks for what it does not know, with --cold for all. The rounds after that spend nothing. Those who come --within
    some seconds come mostly in the middle. With --predict all come at once, and the waits of more are told from theirs.

    \b
    Examples:
      addin loadtest
      addin loadtest --users 200 --large 100000
      addin loadtest --users 40 --predict 300 --within 60 --workers 4
      addin loadtest https://addin.example.com --keys keys.txt --users 50
    """
    from addin.cli.load.own_backend import own_backend
    from addin.cli.load.report import LoadPlan, run
    from addin.cli.output import print_json
    from addin.cli.stopping import ended_like_ctrl_c
    from addin.config.authorities import trusted
    from addin.config.settings import load_settings

    address: str
    given: Sequence[str | None]
    with ended_like_ctrl_c(), ExitStack() as stack:
        if url is None:
            echo("Starting a backend with made-up data …", err=True)
            started = stack.enter_context(own_backend(users + 1, workers))
            address, given = started.url, [*started.keys]
        else:
            address, given = _address_in(url, with_keys=keys is not None), _keys_in(keys, users, 1 if large else 0)
        verify = True if url is None else trusted(load_settings().ca_file)
        beside = given[users : users + 1]
        plan = LoadPlan(address, given[:users], beside, cells, large, rounds, within, cold, verify, predict)
        report = asyncio.run(run(plan, lambda line: echo(line, err=True)))
    if as_json:
        print_json(report.members())
    else:
        _print(report)


def _address_in(url: str, *, with_keys: bool) -> str:
    """The backend's address; raises `AddinError` if it cannot be one, or if keys would travel there in clear text."""
    from dataservice.client.network.credentials import ClearTextError, service_url

    try:
        return service_url(url, allow_plain_http=not with_keys)
    except ClearTextError:
        raise AddinError(f"the keys would travel to {url} in clear text: use its https address") from None
    except ValueError:
        raise AddinError("the backend's address must look like https://addin.example.com, or be left out") from None


def _keys_in(file: Path | None, users: int, beside: int) -> Sequence[str | None]:
    """A key for each user and for those beside them, from a file; without one, all share the backend's own.

    Raises `AddinError` for too few, and for what is no key.
    """
    from addin.cli.output import counted
    from addin.config.api_key import checked_key

    if file is None:
        return [None] * (users + beside)
    try:
        keys = [checked_key(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise AddinError(f"{file} cannot be read: {error}") from None
    except SettingsError as error:
        raise AddinError(f"{file} must hold one key a line: {error}") from None
    if len(keys) < users + beside:
        enough = len(keys) - beside
        advice = f"; use --users {enough}" if enough > 0 else ""
        needed = counted(users + beside, "user")
        raise AddinError(f"{file} holds {counted(len(keys), 'key')}, but {needed} need one each{advice}")
    return keys


def _print(report: LoadReport) -> None:
    from addin.cli.load.users import MOST_REASONS
    from addin.cli.output import plain_table, print_table

    table = plain_table(show_header=True)
    times_told = [f"p{percent}" if percent < 100 else "longest" for percent in PERCENTILES]
    for heading in ("batches", "count", *times_told, "cells with an error"):
        table.add_column(heading, justify="left" if heading == "batches" else "right")
    for name, times in report.rounds.items():
        shown = [f"{1000 * times.percentile(percent):,.0f} ms" for percent in PERCENTILES]
        table.add_row(name, f"{len(times.seconds):,}", *shown, f"{times.errors:,}")
    for name, times in report.predicted.items():
        shown = [f"{1000 * times.percentile(percent):,.0f} ms" for percent in PERCENTILES]
        table.add_row(f"{name}, predicted", f"{report.predicted_users:,}", *shown, "")
    print_table(table)
    for name, times in report.rounds.items():
        for reason, count in times.reasons.most_common(MOST_REASONS):
            echo(f"{count:,} cells {name}: {printable(reason)}")
    for name, queue in report.queues.items():
        echo(f"Median {name}: {queue}.")
    if report.ratio is not None:
        echo(f"Beside the large batch, p99 is {report.ratio:.2f} times what it is without.")
    if report.bytes_per_user is not None:
        echo(f"Memory for each user: {report.bytes_per_user / 2**20:.1f} MiB.")
    if report.errors:
        echo(f"{report.errors:,} of {report.cells:,} cells show an error.", err=True)
