"""`addin functions` and `addin eval`: the function library explained, and evaluated on the command line."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import orjson
import typer
from rich.console import Console
from rich.text import Text

from addin.cli import output
from addin.config.connect import connected
from addin.config.settings import Settings, load_settings
from addin.errors import AddinError
from addin.formulas import call_text
from addin.protocol.batch import Batches, ResponseCache
from addin.protocol.describe import describe
from udfs import REGISTRY
from udfs.engine.registry import find
from udfs.errors import ArgumentError


def functions(
    function_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="One function, to explain it.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, as /registry.json gives it.")] = False,
) -> None:
    """List the functions, or explain one."""
    try:
        chosen = list(REGISTRY.values()) if function_id is None else [find(function_id.rpartition(".")[2])]
    except ArgumentError as error:
        raise AddinError(str(error)) from None
    described = [describe(function) for function in chosen]
    if as_json:
        output.print_json(described)
    elif function_id is None:
        _print_list(described)
    else:
        _print_one(described[0])


def evaluate_formulas(
    formulas: Annotated[list[str], typer.Argument(metavar="FORMULA...", help="""Such as '=DS.SIGNAL("us-cpi")'.""")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the answers as JSON.")] = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print CSV; text that looks like a formula begins with an apostrophe.")
    ] = False,
) -> None:
    """Evaluate formulas and print their values."""
    if as_json and as_csv:
        raise typer.BadParameter("choose one of --json and --csv")
    answers = asyncio.run(_answers(formulas, load_settings()))
    tables = [output.cells_in(answer) for answer in answers]
    if as_json:
        output.print_json(answers if len(answers) > 1 else answers[0])
    elif as_csv:
        typer.echo("\n".join(output.as_csv(cells) for cells in tables), nl=False)
    else:
        for cells in tables:
            _print_cells(cells)
    _report_errors(formulas, tables)


def _print_list(described: list[dict[str, Any]]) -> None:
    table = output.plain_table(show_header=True)
    table.add_column("function", no_wrap=True, style="cyan")
    table.add_column("gives")
    group = None
    for function in described:
        if function["group"] != group:
            group = function["group"]
            table.add_row(f"[bold]{group}[/bold]", "")
        table.add_row(f"  {function['id']}", function["summary"])
    Console().print(table)


def _print_one(function: dict[str, Any]) -> None:
    console = Console()
    names = ", ".join(p["name"] if p["required"] else f"[{p['name']}]" for p in function["parameters"])
    console.print(Text(f"{function['id']}({names})", style="bold cyan"))
    console.print(Text("\n\n".join(filter(None, (function["summary"], function["details"]))) + "\n"))
    table = output.plain_table()
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()
    for parameter in function["parameters"]:
        table.add_row(parameter["name"], Text(_explained(parameter)))
        for option in parameter["options"]:
            table.add_row(f"  {option['name']}=", Text(_explained(option)))
    console.print(table)
    for example in function["examples"]:
        console.print(Text(f"  {example}", style="green"))


def _explained(item: dict[str, Any]) -> str:
    choices = ", ".join(choice["value"] for choice in item["choices"])
    default = item.get("default")
    text: str = item["help"]
    return text + (f" ({choices})" if choices else "") + (f"; default {default}" if default is not None else "")


async def _answers(formulas: list[str], settings: Settings) -> list[dict[str, Any]]:
    async with connected(settings) as session:
        batches = Batches(session, ResponseCache(settings.memo_bytes), deadline_s=settings.deadline_s)
        answers = await batches.answer([call_text(formula, settings.namespace) for formula in formulas])
    answered: list[dict[str, Any]] = orjson.loads(answers.text)
    return answered


def _print_cells(cells: output.Cells) -> None:
    if cells.is_table:
        Console().print(output.table_of(cells))
    else:
        typer.echo(output.as_text(cells.rows[0][0]))


def _report_errors(formulas: list[str], tables: list[output.Cells]) -> None:
    """Print messages on stderr; an error in any cell ends the command with exit code 1."""
    failed = False
    for formula, cells in zip(formulas, tables, strict=True):
        if cells.stale:
            typer.echo(f"{formula}: {cells.stale}", err=True)
        for error in cells.errors:
            failed = True
            typer.echo(f"{formula}: {error.code} {error.message}", err=True)
    if failed:
        raise typer.Exit(1)
