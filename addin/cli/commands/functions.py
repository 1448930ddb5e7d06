"""`addin functions` and `addin eval`: the function library explained, and evaluated on the command line."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from addin.config.settings import Settings, load_settings
from addin.errors import AddinError
from dataservice.terminal import echo, printable

if TYPE_CHECKING:
    from addin.cli.output import Cells
    from addin.workbook.calculation.book_formulas import BookFormula


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
    from msgspec import to_builtins

    from addin.cli.output import print_json
    from addin.protocol.describe import describe
    from udfs import REGISTRY
    from udfs.engine import find
    from udfs.errors import ArgumentError

    try:
        chosen = list(REGISTRY.values()) if function_id is None else [find(function_id.rpartition(".")[2])]
    except ArgumentError as error:
        raise AddinError(str(error)) from None
    described: list[dict[str, Any]] = to_builtins([describe(function) for function in chosen])
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
      addin eval '=ROUND(DS.SIGNAL("us-cpi")*2,1)'
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
    from addin.cli.output import plain_table, print_table

    table = plain_table(show_header=True)
    table.add_column("function", no_wrap=True, style="cyan")
    table.add_column("gives")
    for group in dict.fromkeys(function["group"] for function in described):
        table.add_row(f"[bold]{group}[/bold]", "")
        for function in described:
            if function["group"] == group:
                table.add_row(f"  {function['id']}", function["summary"])
    print_table(table, markup=True)


def _print_one(function: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.text import Text

    from addin.cli.output import plain_table, print_table

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
    print_table(table)
    for example in function["examples"]:
        console.print(Text(f"  {example}", style="green"))


def _explained(item: dict[str, Any]) -> str:
    choices = ", ".join(choice["value"] for choice in item["choices"])
    default = item.get("default")
    text: str = item["help"]
    return text + (f" ({choices})" if choices else "") + (f"; default {default}" if default is not None else "")


def _call(formula: str, namespace: str) -> bytes | BookFormula:
    """The call in the formula, or the longer formula; `AddinError` says what to change where it cannot be evaluated."""
    from addin.formulas import FormulaError, call_text
    from addin.formulas.advice import advice, unknown_function
    from addin.workbook.calculation.engine.process import EngineFailedError, how_to_install, is_installed
    from addin.workbook.calculation.single import read_single
    from udfs import REGISTRY

    function_ids = frozenset(REGISTRY)
    if change := unknown_function(formula, namespace, function_ids):
        raise AddinError(f"{formula[:80]}: {change}")
    try:
        return call_text(formula, namespace)
    except FormulaError as error:
        reason: AddinError = error
    if change := advice(formula, namespace, function_ids):
        raise AddinError(f"{formula[:80]}: {change}")
    if not is_installed():
        raise AddinError(f"{reason}. To calculate with its value, {how_to_install()}")
    try:
        return read_single(formula, namespace)
    except EngineFailedError as error:
        raise AddinError(str(error)) from None


async def _answers(formulas: list[str], settings: Settings) -> list[dict[str, Any]]:
    import orjson

    from addin.config.connect import connected
    from addin.config.consent import consent_for, how_to_allow
    from addin.protocol.batch import Batches
    from addin.protocol.response_cache import ResponseCache

    calls = [_call(formula, settings.namespace) for formula in formulas]
    plain = [call for call in calls if isinstance(call, bytes)]
    async with connected(settings) as session:
        consent, cache = consent_for(session.client, settings), ResponseCache(settings.memo_bytes)
        limits = settings.batch_limits
        batches = Batches(session, cache, deadline_s=settings.deadline_s, limits=limits, consent=consent)

        async def ask(asked: Sequence[bytes]) -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = orjson.loads((await batches.answer(asked, how_to_allow(settings))).text)
            return found

        answered = iter(await ask(plain))
        now = session.now()
        return [next(answered) if isinstance(call, bytes) else await _worked_out(call, now, ask) for call in calls]


async def _worked_out(
    formula: BookFormula, now: float, ask: Callable[[Sequence[bytes]], Awaitable[list[dict[str, Any]]]]
) -> dict[str, Any]:
    """The answer of a formula that calculates with calls of ours, in the form of the protocol's answers.

    Where it comes to what a call was answered, as it is, that answer, whose dates are known as such.
    """
    import orjson

    from addin.cli.output import as_argument, engine_value, errors_in, worked_out_answer
    from addin.workbook.calculation.single import worked_out

    answers: list[dict[str, Any]] = []

    async def given(asked: Sequence[list[Any]]) -> list[Any]:
        found = await ask([orjson.dumps(as_argument(call)) for call in asked])
        answers.extend(found)
        return [engine_value(answer) for answer in found]

    rows = await worked_out(formula, now, given)
    tables = (answer for answer in answers if "columns" in answer)
    errors = [error for answer in answers for error in errors_in(answer)]
    return next((table for table in tables if engine_value(table) == rows), None) or worked_out_answer(rows, errors)


def _print_cells(cells: Cells) -> None:
    from addin.cli.output import as_text, print_table, table_of

    if cells.is_table:
        print_table(table_of(cells))
    else:
        echo(as_text(cells.rows[0][0]))


def _report_errors(formulas: Sequence[str], tables: Sequence[Cells]) -> None:
    """Print messages on stderr; an error in any cell ends the command with exit code 1."""
    from addin.cli.output import code_of

    failed = False
    for formula, cells in zip(formulas, tables, strict=True):
        if cells.stale:
            echo(f"{formula}: {cells.stale}", err=True)
        for error in cells.errors:
            failed = True
            code = code_of(error)
            why = f"the formula comes to {code}" if error.message == code else error.message
            echo(f"{formula}: {code} {why}", err=True)
    if failed:
        raise typer.Exit(1)
