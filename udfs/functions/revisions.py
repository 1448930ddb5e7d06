"""REVISIONS: what changed in the past of a signal, when that was seen first, and when last not yet."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from dataservice.client.archive.coverage import NEVER_YET
from udfs.arguments.dates import Day
from udfs.arguments.kinds import Text
from udfs.cells import Table
from udfs.engine.decorator import udf
from udfs.errors import NoDataError
from udfs.timeseries.vintages import after_a_look, vintages_of

SLUG = Text(help="slug or shortcode of a signal", example="us-cpi")

OBSERVED_AT = Day(help="only the observations of this day, with all the values they had", example="2026-07-01")

START = Day(help="only observations from this day on: a date, or text such as -1Y", example="-1Y", first_of_period=True)


@udf(
    group="Signals",
    shape="table",
    runs_last=True,
    keep_s=0.0,  # another call of the same sheet may look a moment later, and asking again is free
    examples=("=DS.REVISIONS(A2)", '=DS.REVISIONS("us-cpi", DATE(2026, 7, 1))', '=DS.REVISIONS(A2, , "-1Y")'),
)
async def REVISIONS(  # noqa: N802 - the id that workbooks store
    slug: Annotated[str, SLUG],
    observed_at: Annotated[date | None, OBSERVED_AT] = None,
    start: Annotated[date | None, START] = None,
) -> Table:
    """What changed in the observations of a signal, as answers that arrived here showed it: a row for each change.

    The columns are the observation, its value before (blank for one that was new), its value (blank for one that
    vanished), when an answer showed that first, and when the last answer before it did not. Both are times in UTC. They
    tell when it was seen here, and never when it was released.

    What the first answer about a day showed is no change; with `observed_at` it is the first row. Costs no request: ask
    for the signal itself to look again. A signal that nobody here has looked at yet is looked at, by the one request
    that its SIGNAL cells share. Without a change only the header is left.
    """
    name, vintages = await vintages_of(slug)
    if vintages.looked.first_look == NEVER_YET:
        name, vintages = await after_a_look(name)
    if vintages.looked.first_look == NEVER_YET:
        raise NoDataError(f"nobody here looked at {name} yet; SIGNAL or SIGNAL_HISTORY is a look")
    found = vintages.revision_columns(observed_at, start)
    return Table(tuple(found), tuple(found.values()))
