"""Write the template that comes with the program, when it looks different: `python -m docs.generate.template`."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, time
from pathlib import Path

from addin.workbook.template.build import EXAMPLE_DAY, example_session, write_template
from addin.workbook.template.ready_made import NAME

__all__: list[str] = []


async def main() -> None:
    """Write it where the checkout keeps it."""
    async with example_session() as session:
        created = datetime.combine(EXAMPLE_DAY, time(12), UTC)
        await write_template(Path(__file__).parents[2] / NAME, session, created=created)


if __name__ == "__main__":
    asyncio.run(main())
