"""The tables of one run as JSON, and as the part of a page that shows them with machine and date."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import signal
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from benchmarks.figures.measuring import REPORTED, Reported, Row

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"
PART = re.compile(r"(<!-- measured -->\n)(.*?)(<!-- end of measured -->)", re.DOTALL)


def run_alone(main: Callable[[], None]) -> None:
    """Run one benchmark by itself; with `--json` its tables are printed as JSON instead."""
    if "--json" not in sys.argv:
        until_stopped(main)
        return
    sys.argv.remove("--json")
    with contextlib.redirect_stdout(sys.stderr):
        until_stopped(main)
    print_json()


INTERRUPTED = 130
"""The exit code after Ctrl-C that shells expect."""


def until_stopped(main: Callable[[], None]) -> None:
    """Run it; Ctrl-C and SIGTERM end it and the servers that it started, with one line."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        main()
    except KeyboardInterrupt:
        sys.stderr.write("stopped; nothing is left running\n")
        sys.exit(INTERRUPTED)


def print_json() -> None:
    """Print all tables of this run as JSON."""
    found = {**machine(), "tables": [_plain(table) for table in REPORTED]}
    sys.stdout.buffer.write(orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def write_page(taken_s: float, page: Path = PAGE, *, is_whole: bool = True) -> None:
    """Put all tables of this run into the page, with machine and date; if it was not a whole run, others stay there."""
    text = page.read_text(encoding="utf-8")
    if is_whole:
        shown = as_markdown(REPORTED, taken_s)
        text = PART.sub(lambda found: f"{found[1]}{shown}{found[3]}", text)
    else:
        text = PART.sub(lambda found: f"{found[1]}{with_tables(found[2], REPORTED)}{found[3]}", text)
    page.write_text(text, encoding="utf-8")


def with_tables(shown: str, tables: Sequence[Reported]) -> str:
    """The `shown` tables, those of the same titles replaced and others added behind them, each with its date."""
    day = str(machine()["measured_at"])[:10]
    for table in tables:
        lines = "\n".join([f"**{table.title}** (measured on {day})", "", *_rows(table), ""])
        found = re.compile(rf"^\*\*{re.escape(table.title)}\*\*.*?\n(?=\*\*|\Z)", re.DOTALL | re.MULTILINE)
        shown = found.sub(lambda _, new=lines: f"{new}\n", shown) if found.search(shown) else f"{shown}\n{lines}"  # type: ignore[misc]
    return shown.rstrip("\n") + "\n"


def machine() -> dict[str, Any]:
    """What the figures were measured on, and when."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "measured_at": datetime.now(UTC).isoformat(timespec="minutes"),
    }


def as_markdown(tables: Sequence[Reported], taken_s: float) -> str:
    """The tables as Markdown, below a line that says where and when they were measured."""
    on = machine()
    where = f"{on['processor']}, {on['cores']} cores, {on['system']}, Python {on['python']}"
    lines = [f"Measured on {on['measured_at'][:10]} in {taken_s / 60:.0f} minutes: {where}."]
    for table in tables:
        lines += ["", f"**{table.title}**", "", *_rows(table)]
    return "\n".join([*lines, ""])


def _rows(table: Reported) -> list[str]:
    head = ["| work | measured | floor | ratio | to reach | |", "|---|--:|--:|--:|--:|---|"]
    return head + [f"| {' | '.join(row.cells())} |" for row in table.rows]


def _plain(table: Reported) -> dict[str, Any]:
    return {"title": table.title, "rows": [_plain_row(row) for row in table.rows]}


def _plain_row(row: Row) -> dict[str, Any]:
    return {
        "what": row.what,
        "seconds": row.seconds,
        "floor_s": row.floor_s,
        "ratio": row.ratio,
        "reach": row.reach,
        "reach_s": row.reach_s,
        "missed": row.missed,
        "note": row.note,
    }


def _processor() -> str:
    """The processor's name, as far as the system tells it."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
