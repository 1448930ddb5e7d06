"""Revisions that never happened: what the archive tells of a signal, against what changed between the two days."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date

from dataservice.client import AsyncClient
from tests.attack.services.cells import alike
from tests.attack.services.world import Truth


async def invented(client: AsyncClient, truths: Sequence[Truth]) -> list[str]:
    """A line for each signal with revisions of observations that stayed as they were."""
    lines = []
    for slug in await client.archive.slugs():
        before, after = ({at.date(): value for at, value in truth.rows(slug)} for truth in truths)
        told = await client.vintages(slug)
        columns = told.revision_columns()
        days = columns["observed_at"].astype("datetime64[D]").tolist()
        values = zip(columns["value_before"].tolist(), columns["value"].tolist(), strict=True)
        wrong = [
            f"{day}: {was} → {now}"
            for day, (was, now) in zip(days, values, strict=True)
            if _unchanged(day, before, after, truths[0]) and not math.isnan(was)
        ]
        if wrong:
            lines.append(f"{slug}: {len(wrong)} revisions that never happened, such as {wrong[0]}")
    return lines


def _unchanged(day: date, before: dict[date, float | None], after: dict[date, float | None], truth: Truth) -> bool:
    return day in before and day in after and alike(before[day], after[day], truth.variant)
