"""`addin serve`: the backend for Excel and Calc; `addin sheet`: a backend for a spreadsheet in the browser."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from addin.config.settings import Settings, load_settings
from addin.errors import AddinError
from dataservice.terminal import echo

if TYPE_CHECKING:
    from collections.abc import Callable

    from addin.backend.state import BackendState
    from addin.cli.backend import ReadyBackend

SHEET_PORT = 8776
"""Where the sheet's page is looked for first, so that the browser finds the drafts of the last time again."""


def serve(
    port: Annotated[int | None, typer.Option(min=0, max=65_535, help="The port; 0 takes a free one.")] = None,
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    http: Annotated[bool, typer.Option("--http", help="Plain HTTP, enough for Calc; Excel needs HTTPS.")] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, max=64, help="Processes that share the port and the work.")
    ] = None,
) -> None:
    """Answer the formulas of Excel and Calc until Ctrl-C.

    Several workers share one cache, one quota and one refresh; one that dies is replaced.

    \b
    Examples:
      addin serve
      addin serve --port 8766
      addin serve --http --workers 4
    """
    from addin.backend import serving
    from addin.backend.app import stopping_of
    from addin.backend.operation.set_up import refuse_unknown
    from addin.cli.backend import new_backend, served_pages
    from addin.config.json_log import log_as_json

    refuse_unknown(os.environ)
    settings = load_settings()
    if settings.log_json:
        log_as_json()
    processes = workers or settings.workers
    backend = new_backend(settings, host=host, port=port, http=http, workers=processes)
    app, listener = backend.app, backend.listener
    echo(f"Answering {settings.namespace} functions at {listener.url} from {settings.base_url}")
    _announce(settings, backend.app.state.backend)
    echo("Ctrl-C ends it." if processes == 1 else f"{processes} workers answer. Ctrl-C ends them.")
    if processes == 1:
        serving.serve(app, listener, goes_on=_maintenance(backend), stopping=stopping_of(app))
    else:
        from addin.backend.workers.supervisor import serve_workers

        serve_workers(settings, listener, processes, served_pages, maintenance=_maintenance(backend))
    echo("Stopped.")


def _announce(settings: Settings, state: BackendState) -> None:
    """Say how it is deployed, and what an administrator has to mind."""
    from addin.backend.operation.set_up import concerns
    from addin.config.api_key import find_key
    from addin.config.connect import key_store

    for line in deployment(settings):
        echo(line)
    has_key = settings.per_user_keys and find_key(key_store(settings)) is not None
    for line in concerns(settings, has_key=has_key, has_metrics_token=bool(state.metrics_token)):
        echo(f"Mind: {line}", err=True)
    if settings.public_url or settings.oidc_issuer:
        _tell_what_is_wrong(settings)
    if state.key is None and not settings.per_user_keys:
        echo("No API key is set yet: cells will say so. Keep one with: addin key set", err=True)


def _tell_what_is_wrong(settings: Settings) -> None:
    """Tell in the log what does not work of a shared backend; it starts all the same, as what is away may come back."""
    from addin.backend.operation.server_check import examine_server
    from addin.findings import State

    def look() -> None:
        for finding in asyncio.run(examine_server(settings, os.environ, now=time.time())):
            if finding.state is not State.GOOD:
                echo(f"Mind: {finding.topic}: {finding.text} → {finding.advice}", err=True)

    threading.Thread(target=look, name="check the set-up", daemon=True).start()


def _maintenance(backend: ReadyBackend) -> Callable[[], bool]:
    """Renews the certificate in time, and tells of an update; whoever started the backend here restarts it here."""
    from addin.autostart.maintenance import Maintenance
    from addin.autostart.new_version import NewVersion, can_be_started, code_now

    maintenance = Maintenance(record=None, renew=backend.renew, has_update=NewVersion(code_now, can_be_started).is_here)
    told = False

    def goes_on() -> bool:
        nonlocal told
        if not maintenance.goes_on() and not told:
            told = True
            echo("A new version is installed. To use it: Ctrl-C, then addin serve")
        return True

    return goes_on


def sheet(
    book: Annotated[Path | None, typer.Argument(help="An .xlsx or .xlsm workbook; an empty sheet without one.")] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65_535, help=f"0 takes any free one; without it the first from {SHEET_PORT} on."),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser, where there is one.")] = True,
    fetch: Annotated[bool, typer.Option("--fetch", help="Only download what the page is made of.")] = False,
) -> None:
    """Open a spreadsheet in the browser, with the functions in it and your own key, until Ctrl-C.

    The workbook is read, never written: Download in the page saves a copy. Only this machine can reach the page.

    \b
    Examples:
      addin sheet
      addin sheet report.xlsx
      addin sheet --no-browser --port 8770
      addin sheet --fetch
    """
    from addin.sheet.component import ADVICE, FETCHED_MB, is_here

    if fetch:
        from addin.sheet.fetch import fetch as fetch_component

        echo("It is here now." if fetch_component(echo) else "It is here already.")
        return
    if not is_here():
        raise AddinError(f"the sheet's component is not here; get it with: {ADVICE} ({FETCHED_MB} MB, once)")
    from addin.backend import create_app, serving
    from addin.excel import pages
    from addin.sheet.browser import open_page
    from addin.sheet.routes import BookToOpen, routes

    settings = load_settings()
    first = BookToOpen(book.name, _readable(book)) if book else None
    app = create_app(settings, pages=[*pages.routes(settings), *routes(settings, first)])
    listener = serving.listen_at_home(port, SHEET_PORT)
    url = f"{listener.url}/sheet"
    echo(f"{book.name if book else 'An empty sheet'} with {settings.namespace} functions: {url}")
    if app.state.backend.key is None:
        echo("No API key is set yet: cells will say so. Keep one with: addin key set", err=True)
    opened = open_page(url, wanted=browser)  # the port listens already, so the browser may ask before it is answered
    echo("Ctrl-C ends it." if opened else "Open it in a browser. Ctrl-C ends it.")
    serving.serve(app, listener)
    echo("Stopped.")


def _readable(book: Path) -> Callable[[], Path]:
    """The book's path at any time, once it is sure that it is a workbook; raises `WorkbookError`."""
    from addin.workbook.ooxml.package import Package

    Package(book).close()
    return lambda: book


def deployment(settings: Settings) -> list[str]:
    """Return what the administrator of a shared backend wants to see confirmed; no line shows a password.

    >>> deployment(Settings(public_url="https://addin.example", redis_url="redis://:secret@cache.example:6379/0"))
    ['Users reach it at https://addin.example', 'Answers are shared through Redis at cache.example:6379']
    """
    lines = []
    if settings.public_url:
        lines.append(f"Users reach it at {settings.public_url}")
    if settings.is_store_shared:
        from addin.config.connect import store_place

        lines.append(f"Answers are shared through {store_place(settings)}")
    if settings.per_user_keys:
        lines.append("Each user sends an own API key, over HTTPS")
    return lines
