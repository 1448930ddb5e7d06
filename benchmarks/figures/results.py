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
PART = re.compile(r"(<!-- measured -->\n).*?(<!-- end of measured -->)", re.DOTALL)


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


def write_page(taken_s: float, page: Path = PAGE) -> None:
    """Put all tables of this run into the page, with machine and date."""
    text = page.read_text(encoding="utf-8")
    shown = as_markdown(REPORTED, taken_s)
    page.write_text(PART.sub(lambda found: f"{found[1]}{shown}{found[2]}", text), encoding="utf-8")


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
    head = ["| work | measured | floor | ratio | to reach | |", "|---|--:|--:|--:|--:|---|"]
    for table in tables:
        lines += ["", f"**{table.title}**", "", *head]
        lines += [f"| {' | '.join(row.cells())} |" for row in table.rows]
    return "\n".join([*lines, ""])


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
