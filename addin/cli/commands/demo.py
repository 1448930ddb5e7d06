"""`addin demo`: everything at once, on made-up data."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from addin.cli.demo_server import Demo, Sent
    from addin.cli.output import Cells

DEMO_PORT = 8786
"""Where the backend is looked for first, so that the browser finds the drafts of the last demo again."""

SHOWN_ROWS = 6
"""How many rows of a table are printed."""


def demo(
    once: Annotated[bool, typer.Option("--once", help="End after the formulas.")] = False,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65_535, help=f"0 takes any free one; without it the first from {DEMO_PORT} on."),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the sheet in the browser, where there is one.")] = True,
) -> None:
    """Try everything on made-up data: no account, no network.

    \b
    Examples:
      addin demo
      addin demo --no-browser
      addin demo --once
      addin demo --port 8770
    """
    from rich.console import Console

    from addin.cli.stopping import ended_like_ctrl_c

    console = Console()
    with ended_like_ctrl_c(), ExitStack() as stack:
        with console.status("Making up data and starting the service and the backend …"):
            from addin.cli.demo_server import running_demo  # takes seconds to load: say so first

            running = stack.enter_context(running_demo(port=port, home=DEMO_PORT, sheet=not once))
        _show(running, console)
        if not once:
            _keep_serving(running, console, browser=browser)


def _show(demo: Demo, console: Console) -> None:
    from addin.cli.demo_server import FORMULAS, LOOKED_AT
    from addin.cli.output import requests_text

    first, again = demo.send(), demo.send()
    console.print(_page(FORMULAS, first))
    look = f"{demo.look.day}, when the service showed the data of that day: {requests_text(demo.look.requests)}"
    console.print(f"[bold]First look[/bold]  at {LOOKED_AT} on {look}", highlight=False, soft_wrap=True)
    for title, sent in (("Today", first), ("Same again", again)):
        console.print(f"[bold]{title}[/bold]  {_spending(len(FORMULAS), sent)}", highlight=False, soft_wrap=True)


def _keep_serving(demo: Demo, console: Console, *, browser: bool) -> None:
    try:
        if demo.sheet_url:
            with console.status("Filling the sheet …"):  # so that it is there as soon as its page is
                demo.http.get("/sheet/book")
        _tell(demo, console, browser=browser)
        threading.Event().wait()
    except KeyboardInterrupt:
        console.print("Stopped.")


def _tell(demo: Demo, console: Console, *, browser: bool) -> None:
    console.print(
        f"""
[bold]Sheet[/bold]       {_sheet(demo, browser=browser)}
[bold]Backend[/bold]     {demo.url}
  Excel     the task pane is {demo.url}/taskpane.html; Excel itself needs HTTPS: [cyan]addin serve[/cyan]
  Calc      with the extension installed: [cyan]DATA_SERVICE_ADDIN_URL={demo.url} soffice --calc[/cyan]
[bold]Service[/bold]     {demo.service_url}, for another terminal:
  [cyan]export DATA_SERVICE_URL={demo.service_url} DATA_SERVICE_API_KEY={demo.key}[/cyan]
  [cyan]addin eval '=DS.EXPLAIN("us-cpi")'[/cyan]
  [cyan]addin eval '=ROUND(DS.SIGNAL("us-cpi")/DS.SIGNAL("us-10y"), 1)'[/cyan]

Ctrl-C ends it and removes everything.""",
        highlight=False,
        soft_wrap=True,
    )


def _sheet(demo: Demo, *, browser: bool) -> str:
    """Return where the sheet is, opened if someone is there to see it; or how to get it."""
    from addin.sheet.browser import open_page
    from addin.sheet.component import ADVICE, FETCHED_MB

    if demo.sheet_url is None:
        return f"a spreadsheet in the browser with these formulas: get it with [cyan]{ADVICE}[/cyan] ({FETCHED_MB} MB)"
    opened = open_page(demo.sheet_url, wanted=browser)
    return f"{demo.sheet_url}  {'opens in the browser' if opened else 'open it in a browser'}: the template, live"


def _page(formulas: tuple[str, ...], sent: Sent) -> RenderableType:
    """Each formula with its result below it, so that a table has the whole width."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.rule import Rule
    from rich.text import Text

    from addin.cli.output import cells_in

    parts: list[RenderableType] = [Rule("Formulas on made-up data")]
    for formula, answer in zip(formulas, sent.answers, strict=True):
        parts += [Text(formula, style="cyan"), Padding(_shown(cells_in(answer)), (0, 0, 1, 4))]
    return Group(*parts, Rule())


def _shown(cells: Cells) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    from addin.cli.output import cell_text, table_of

    if not cells.is_table:
        value = cell_text(cells.rows[0][0])
        return Group(value, *(Text(error.message, style="dim") for error in cells.errors))
    shown = table_of(replace(cells, rows=cells.rows[:SHOWN_ROWS]))
    more = len(cells.rows) - SHOWN_ROWS
    return Group(shown, Text(f"… and {more} rows more", style="dim")) if more > 0 else shown


def _spending(formulas: int, sent: Sent) -> str:
    from addin.cli.output import requests_text

    requests = requests_text(sent.requests)
    hits = max(0, formulas - sent.requests)
    quota = f"{sent.quota['remaining']:,} of {sent.quota['cap']:,} left this month"
    return f"{formulas} formulas, {requests}, {hits} from the cache, {sent.seconds * 1000:.0f} ms; {quota}"
