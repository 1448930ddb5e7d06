"""What answers have shown of how a service pages and understands the bounds of a window.

The contract leaves both open. Nothing here is assumed: what was not seen is asked about by asking on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

from dataservice.client.contract.decode import ObservationsPage
from dataservice.client.contract.forms import is_common_size
from dataservice.client.contract.windows import day_after, day_before
from dataservice.observations import Observations

OPEN_BOUNDS: tuple[tuple[date | None, date | None], ...] = (
    (date.min, date(2199, 12, 31)),
    (date(1900, 1, 1), date(2099, 12, 31)),
    (None, None),
)
"""How the open ends of a window are spelled, the next where a service refuses one: without `start` or `end` it may give
a window of its own."""


FEW_ON_A_PAGE = frozenset({1, 2, 3, 5, 10, 15})
"""So few records are more often a page than a list; longer pages are asked on."""


@dataclass(frozen=True, slots=True)
class AskedDays:
    """The `start` and `end` of one request; None where it is not sent."""

    start: date | None
    end: date | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the pages of a service have shown so far.

    `most_rows` is the most that a page held: one with fewer is the last one. `totals_are_whole`: a total was seen to
    count more than its own page. `start_included`: whether the first day of a window belongs to it; None where that was
    not seen yet. `bounds` is the place in `OPEN_BOUNDS` that the service accepts. `lists_go_on`: whether lists go on
    behind a page that says nothing of it, when they are asked by `offset`; None where that was not tried. `most_listed`
    is the most that a page of a list held.
    """

    most_rows: int = 0
    totals_are_whole: bool = False
    start_included: bool | None = None
    bounds: int = 0
    lists_go_on: bool | None = None
    most_listed: int = 0
    claims_are_idle: bool = False
    """Whether the service was seen to say that others follow where nothing did."""
    day_first: bool | None = None
    """How days such as 03/04/2026 are written, once a day beyond the 12th has shown it."""
    whole_rows: int = 0
    """The most rows of a window that came in one page without a word, and was found to be whole."""
    whole_days: int = 0
    """The most days that such a window spanned."""
    path_end: str = ""
    """What its paths end with: a probe found that they are moved to others with a slash."""
    reading: str = ""
    """The field of an index that a probe found to be the only number beside those of the contract."""

    def after_list(self, most_rows: int, *, went_on: bool | None) -> Evidence:
        """With what the pages of one more list have shown."""
        go_on = went_on or (self.lists_go_on if went_on is None or self.lists_go_on else False)
        return replace(self, lists_go_on=go_on, most_listed=max(self.most_listed, most_rows))

    def after_window(self, found: Observations) -> Evidence:
        """With a window that was found to be whole: one with fewer rows over fewer days is cut no more than this."""
        rows, days = max(self.whole_rows, len(found)), max(self.whole_days, days_over(found))
        return replace(self, whole_rows=rows, whole_days=days)

    def was_whole(self, found: Observations) -> bool:
        """Whether larger windows came whole, so that these rows are not cut to so many, or to so long a time."""
        return len(found) <= self.whole_rows and days_over(found) <= self.whole_days

    def goes_on(self, rows: int) -> bool:
        """Whether to ask for more of a list that says nothing: services that cut lists do so at such sizes."""
        return is_common_size(rows) if self.lists_go_on is None else self.lists_go_on and rows > 0

    def may_be_cut(self, rows: int, *, is_limited: bool) -> bool:
        """Whether others may lie behind so many records: no page was larger, and services cut lists at such a size.

        A list that was asked without a limit may be cut at a few, too, until one was seen to end or to go on.
        """
        if is_limited:
            return is_common_size(rows) and rows >= self.most_listed
        return self.lists_go_on is None and rows in FEW_ON_A_PAGE

    def after(self, page: ObservationsPage, asked: date | None, known_day: date | None) -> Evidence:
        """With what one more page shows, which was asked from `asked` on; `known_day` is known to have a row."""
        included = self.start_included
        if asked is not None and len(page.observations) and page.observations.first_day == asked:
            included = True
        elif included is None and asked is not None and asked == known_day:
            included = False
        whole = self.totals_are_whole or (page.left is not None and page.left > 0 and page.offset == 0)
        return replace(
            self,
            most_rows=max(self.most_rows, page.rows),
            totals_are_whole=whole,
            start_included=included,
            day_first=self.day_first if page.day_first is None else page.day_first,
        )

    def asked_window(self, start: date, end: date, *, is_first: bool) -> AskedDays:
        """The days to ask for so that those from `start` to `end` come however a service understands its bounds.

        A day more at each end costs a row; the days in between are those that were wanted.
        """
        low, high = OPEN_BOUNDS[self.bounds]
        first: date | None = start
        last: date | None = end
        if start > date.min and (self.start_included is False or (is_first and self.start_included is None)):
            first = day_before(start)
        if end < date.max:
            last = day_after(end)
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
    """What is known of one service, as it grows."""

    now: Evidence = NOTHING_SEEN

    def try_other_bounds(self, tried: Evidence) -> bool:
        """Spell open ends otherwise than was `tried`, from now on; whether there is another way.

        Requests that were under way together are refused together: they change it once.
        """
        if self.now.bounds != tried.bounds:
            return True
        other = self.now.with_other_bounds
        self.now = other or self.now
        return other is not None
