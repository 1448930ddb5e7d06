"""`addin functions` and `addin eval`: the function library explained, and evaluated on the command line."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from addin.config.settings import Settings, load_settings
from addin.errors import AddinError
from dataservice.cli.printing import echo, printable

if TYPE_CHECKING:
    from addin.cli.output import Cells


def functions(
    function_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="One function, to explain it.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, as /registry.json gives it.")] = False,
) -> None:
    """List the functions, or explain one.

    \b
    Examples:
      addin functions
      addin functions SIGNAL_HISTORY
    """
    from addin.cli.output import print_json
    from addin.protocol.describe import describe
    from udfs import REGISTRY
    from udfs.engine.registry import find
    from udfs.errors import ArgumentError

    try:
        chosen = list(REGISTRY.values()) if function_id is None else [find(function_id.rpartition(".")[2])]
    except ArgumentError as error:
        raise AddinError(str(error)) from None
    described = [describe(function) for function in chosen]
    if as_json:
        print_json(described)
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
    """Evaluate formulas and print their values.

    \b
    Examples:
      addin eval '=DS.SIGNAL("us-cpi")'
      addin eval --csv '=DS.SIGNAL_HISTORY("us-cpi", "-2Y")' > us-cpi.csv
      addin eval "=DS.SIGNAL(""us-cpi"")"      (in the Windows command prompt)
    """
    if as_json and as_csv:
        raise typer.BadParameter("choose one of --json and --csv")
    from addin.cli import output

    settings = load_settings()
    with output.working("Waiting for the service"):
        answers = asyncio.run(_answers(formulas, settings))
    tables = [output.cells_in(answer) for answer in answers]
    if as_json:
        output.print_json(answers if len(answers) > 1 else answers[0])
    elif as_csv:
        table_texts = "\n".join(output.as_csv(cells) for cells in tables)
        typer.echo(printable(table_texts) if sys.stdout.isatty() else table_texts, nl=False)  # a file gets them as is
    else:
        for cells in tables:
            _print_cells(cells)
    _report_errors(formulas, tables)


def _print_list(described: list[dict[str, Any]]) -> None:
    from rich.console import Console

    from addin.cli.output import plain_table

    table = plain_table(show_header=True)
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
    from rich.console import Console
    from rich.text import Text

    from addin.cli.output import plain_table

    console = Console()
    names = ", ".join(p["name"] if p["required"] else f"[{p['name']}]" for p in function["parameters"])
    console.print(Text(f"{function['id']}({names})", style="bold cyan"))
    console.print(Text("\n\n".join(filter(None, (function["summary"], function["details"]))) + "\n"))
    table = plain_table()
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


def _call(formula: str, namespace: str) -> bytes:
    """The call in the formula; `AddinError` says what to change where it cannot be evaluated."""
    from addin.cli.formula_advice import advice
    from addin.formulas import FormulaError, call_text
    from udfs import REGISTRY

    try:
        return call_text(formula, namespace)
    except FormulaError as error:
        change = advice(formula, namespace, frozenset(REGISTRY))
        raise AddinError(f"{formula[:80]}: {change}" if change else str(error)) from None


async def _answers(formulas: list[str], settings: Settings) -> list[dict[str, Any]]:
    import orjson

    from addin.config.connect import connected
    from addin.protocol.batch import Batches
    from addin.protocol.response_cache import ResponseCache

    calls = [_call(formula, settings.namespace) for formula in formulas]
    async with connected(settings) as session:
        batches = Batches(session, ResponseCache(settings.memo_bytes), deadline_s=settings.deadline_s)
        answers = await batches.answer(calls)
    answered: list[dict[str, Any]] = orjson.loads(answers.text)
    return answered


def _print_cells(cells: Cells) -> None:
    from addin.cli.output import as_text, table_of

    if cells.is_table:
        from rich.console import Console

        Console().print(table_of(cells))
    else:
        echo(as_text(cells.rows[0][0]))


def _report_errors(formulas: Sequence[str], tables: Sequence[Cells]) -> None:
    """Print messages on stderr; an error in any cell ends the command with exit code 1."""
    failed = False
    for formula, cells in zip(formulas, tables, strict=True):
        if cells.stale:
            echo(f"{formula}: {cells.stale}", err=True)
        for error in cells.errors:
            failed = True
            echo(f"{formula}: {error.code} {error.message}", err=True)
    if failed:
        raise typer.Exit(1)
