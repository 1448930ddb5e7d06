"""What answers have shown of how a service pages and understands the bounds of a window.

The contract leaves both open. Nothing here is assumed: what was not seen is asked about by asking on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

import numpy as np

from dataservice.client.contract.decode import ObservationsPage
from dataservice.client.contract.forms import is_common_size
from dataservice.client.contract.requests import OBSERVATIONS_LIMIT
from dataservice.observations import Observations

NO_TIME = timedelta(0)

PADDING = timedelta(days=2)
"""Days asked for beside a window: one for a bound that does not belong to it, one for a zone of its days."""

A_DAY = timedelta(days=1)

OPEN_BOUNDS: tuple[tuple[date | None, date | None], ...] = (
    (date.min, date(2199, 12, 31)),
    (date(1900, 1, 1), date(2099, 12, 31)),
    (None, None),
)
"""How the open ends of a window are spelled, the next where a service refuses one: without `start` or `end` it may give
a window of its own."""


COMMON_SIZES = frozenset({50, 100, 200, 250, 300, 365, 500})
"""Of pages, where they are not those of the contract."""

FEW_ON_A_PAGE = frozenset({1, 2, 3, 5, 10, 15})
"""So few records are more often a page than a list; longer pages are asked on."""

FEWEST = {"wire": 50, "posts": 11}
"""Fewer records of such a list, which was asked for without a filter, are more often a page than all that there are."""

FEW_FILTERED = {"wire": frozenset(range(3, 10)), "posts": frozenset({3, 5})}
"""So few records that pass one filter may be a page, until a longer page of that list was seen; two leave few over."""


@dataclass(frozen=True, slots=True)
class ListSeen:
    """The pages seen of one kind of list.

    `most` is the most that a page held, `unfiltered` the same of those that were asked for without a filter.
    `goes_on`: whether others came behind a page that said nothing of them, asked by `offset`; None where that was not
    seen.
    """

    most: int = 0
    unfiltered: int = 0
    goes_on: bool | None = None

    def after(self, rows: int, *, is_filtered: bool, went_on: bool | None) -> ListSeen:
        """With what one more list has shown."""
        goes_on = self.goes_on if went_on is None or self.goes_on else went_on
        return ListSeen(max(self.most, rows), self.unfiltered if is_filtered else max(self.unfiltered, rows), goes_on)


LIST_UNSEEN = ListSeen()


@dataclass(frozen=True, slots=True)
class AskedDays:
    """The `start` and `end` of one request; None where it is not sent."""

    start: date | None
    end: date | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence that the pages of a service have given so far.

    `most_rows` is the most that a page held: one with fewer is the last one. `totals_are_whole`: a total was seen to
    count more than its own page. `start_included`: whether the first day of a window belongs to it; None where that was
    not seen yet. `bounds` is the place in `OPEN_BOUNDS` that the service accepts. `lists` is what each kind of list has
    shown.
    """

    most_rows: int = 0
    totals_are_whole: bool = False
    start_included: bool | None = None
    bounds: int = 0
    lists: Mapping[str, ListSeen] = field(default_factory=dict)
    tells_more: bool = False
    """Whether the service was seen to say in so many words that others follow: then it says nothing where none do."""
    claims_are_idle: bool = False
    """Whether the service was seen to say that others follow where nothing did."""
    says_nothing: bool = False
    """Whether pages of observations were seen that say nothing of what follows."""
    day_first: bool | None = None
    """How days such as 03/04/2026 are written, once a day beyond the 12th has shown it."""
    whole_rows: int = 0
    """The most rows of a window that came in one page without a word, and was found to be whole."""
    whole_days: int = 0
    """The most days that such a window spanned."""
    version: str = ""
    """The version that the service says in its headers; empty where it does not."""
    newest_rows: int = 0
    """To how many of its newest rows a probe found a window to be cut without a word: one with fewer is whole."""
    path_end: str = ""
    """What its paths end with: a probe found that they are moved to others with a slash."""
    apart: tuple[str, ...] = ()
    """Signals whose detail and windows were seen to differ: their windows are shown."""
    thin_details: bool = False
    """Whether recent histories were seen to leave out days that windows show: then only their newest row counts."""
    longest_days: int = 0
    """Windows of more days than these were refused, and are asked for in parts; 0 where none were."""
    refuses_early_start: bool | None = None
    """Whether a window that begins before its series is refused; None where no refusal was looked into."""
    cuts_windows: bool = False
    """Whether a window was seen to be a part of what was asked for, though it counted as all."""
    hidden_until: date | None = None
    """The newest day of which windows told nothing, also where it was asked for, though a detail shows it: they may not
    reach so far back. None where they were seen to reach it."""
    thin_over: int = 0
    """Windows of more days than these were seen to leave days out, and are asked for in parts; 0 where none were."""
    dense_detail: bool = False
    """Whether a recent history came with as many rows as were asked for, one for each day."""
    dense_rows: int = 0
    """The most rows of a window that came with one for each day."""
    keeps_last: bool | None = None
    """Whether answers that say nothing of what follows were seen to hold their last row; None where no look told."""
    details_of_dots: bool = False
    """Whether the detail of a name with a dot was answered: then a 404 says of such a name what it says of others."""
    reading: str = ""
    """The field of an index that a probe found to be the only number beside those of the contract."""

    def is_reached_by(self, found: Observations, today: date) -> bool:
        """Return whether a window spans as much as windows were taken not to reach back: one signal alone lacked it.

        Windows that are cut reach back from the newest row of each signal, which may lie long before today.
        """
        return self.hidden_until is not None and days_over(found) >= (today - self.hidden_until).days

    def after_list(self, kind: str, rows: int, *, is_filtered: bool = False, went_on: bool | None) -> Evidence:
        """With what the pages of one more list have shown, of which the longest had so many `rows`."""
        seen = self.list_seen(kind).after(rows, is_filtered=is_filtered, went_on=went_on)
        return replace(self, lists={**self.lists, kind: seen})

    def list_seen(self, kind: str) -> ListSeen:
        """Return what lists of this kind have shown."""
        return self.lists.get(kind, LIST_UNSEEN)

    def after_window(self, found: Observations) -> Evidence:
        """With a window that was found to be whole: one with fewer rows over fewer days is cut no more than this."""
        rows, days = max(self.whole_rows, len(found)), max(self.whole_days, days_over(found))
        return replace(self, whole_rows=rows, whole_days=days)

    def was_whole(self, found: Observations) -> bool:
        """Return whether larger windows came whole, so that these rows are not cut to so many, or to so long a time."""
        return len(found) <= self.whole_rows and days_over(found) <= self.whole_days

    def goes_on(self, kind: str, rows: int, *, is_limited: bool, filters: int = 0) -> bool:
        """Return whether to ask for more of a list that says nothing.

        One without a limit is asked on at such sizes as services cut lists at, or as its kind or others showed to go
        on; one that was asked with a limit only where lists were seen to, and if it may be a page.
        """
        known = self.list_seen(kind).goes_on
        others = {seen.goes_on for seen in self.lists.values()}
        if is_limited:
            return (known or True in others) and self.may_be_cut(kind, rows, is_limited=True, filters=filters)
        if known is None and others & {True, False}:
            known = True in others
        return is_common_size(rows) if known is None else known and rows > 0

    def may_be_cut(self, kind: str, rows: int, *, is_limited: bool, filters: int = 0) -> bool:
        """Return whether others may lie behind so many records: services cut lists at such a size, and none was longer.

        A list that was asked without a limit may be cut at a few, too, until one was seen to end or to go on.
        """
        seen = self.list_seen(kind)
        if not is_limited:
            return all(each.goes_on is None for each in self.lists.values()) and rows in FEW_ON_A_PAGE
        if not rows or rows < seen.most:
            return False
        is_usual = is_common_size(rows) or bool(seen.goes_on)
        if filters:
            pages = {self.list_seen(each).unfiltered for each in FEWEST}
            return is_usual or rows in pages or (filters == 1 and rows in FEW_FILTERED.get(kind, ()))
        return is_usual or rows in FEW_ON_A_PAGE or rows < FEWEST.get(kind, 0)

    def after(self, page: ObservationsPage, asked: date | None, known_day: date | None) -> Evidence:
        """With what one more page shows, which was asked from `asked` on; `known_day` is known to have a row."""
        included, found = self.start_included, page.observations
        if asked is not None and len(found) and found.first_day == asked:
            if found.times[0] == np.datetime64(asked, "us"):  # else the days of a zone may begin later
                included = True
        elif included is None and asked is not None and asked == known_day:
            included = False
        whole = self.totals_are_whole or (page.left is not None and page.left > 0 and page.offset == 0)
        return replace(
            self,
            most_rows=max(self.most_rows, page.rows),
            tells_more=self.tells_more or page.more is True,
            says_nothing=self.says_nothing or (page.rows > 0 and page.more is None and page.left is None),
            totals_are_whole=whole,
            start_included=included,
            day_first=self.day_first if page.day_first is None else page.day_first,
        )

    @property
    def page_rows(self) -> int:
        """The observations of a full page: as documented, until one was said to be followed by others."""
        return self.most_rows if self.totals_are_whole or self.tells_more else OBSERVATIONS_LIMIT

    @property
    def may_lack_last(self) -> bool:
        """Return whether the last row of an answer may be left out: nothing is said of it, and nothing has shown it."""
        return self.says_nothing and not self.tells_more and self.keeps_last is not True

    @property
    def rows_at_once(self) -> int:
        """So many observations come with one request, and leave room for new ones; 0 where windows may hold fewer."""
        if self.thin_over or self.longest_days or self.cuts_windows or (self.says_nothing and not self.tells_more):
            return 0
        return self.page_rows * 9 // 10

    def asked_window(self, start: date, end: date, *, is_first: bool, behind: timedelta = NO_TIME) -> AskedDays:
        """The days to ask for so that those from `start` to `end` come however a service understands its bounds.

        Some days more at each end cost a row each; the days in between are those that were wanted. Some days `behind`
        the end show whether the last row of an answer is left out.
        """
        low, high = OPEN_BOUNDS[self.bounds]
        first: date | None = start
        last: date | None = end
        if start > date.min and (self.start_included is False or (is_first and self.start_included is None)):
            first = start - min(PADDING if self.start_included is False else A_DAY, start - date.min)
        if end < date.max:
            last = end + min(behind + PADDING, date.max - end)
        if first is not None and (low is None or first < low):
            first = low if first == date.min or low else first
        if last is not None and (high is None or last > high):
            last = high if last == date.max or high else last
        return AskedDays(first, last)

    @property
    def with_other_bounds(self) -> Evidence | None:
        """With the next way to spell open ends; None where there is none left."""
        return replace(self, bounds=self.bounds + 1) if self.bounds + 1 < len(OPEN_BOUNDS) else None


def days_over(found: Observations) -> int:
    """The days from the first observation to the last."""
    return (found.last_day - found.first_day).days if len(found) else 0


NOTHING_SEEN = Evidence()


@dataclass(slots=True)
class Evidences:
    """The evidence about one service, as it grows."""

    now: Evidence = NOTHING_SEEN
    has_changed: bool = False
    """Whether another version of the service has answered: what is kept of it has to be looked up."""

    def heed(self, version: str) -> None:
        """Forget what another version of the service has shown: its ways may have changed with it."""
        if version and version != self.now.version:
            self.has_changed = bool(self.now.version)
            self.now = replace(NOTHING_SEEN if self.now.version else self.now, version=version)

    def try_other_bounds(self, tried: Evidence) -> bool:
        """Spell open ends otherwise than was `tried`, from now on; whether there is another way.

        Requests that were under way together are refused together: they change it once.
        """
        if self.now.bounds != tried.bounds:
            return True
        other = self.now.with_other_bounds
        self.now = other or self.now
        return other is not None
