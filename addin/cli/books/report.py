"""The report about several books: a table for people, JSON for programs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from addin.cli.books.one_book import cost_as_json, formulas_text, print_notes, report_as_json
from addin.cli.output import counted, plain_table, print_json, print_table, requests_text
from addin.workbook.many.run import BookDone, BooksCost
from addin.workbook.refresh.report import BookCost, Refreshed
from dataservice.terminal import echo, printable


def print_report(done: Sequence[BookDone], total: int, *, is_stopped: bool, as_json: bool) -> None:
    """Print what became of each book, and of all together."""
    requests = sum(book.report.requests for book in done if book.report)
    if as_json:
        told = [_as_json(book) for book in done]
        left = total - len(done)
        print_json({"books": told, "requests": requests, "books_not_begun": left, "stopped": is_stopped})
        return
    _print_table(done)
    print_notes([(book.target.name, book.report) for book in done if book.report is not None])
    for book in done:
        if book.report is None:
            echo(f"  left as it was: {book.error}", err=True)
    saved = sum(book.report is not None and book.report.is_saved for book in done)
    echo(f"{len(done):,} of {counted(total, 'book')}: {saved:,} written, {requests_text(requests)} spent")
    if is_stopped:
        echo("Stopped; every book is whole. The same command goes on where this one ended.", err=True)


def line_of(book: BookDone) -> str:
    """Return what became of one book, in one line."""
    if book.report is None:
        return f"{book.book}: left as it was ({book.error})"
    report = book.report
    return f"{book.target}: {formulas_text(report)}, {len(report.written):,} changed{_state(report, ', ')}"


def print_cost(cost: BooksCost, *, as_json: bool) -> None:
    """Print what several books would spend, each on its own and all together."""
    if as_json:
        print_json(
            {
                "requests": cost.cost.number,
                "at_least": cost.cost.at_least,
                "at_most": cost.cost.at_most,
                "remaining": cost.remaining,
                "affordable": cost.affordable,
                "books": [_cost_of(book, each) for book, each in cost.books.items()],
                "failed": {printable(str(book)): printable(why) for book, why in cost.failed.items()},
            }
        )
        return
    folder = _common_folder(list(cost.books))
    echo(f"{folder}:" if folder else "")
    table = plain_table(show_header=True)
    table.add_column("book", overflow="fold")
    for heading in ("formulas", "fresh", "requests"):
        table.add_column(heading, justify="right")
    for book, each in cost.books.items():
        name = Text(printable(os.path.relpath(book, folder or None)))
        table.add_row(name, f"{each.cells:,}", f"{each.fresh_cells:,}", each.cost.range_text())
    print_table(table)
    for why in cost.failed.values():
        echo(f"  cannot be refreshed: {why}", err=True)
    left = "" if cost.remaining is None else f", {cost.remaining:,} left this month"
    echo(f"{counted(len(cost.books), 'book')} together: {cost.cost}{left}. Books that share data share its requests.")


def _cost_of(book: Path, cost: BookCost) -> dict[str, Any]:
    told = cost_as_json(cost)
    del told["by_sheet"]
    return {"book": printable(str(book)), **told}


def _print_table(done: Sequence[BookDone]) -> None:
    folder = _common_folder([book.target for book in done])
    echo(f"{folder}:" if folder else "")
    table = plain_table(show_header=True)
    table.add_column("book", overflow="fold")
    for heading in ("formulas", "changed", "unproven", "kept", "errors", "requests"):
        table.add_column(heading, justify="right")
    table.add_column("file")
    for book in done:
        name, report = Text(printable(os.path.relpath(book.target, folder or None))), book.report
        if report is None:
            table.add_row(name, *[""] * 6, Text("failed", style="red"))
            continue
        numbers = (report.formulas, len(report.written), unproven(report), len(report.kept), len(report.errors))
        state = "written" if report.is_saved else "up to date"
        table.add_row(name, *(f"{number:,}" if number else "-" for number in (*numbers, report.requests)), state)
    print_table(table)


def _common_folder(books: Sequence[Path]) -> str:
    """The folder that holds all books, directly or further down; empty where there is none."""
    try:
        return os.path.commonpath([book.parent for book in books])
    except ValueError:  # no books, on several drives, or with and without a folder
        return ""


def unproven(report: Refreshed) -> int:
    """Return how many formulas that rest on ours were left at their old value."""
    return len(report.unproven) + len(report.skipped)


def _state(report: Refreshed, before: str) -> str:
    counts = {"unproven": unproven(report), "kept": len(report.kept), "in error": len(report.errors)}
    return "".join(f"{before}{number:,} {what}" for what, number in counts.items() if number)


def _as_json(book: BookDone) -> dict[str, Any]:
    if book.report is None:
        return {"book": printable(str(book.target)), "error": printable(book.error)}
    return {
        **report_as_json(book.report, book.target),
        "unproven": unproven(book.report),
        "saved": book.report.is_saved,
    }
