"""What a look at this machine found, for people: one mark a link, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from addin.cli.output import plain_table, print_table
from addin.findings import Finding, State
from dataservice.terminal import printable

MARKS = {State.GOOD: ("✓", "green"), State.WARNING: ("!", "yellow"), State.BROKEN: ("✗", "red")}


def print_findings(findings: Sequence[Finding]) -> None:
    """Print a line for each finding, with the advice below it."""
    table = plain_table()
    for finding in findings:
        mark, style = MARKS[finding.state]
        lines = Text(printable(finding.text))
        if finding.advice:
            lines.append(f"\n→ {finding.advice}", style="bold")
        table.add_row(Text(mark, style=style), Text(finding.topic, style="cyan"), lines)
    print_table(table)
