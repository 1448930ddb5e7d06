"""`addin template`: write the workbook template."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Annotated

import typer


def template(
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path("workbook_template.xlsx"),
    namespace: Annotated[str, typer.Option(help="The functions' namespace in the workbook.")] = "DS",
) -> None:
    """Write the workbook template, with example values from made-up data.

    Example: addin template -o report.xlsx
    """
    asyncio.run(_write(output, namespace))
    typer.echo(f"{output} is written; open it in Excel or Calc, or bring it up to date with: addin refresh {output}")


async def _write(output: Path, namespace: str) -> None:
    from addin.workbook.template.build import EXAMPLE_DAY, example_session, write_template

    async with example_session() as session:
        created = datetime.combine(EXAMPLE_DAY, time(12), UTC)
        await write_template(output, session, created=created, namespace=namespace)
