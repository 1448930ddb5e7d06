"""`addin eval`: formulas worked out on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from addin.cli.output import Cells
    from addin.config.settings import Settings


def evaluate_formulas(
    formulas: Annotated[list[str], typer.Argument(metavar="FORMULA...", help="""Such as '=DS.SIGNAL("us-cpi")'.""")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the answers as JSON.")] = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print CSV; text that looks like a formula begins with an apostrophe.")
    ] = False,
) -> None:
    """Work out formulas and print their values."""
    import asyncio

    import orjson

    from addin.cli.output import as_csv as csv_of
    from addin.cli.output import cells_in
    from addin.config.settings import load_settings

    if as_json and as_csv:
        raise typer.BadParameter("choose one of --json and --csv")
    answers = asyncio.run(_answers(formulas, load_settings()))
    tables = [cells_in(answer) for answer in answers]
    if as_json:
        typer.echo(orjson.dumps(answers if len(answers) > 1 else answers[0], option=orjson.OPT_INDENT_2).decode())
    elif as_csv:
        typer.echo("\n".join(csv_of(cells) for cells in tables), nl=False)
    else:
        for cells in tables:
            _print(cells)
    _complain(formulas, tables)


async def _answers(formulas: list[str], settings: Settings) -> list[dict[str, Any]]:
    import orjson

    from addin.config.connect import connected
    from addin.formulas import call_text
    from addin.protocol.batch import Batches, ResponseCache

    async with connected(settings) as session:
        batches = Batches(session, ResponseCache(settings.memo_bytes), deadline_s=settings.deadline_s)
        answers = await batches.answer([call_text(formula, settings.namespace) for formula in formulas])
    answered: list[dict[str, Any]] = orjson.loads(answers.text)
    return answered


def _print(cells: Cells) -> None:
    from addin.cli.output import as_text

    if not cells.is_table:
        typer.echo(as_text(cells.rows[0][0]))
        return
    from rich.console import Console

    from addin.cli.output import table_of

    Console().print(table_of(cells))


def _complain(formulas: list[str], tables: list[Cells]) -> None:
    """Messages go to stderr; an error in any cell ends the command with exit code 1."""
    failed = False
    for formula, cells in zip(formulas, tables, strict=True):
        if cells.stale:
            typer.echo(f"{formula}: {cells.stale}", err=True)
        for error in cells.errors:
            failed = True
            typer.echo(f"{formula}: {error.code} {error.message}", err=True)
    if failed:
        raise typer.Exit(1)
