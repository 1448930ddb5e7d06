"""What a name is that a function does not know: a signal, an index or a current that another function shows.

Only what is at hand tells it, however old: no request is worth a better message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from dataservice.client import CatalogueResource, CurrentsResource, IndicesResource
from dataservice.models import Record
from udfs.arguments.kinds import shown
from udfs.engine.effects import EVER, have
from udfs.errors import NoDataError
from udfs.records.lookup import find_record, find_record_or_none

R = TypeVar("R", bound=Record)

SIGNAL, INDEX, CURRENT = "signal", "index", "current"
SHOWN_BY = {SIGNAL: "SIGNAL and SIGNAL_HISTORY show it", INDEX: "INDEX shows it", CURRENT: "CURRENT shows it"}


async def find_or_explain(records: Sequence[R], name: str, what: str) -> R:
    """As `find_record`, except that the error tells of a thing of another kind that has this very name."""
    try:
        return find_record(records, name, what)
    except NoDataError:
        told = await called(name, other_than=what)
        if told is None:
            raise
        raise NoDataError(f"no {what} {shown(name)}; {told}").about("slug") from None


async def called(name: str, *, other_than: str) -> str | None:
    """Which other thing has this very name, and what shows it: `there is an index 'risk-dial': INDEX shows it`."""
    if other_than != SIGNAL:
        catalogue = await have(CatalogueResource(), max_age_s=EVER)
        if catalogue and (signal := catalogue.value.find(name)):
            return _told(f"a {SIGNAL}", signal.slug, SIGNAL)
    if other_than != INDEX:
        indices = await have(IndicesResource(), max_age_s=EVER)
        if indices and (index := find_record_or_none(indices.value, name)):
            return _told(f"an {INDEX}", index.slug, INDEX)
    if other_than != CURRENT:
        currents = await have(CurrentsResource(), max_age_s=EVER)
        if currents and (current := find_record_or_none(currents.value, name)):
            return _told(f"a {CURRENT}", current.slug, CURRENT)
    return None


def _told(kind: str, slug: str, what: str) -> str:
    return f"there is {kind} {shown(slug)}: {SHOWN_BY[what]}"
