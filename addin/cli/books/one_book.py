"""What `addin refresh` and `addin cost` tell about one book: in words, as a table, as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from addin.cli.output import counted, plain_table, print_table, requests_text
from addin.formulas import Area
from addin.workbook.calculation.engine.process import how_to_install, is_installed
from addin.workbook.refresh.dependencies import CellNote
from addin.workbook.refresh.report import BookCost, Refreshed
from dataservice.terminal import echo, printable

SHOWN_CELLS = 3
"""How many of the cells with the same reason are named."""


def formulas_text(report: Refreshed) -> str:
    """Return how many formulas a refresh computed: those of ours, and others that it worked out or left."""
    if not report.calculated:
        return counted(report.cells, "formula")
    return f"{counted(report.cells, 'formula')} of ours and {counted(len(report.calculated), 'other')}"


def print_report(report: Refreshed, target: Path) -> None:
    """Print what a refresh did."""
    spent = requests_text(report.requests)
    echo(f"{target}: {formulas_text(report)}, {len(report.written):,} changed, {spent} spent")
    print_notes([("", report)])
    _print_calculated(report)
    if report.mended:
        echo(f"  entered anew: {counted(len(report.mended), 'formula')} that Excel would have shown as #NAME?")
    if report.recalculates:
        echo("  other formulas depend on these values: Excel recalculates them when it opens the book")
        if not is_installed():
            echo(f"  to work them out here, {how_to_install()}")


def _print_calculated(report: Refreshed) -> None:
    """Say how many other formulas were worked out, and how far that was proven."""
    done = [cell for cell in report.calculated if not cell.unproven]
    if done:
        blind = sum(not cell.compared for cell in done)
        more = f", {blind:,} of them without a value in the file to compare with" if blind else ""
        echo(f"  {counted(len(done), 'other formula')} worked out{more}")


def print_program_report(report: Refreshed, target: Path, program: str) -> None:
    """Print what a refresh through a spreadsheet program did."""
    if report.errors:
        echo(f"{target}: {len(report.errors):,} of {report.cells:,} formulas show an error ({program})")
        print_notes([("", report)])
    else:
        echo(f"{target} is up to date ({program})")


def print_notes(reports: Sequence[tuple[str, Refreshed]]) -> None:
    """Print every reason once, with the first cells that it concerns; each report comes with the name of its book."""
    by_name: dict[str, dict[str, list[str]]] = {}
    for book, report in reports:
        for name, items in _groups(report).items():
            for item in items:
                where = f"{book} {item.where}" if book else item.where
                by_name.setdefault(name, {}).setdefault(item.why, []).append(where)
    for name, by_reason in by_name.items():
        for why, cells in by_reason.items():
            more = " …" if len(cells) > SHOWN_CELLS else ""
            several = f"{len(cells):,} formulas ({', '.join(cells[:SHOWN_CELLS])}{more})"
            echo(f"  {name}: {cells[0] if len(cells) == 1 else several}: {why}", err=True)


def _groups(report: Refreshed) -> dict[str, Sequence[CellNote]]:
    return {
        "kept their last value": report.kept,
        "show an error": report.errors,
        "left as they are": report.skipped,
        "unproven, keep their old value": [
            CellNote(str(Area(*cell.cell[1], *cell.cell[1], sheet=cell.cell[0])), cell.formula, cell.unproven)
            for cell in report.unproven
        ],
        "note": report.notes,
        "not stamped": [CellNote("signed all the same", "", report.not_stamped)] if report.not_stamped else [],
    }


def report_as_json(report: Refreshed, target: Path) -> dict[str, Any]:
    return {
        "book": printable(str(target)),
        "formulas": report.cells,
        "changed": len(report.written),
        "entered_anew": len(report.mended),
        "requests": report.requests,
        "recalculates_on_opening": report.recalculates,
        "calculates": is_installed(),
        "worked_out": sum(not cell.unproven for cell in report.calculated),
        "not_compared": sum(not cell.unproven and not cell.compared for cell in report.calculated),
        **{name.partition(",")[0].replace(" ", "_"): _as_json(items) for name, items in _groups(report).items()},
    }


def _as_json(items: Sequence[CellNote]) -> list[dict[str, str]]:
    notes = ((item.where, item.formula, item.why) for item in items)
    return [dict(zip(("cell", "formula", "why"), map(printable, note), strict=True)) for note in notes]


def print_cost(cost: BookCost, book: Path) -> None:
    """Print the cost as a table by sheet and function."""

    console = Console(markup=False, highlight=False)
    table = plain_table(show_header=True)
    for heading in ("sheet", "function"):
        table.add_column(heading)
    for heading in ("calls", "requests"):
        table.add_column(heading, justify="right")
    for (sheet, function_id), (formulas, requests) in cost.by_sheet.items():
        names = (Text(printable(name)) for name in (sheet, function_id))
        table.add_row(*names, f"{formulas:,}", requests.range_text())
    print_table(table)
    left = "" if cost.remaining is None else f", {cost.remaining:,} left this month"
    resting = f"; {counted(len(cost.guessed), 'call')} more rest on answers" if cost.guessed else ""
    total = Text(f"{printable(book.name)}: {cost.cost}", style="bold")
    total.append(
        f"{left}; {cost.fresh_cells:,} of {counted(cost.cells, 'call')} of our functions are fresh already{resting}. "
        "Calls that share data share its requests.",
        style="not bold",
    )
    console.print(total)
    if cost.skipped and not is_installed():
        echo(f"Calls inside of longer formulas are not counted; to work them out here, {how_to_install()}")
    for item in cost.skipped:
        console.print(Text.assemble(("left as it is", "yellow"), f" {printable(item.where)}: {printable(item.why)}"))


def cost_as_json(cost: BookCost) -> dict[str, Any]:
    return {
        "requests": cost.requests,
        "at_least": cost.cost.at_least,
        "at_most": cost.cost.at_most,
        "remaining": cost.remaining,
        "affordable": cost.affordable,
        "formulas": cost.cells,
        "fresh_formulas": cost.fresh_cells,
        "by_sheet": [
            {
                "sheet": printable(sheet),
                "function": printable(function_id),
                "formulas": formulas,
                "requests": requests.number,
            }
            for (sheet, function_id), (formulas, requests) in cost.by_sheet.items()
        ],
        "left_as_is": _as_json(cost.skipped),
    }
