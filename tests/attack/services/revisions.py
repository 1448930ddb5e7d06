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
        told = await client.vintages(slug)
        columns = told.revision_columns()
        days = columns["observed_at"].astype("datetime64[D]").tolist()
        values = zip(columns["value_before"].tolist(), columns["value"].tolist(), strict=True)
        tellings = zip(*(truth.tellings(slug) for truth in truths), strict=True)
        states = [[{at.date(): value for at, value in rows} for rows in both] for both in tellings]
        wrong = [
            f"{day}: {was} → {now}"
            for day, (was, now) in zip(days, values, strict=True)
            if not math.isnan(was) and _unchanged(day, states, truths[0])
        ]
        if wrong:
            lines.append(f"{slug}: {len(wrong)} revisions that never happened, such as {wrong[0]}")
    return lines


def _unchanged(day: date, states: Sequence[Sequence[dict[date, float | None]]], truth: Truth) -> bool:
    """Whether neither details nor windows tell of the day otherwise than before, and one of them tells of it."""
    told = [(before[day], after[day]) for before, after in states if day in before and day in after]
    return bool(told) and all(alike(was, now, truth.variant) for was, now in told)
