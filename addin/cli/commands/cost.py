"""`addin cost`: what a refresh of a workbook would spend."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from addin.workbook.refresh.refresh import BookCost


def cost(
    book: Annotated[Path, typer.Argument(help="An .xlsx or .xlsm workbook.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Tell how many requests a refresh of a workbook would spend; nothing is sent.

    Example: addin cost report.xlsx
    """
    show_cost(asyncio.run(_cost(book)), book, as_json=as_json)


async def _cost(book: Path) -> BookCost:
    from addin.config.connect import connected
    from addin.config.settings import load_settings
    from addin.workbook.refresh.refresh import book_cost

    settings = load_settings()
    async with connected(settings) as session:
        return await book_cost(session, book, namespace=settings.namespace)


def show_cost(cost: BookCost, book: Path, *, as_json: bool) -> None:
    """Print the cost as a table by sheet and function, or as JSON."""
    if as_json:
        import orjson

        typer.echo(orjson.dumps(_as_json(cost), option=orjson.OPT_INDENT_2).decode())
        return
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("sheet", "function"):
        table.add_column(heading)
    for heading in ("formulas", "requests"):
        table.add_column(heading, justify="right")
    for (sheet, function_id), (formulas, requests) in cost.by_sheet.items():
        table.add_row(sheet, function_id, f"{formulas:,}", f"{requests:,}")
    console.print(table)
    left = "" if cost.remaining is None else f", {cost.remaining:,} left this month"
    console.print(
        f"[bold]{book.name}: {cost.requests:,} requests[/bold]{left}; "
        f"{cost.fresh_cells:,} of {cost.cells:,} formulas are fresh already. "
        "Formulas that share data share its requests."
    )
    for item in cost.skipped:
        console.print(f"[yellow]left as it is[/yellow] {item.where}: {item.why}", highlight=False)


def _as_json(cost: BookCost) -> dict[str, object]:
    return {
        "requests": cost.requests,
        "remaining": cost.remaining,
        "affordable": cost.affordable,
        "formulas": cost.cells,
        "fresh_formulas": cost.fresh_cells,
        "by_sheet": [
            {"sheet": sheet, "function": function_id, "formulas": formulas, "requests": requests}
            for (sheet, function_id), (formulas, requests) in cost.by_sheet.items()
        ],
        "left_as_is": [{"cell": item.where, "formula": item.formula, "why": item.why} for item in cost.skipped],
    }
