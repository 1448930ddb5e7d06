"""What kept answers say of the past of a signal whose archive is empty: those of a version that had none yet."""

from __future__ import annotations

from dataservice.client.archive.coverage import Coverage, micros
from dataservice.client.archive.facts import Facts
from dataservice.client.archive.vintages import Vintages
from dataservice.client.cache.recent import with_detail
from dataservice.client.cache.spans import History
from dataservice.client.contract.results import SignalDetail


def vintages_from_cache(history: History, detail: tuple[SignalDetail, float] | None) -> Vintages:
    """The kept history and detail, which has the time of its arrival, as vintages.

    A later answer may have corrected parts of them, so all counts as first seen when the last of them arrived: that is
    late for some values, and never too early.
    """
    known = with_detail(history, *detail) if detail else history
    trusted = [span for span in known.spans if not span.revised]
    if not trusted:
        return Vintages.nothing()
    moment = micros(max(max(span.pulled_at, span.checked_at) for span in known.spans))
    looked, facts = Coverage.never(), Facts.none()
    for span in trusted:
        looked = looked.at(span.window, micros(span.pulled_at))
        found = known.inside(span.window)
        facts = Facts.together([facts, Facts.found(found, found.times[:0], moment, by_detail=not history.spans)])
    return Vintages(facts, looked.since(moment))
