"""The revision that cells name as the last one: what REVISIONS does not list is none."""

from dataclasses import replace
from datetime import date

import numpy as np

from dataservice.client.archive.coverage import Coverage
from dataservice.client.archive.facts import Facts
from dataservice.client.archive.looks import Look
from dataservice.client.archive.vintages import Vintages
from dataservice.client.contract.windows import Window
from dataservice.observations import Observations
from udfs.records.revisions import last_revision, revision_count

DAYS = np.array(["2026-01-01", "2026-01-02"], "datetime64[us]")
ALL = Window(date.min, date.max)
HOUR = 3_600_000_000


def told(*values):
    return Observations(DAYS, np.array(values))


def test_what_only_the_other_source_told_otherwise_is_no_revision_until_both_tell_it():
    by_window = Facts.found(told(1.0, 2.0), DAYS[:0], HOUR)
    by_detail = Facts.found(told(1.0, 3.0), DAYS[:0], 2 * HOUR, by_detail=True)[1:]
    by_detail = replace(by_detail, retold=np.array([True]), not_before=np.array([HOUR]))
    seen = Vintages(Facts.together([by_window, by_detail]), Coverage.never().at(ALL, HOUR).at(ALL, 2 * HOUR))
    assert (revision_count(seen), last_revision(seen)) == (0, None)
    both = seen.union(Vintages(Look(ALL, told(1.0, 3.0)).news(seen, 3 * HOUR).confirmed, seen.looked))
    assert revision_count(both) == 1
    revision = last_revision(both)
    assert revision is not None
    assert (revision.before, revision.value, revision.observed_at) == (2.0, 3.0, date(2026, 1, 2))
    assert (revision.first_seen.hour, revision.not_before.hour) == (2, 1)
