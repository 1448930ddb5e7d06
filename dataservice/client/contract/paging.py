"""Which page comes next: pure decisions, each of which makes progress, so that paging always ends.

A window ends only where the service showed that it ends: by a total, by a row behind the window, by what it says of the
next page, by a page that is shorter than others were, or by nothing that comes when it is asked on. Fewer rows than
asked for prove nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta

import numpy as np

from dataservice.client.contract.body import Params
from dataservice.client.contract.completeness.density import is_sparse
from dataservice.client.contract.completeness.evidence import COMMON_SIZES, NO_TIME, NOTHING_SEEN, Evidence
from dataservice.client.contract.decode import ObservationsPage
from dataservice.client.contract.requests import OBSERVATIONS_LIMIT
from dataservice.client.contract.windows import NO_DAYS, Window, day_after, day_before
from dataservice.errors import MalformedAnswerError, TooManyPagesError
from dataservice.observations import Observations

FEWEST_ON_A_PAGE = 50
"""Few services page observations by fewer: what is said to follow so few, without a limit, is not believed at once."""

SEVERAL_ROWS = 12
"""Fewer rows than these are no window that was cut without a word."""

LATEST_BEHIND = timedelta(days=4)
"""Nothing that was asked for lies so long behind a window: two days more are asked for, and zones differ by one."""

MAX_PAGES = 100
"""Requests for one answer: 100,000 observations or 50,000 signals, more than a workbook shows."""


@dataclass(frozen=True, slots=True)
class Position:
    """The beginning of the next page: at the day `start`, `further` behind it by the service's own parameters.

    With an `end` it is a look back: whether anything lies before what has arrived. What is `further` counts from the
    day that was `asked` for.
    """

    start: date
    further: Params = ()
    end: date | None = None
    asked: date | None = None
    behind: timedelta = NO_TIME
    """So long behind the window's end it goes on: where nothing shows that the last row of an answer is there, or that
    what goes on so far is of this window."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What a page said of how many observations there are from the day on that it was asked for."""

    total: int
    page: ObservationsPage

    def is_all_behind(self, now: Counted, asked: date | None) -> bool:
        """Return whether the next page counts as many, and all of this one lies behind the day `asked` for next."""
        return (
            now.total == self.total
            and asked is not None
            and len(self.page.observations.between(asked)) == len(self.page.observations)
        )

    def least_behind(self, now: Counted, asked: date | None) -> int:
        """How many observations lie at least behind the day that was `asked` for next, by what this page counted.

        Those of that very day are due again where the next page shows any of it. It may leave them all out.
        """
        found, behind = self.page.observations, now.page.observations
        if asked is not None and len(behind) and behind.first_day == asked:
            return self.total - self.page.rows + len(found.between(asked))
        return self.total - self.page.rows if _is_one_a_day(found) else 0


@dataclass(frozen=True, slots=True)
class Pulled:
    """The observations of a window as far as its pages have arrived.

    The next page begins on the last day seen, and what comes twice is dropped: only documented parameters are used,
    but for a day that fills more than a page. `next` is None when the window is complete. `arrived` holds also what
    came from the days beside the window, which are asked for with it. `newest` is a day that is known from elsewhere to
    have an observation; behind the day `last` there is none. `promised`: the page before said that others follow.
    """

    window: Window
    arrived: Observations
    next: Position | None
    pages: int = 0
    newest: date | None = None
    last: date | None = None
    promised: bool = False
    pages_new: int = 0
    """How many pages brought something new."""
    longest: int = 0
    """The most rows of a page."""
    counted: Counted | None = None
    """How many there are, as the page before told it."""
    is_unclear: bool = False
    """Whether its last page counts as many as the one before it, which both readings of a total would have so."""
    is_end_shown: bool = False
    """Whether the last page, which was asked for from the last row on, brought no other."""
    problem: str = ""
    """What contradicts that all of what is told to be there has come; then nothing of it is to be relied on."""

    @classmethod
    def begin(cls, window: Window, newest: date | None = None, last: date | None = None) -> Pulled:
        """Nothing yet of a window."""
        return cls(window, Observations.empty(), Position(window.start), newest=newest, last=last)

    @property
    def observations(self) -> Observations:
        """Return what has arrived of the window."""
        return self.arrived.between(self.window.start, self.window.end)

    @property
    def complete(self) -> bool:
        """Return whether every page has arrived."""
        return self.next is None

    @property
    def begins_early(self) -> bool:
        """Return whether its first row lies before all days that were asked for: it stands for a period."""
        asked = day_before(day_before(self.window.start))
        return bool(len(self.arrived)) and self.arrived.first_day < asked and is_sparse(self.arrived)

    def known_window(self) -> Window:
        """The days whose observations have all arrived; those of the last day seen may not have.

        None where all that came lies behind the window, and is said not to be all: it may be a copy of another one.
        """
        if self.next is None:
            return self.window
        if self.next.start > self.window.end and not len(self.observations):
            return NO_DAYS
        last = date.fromordinal(max(1, self.next.start.toordinal() - 1))
        return Window(self.window.start, min(last, self.window.end))

    def with_page(self, page: ObservationsPage, evidence: Evidence = NOTHING_SEEN, asked: date | None = None) -> Pulled:
        """The state after one more page, which was `asked` for from that day on.

        `evidence` is what all pages up to this one have shown. Raises `MalformedAnswerError` where the service ignores
        `start`, where the oldest would never come, and where a day holds more than can be asked for.
        """
        position = self.next or Position(self.window.start)
        found = page.observations
        self._check_repeated(found)
        if problem := self._contradicted(page, position, evidence, asked):
            return replace(self, pages=self.pages + 1, next=None, problem=problem)
        if position.end is not None:
            return self._looked_back(found.between(position.start, position.end), page, evidence)
        if self._may_lack(position, asked, evidence):
            return replace(self, pages=self.pages + 1, next=position)  # what came lies behind rows that did not
        together = self.arrived.merged(found)
        is_new = len(together) > len(self.arrived)
        result = replace(
            self,
            arrived=together,
            pages=self.pages + 1,
            promised=_claims(page, evidence),
            pages_new=self.pages_new + is_new,
            longest=max(self.longest, page.rows),
            counted=(counted := _counted(page, position)),
            is_unclear=counted is not None and self.counted is not None and self.counted.is_all_behind(counted, asked),
            is_end_shown=not is_new and len(found) == 1 and found.last_day == position.start,
        )
        done = replace(result, next=_look_back(result) if _may_be_cut(result, page, evidence) else None)
        if (is_new or not position.behind) and self._may_lack_last(page, position, evidence):
            return replace(result, next=Position(found.last_day, behind=_pause(found)))
        follows = self._follows(page, evidence)
        if page.is_newest_first and (follows is not False or result.promised):
            raise MalformedAnswerError("a page of observations came newest first; expected oldest first")
        if page.is_in_no_order and (result.promised or page.rows in {*COMMON_SIZES, OBSERVATIONS_LIMIT}):
            raise MalformedAnswerError("a page of observations came in no order; expected oldest first")
        if follows is False:
            if asked is not None and self._may_be_of_another_window(found):
                return replace(result, next=Position(found.last_day, behind=found.last_day - self.window.end))
            is_unkept = (result.promised and len(found)) or (self.promised and not is_new and not position.further)
            return replace(result, next=_look_back(result)) if is_unkept else done
        if not is_new and not position.further:
            behind = _unkept_promise(result, page, position, asked, was_promised=self.promised)
            return done if behind is None else replace(result, next=behind)
        behind = self._behind(page, position, evidence, follows, is_new=is_new)
        return replace(result, next=replace(behind, asked=asked) if behind and behind.further else behind)

    def _begins_early(self, found: Observations, asked: date) -> str:
        """Return how a page begins before the day `asked` for; empty where it does not.

        One row may lie before that day: that of a period, or the last one before it; behind the first page it is known.
        """
        first = day_before(asked)  # a source's clock may be a day behind: 22:00-05:00 is the next day in UTC
        early = found[: len(found) - len(found.between(first))]
        known = self.arrived[-2:]
        is_known = not self.pages or (len(known) > 0 and early.between(known.first_day) == early)
        if len(early) and not (len(early) == 1 < len(found) and is_known):
            return f"observations from {found.first_day} were sent, asked from {asked}"
        return ""

    def _may_be_of_another_window(self, found: Observations) -> bool:
        """Return whether a first page begins late, and goes on where its window had ended: as a copy of a later one.

        So does a service that does not mind `end`. Asked from the last row on, that one sends no row before.
        """
        if self.pages or self.window.end > date.max - LATEST_BEHIND:
            return False
        is_over = len(found.between(self.window.end + LATEST_BEHIND)) > 1
        return is_over and found.first_day - self.window.start > _pause(found)

    def _check_repeated(self, found: Observations) -> None:
        """Raise where a page tells otherwise what one before it told; the newest row of all may change at any time."""
        last = self.arrived[-1:]
        place = int(np.searchsorted(found.times, last.times[-1])) if len(last) else len(found)
        again = found[place : place + 1]
        if len(found[place + 1 :]) and again.times[0] == last.times[-1] and again != last:
            raise MalformedAnswerError(f"the value of {last.last_day} changed while pages were read")

    def _looked_back(self, older: Observations, page: ObservationsPage, evidence: Evidence) -> Pulled:
        """The whole window, once nothing lies before what has arrived.

        What a service that says nothing left out before its newest rows is asked for in the same way.
        """
        result = replace(self, next=None, pages=self.pages + 1, promised=False)
        if not len(older):
            return result
        is_next = self.arrived.first_day - older.last_day <= _pause(older, self.arrived)
        if self.promised or not is_silent(page) or not is_next:
            raise MalformedAnswerError(f"pages that begin with the newest: {older.last_day} came behind a later day")
        result = replace(result, arrived=older.merged(self.arrived), pages_new=self.pages_new + 1)
        return result if page.rows < evidence.newest_rows else replace(result, next=_look_back(result))

    def _contradicted(self, page: ObservationsPage, position: Position, evidence: Evidence, asked: date | None) -> str:
        """Return what this page says against the one before it, where both count what lies behind the day asked for.

        A total that is the same for another day counts something else. Where a page begins too early, the service does
        not mind `start`: those before it may begin anywhere. Raises `MalformedAnswerError` where it is the first one.
        """
        if early := self._begins_early(page.observations, asked or position.start):
            if not self.pages:
                raise MalformedAnswerError(early)
            return early
        before, now = self.counted, _counted(page, position)
        if before is None or now is None or now.total == before.total or evidence.claims_are_idle:
            return ""
        due = before.least_behind(now, asked)
        if now.total < due:
            return f"{due:,} observations are due from {asked} on, and the service knows of {now.total:,}"
        is_new = bool(len(self.arrived.merged(page.observations)) > len(self.arrived))
        if now.total > page.rows and not is_new:
            return f"{now.total:,} observations are said to lie from {asked} on, and {page.rows:,} came"
        return ""

    def _may_lack(self, position: Position, asked: date | None, evidence: Evidence) -> bool:
        """Return whether a page behind the first left out rows of the day that it began with: `start` turned out to."""
        is_behind = bool(self.pages) and asked == position.start and not position.further
        return is_behind and evidence.start_included is False and not _is_one_a_day(self.arrived)

    def _may_lack_last(self, page: ObservationsPage, position: Position, evidence: Evidence) -> bool:
        """Return whether a page that says nothing ends before its window does, so that a last row may be left out.

        A page that others may follow is asked on anyway.
        """
        found, end = page.observations, min(self.window.end, self.last or date.max)
        return (
            is_silent(page)
            and len(found) > 0
            and page.rows not in {*COMMON_SIZES, OBSERVATIONS_LIMIT}
            and evidence.may_lack_last
            and self.window.end < date.max
            and found.last_day < end
            and not (position.further or page.is_newest_first)
        )

    def _follows(self, page: ObservationsPage, evidence: Evidence) -> bool | None:
        """Return whether other rows of the window follow a page; None where that is not known yet."""
        found = page.observations
        if not len(found):
            return False
        if found.last_day > self.window.end:  # the one day behind it that was asked for: no other can follow
            return bool(page.left) and not evidence.claims_are_idle and _is_one_a_day(found)
        if _claims(page, evidence):
            return True
        if self.newest is not None and found.last_day < self.newest <= self.window.end:
            return True
        if page.more is False or (page.left == 0 and not _may_count_itself(page, evidence)):
            return False
        if is_silent(page) and evidence.tells_more and not evidence.claims_are_idle:
            return False  # it says so where others follow
        if is_silent(page) and _stops_short(found, min(self.window.end, self.last or date.max)):
            return None
        if 0 < page.rows < self.longest:
            return False
        if 0 < page.rows < evidence.most_rows and page.rows not in COMMON_SIZES:
            return False  # of such a size its pages may be from now on
        end = min(self.window.end, self.last or date.max)
        return False if found.last_day >= end and _is_one_a_day(found) else None

    def _behind(
        self, page: ObservationsPage, position: Position, evidence: Evidence, follows: bool | None, *, is_new: bool
    ) -> Position | None:
        """Return where the next page begins, behind a page that others may follow; None where nothing came any more."""
        last_day = page.observations.last_day
        further = page.further or _offset_behind(page, position)
        if position.further and is_new and further != position.further:
            return Position(max(last_day, position.start), further)  # it works, and saves a page of known rows
        if last_day > position.start and (is_new or position.further):
            return Position(last_day)
        if _is_one_a_day(page.observations) and last_day < date.max:
            return Position(last_day if evidence.start_included is None else day_after(last_day))
        if is_new and further != position.further:
            return Position(position.start, further)
        if follows is None and page.rows < FEWEST_ON_A_PAGE:
            return None  # one day, and no service pages so
        raise MalformedAnswerError(
            f"more than {page.rows:,} observations on {last_day}, and no way to ask for the rest of them"
        )


def _counted(page: ObservationsPage, position: Position) -> Counted | None:
    """What a page counts from the day on that it was asked for; None where it counts nothing, or from elsewhere."""
    if page.left is None or page.offset or position.further or position.end is not None:
        return None
    return Counted(page.rows + page.left, page)


def _offset_behind(page: ObservationsPage, position: Position) -> Params:
    """The parameter that asks for what lies behind a page, where the service names none: as the catalogue has it."""
    offset = dict(position.further).get("offset", "0")
    return (("offset", str((int(offset) if offset.isdigit() else 0) + page.rows)),)


def too_many_pages(what: str, max_pages: int, advice: str) -> TooManyPagesError:
    """Return why no further page of `what` is requested."""
    return TooManyPagesError(f"{what} take more than {max_pages:,} requests; {advice}, or raise max_pages")


def pages_for(observations: float, page_rows: int = OBSERVATIONS_LIMIT) -> int:
    """How many requests a window with so many observations takes: pages after the first begin with a known one."""
    behind_the_first = max(0.0, observations - page_rows)
    return 1 + int(-(-behind_the_first // max(1, page_rows - 1)))


def most_pages(observations: int, evidence: Evidence, *, ends_early: bool) -> int | None:
    """The most requests that a window with at most so many observations takes; None where nobody can know.

    `ends_early`: it may end so long before its last day that others may have been left out. A service that says of
    each page what follows is asked no more; of one that was not seen to, a last page may be asked on that is full, or
    is of a size that pages have. One that was seen to say nothing may be asked on several times.
    """
    if evidence.totals_are_whole:
        return pages_for(observations, evidence.page_rows)
    may_be_full = observations >= min(COMMON_SIZES)
    if evidence.says_nothing and not evidence.tells_more and (may_be_full or ends_early):
        return None
    pages = max(2, pages_for(observations + 1, evidence.page_rows)) if may_be_full else 1
    return pages + ends_early


def ends_early(found: Observations, end: date) -> bool:
    """Return whether observations end so long before the `end` asked for that others may have been left out."""
    return bool(len(found)) and end - found.last_day > _pause(found)


def fewest(pulls: list[Window], rows: Callable[[Window], int]) -> list[Window]:
    """The windows to pull, or one over all of them where that takes fewer requests; `rows` counts those of a window."""
    if len(pulls) < 2:
        return pulls
    whole = Window(pulls[0].start, pulls[-1].end)
    return [whole] if pages_for(rows(whole)) < sum(pages_for(rows(pull)) for pull in pulls) else pulls


def _look_back(pulled: Pulled) -> Position | None:
    """A look at the days before all that has arrived; None where the window has none."""
    first_day = pulled.arrived.first_day if len(pulled.arrived) else pulled.window.start
    return None if first_day <= pulled.window.start else Position(pulled.window.start, end=day_before(first_day))


def is_silent(page: ObservationsPage) -> bool:
    """Return whether a page says nothing of how many rows there are, or whether others follow."""
    return page.more is None and page.left is None


def _pause(*parts: Observations) -> timedelta:
    """A time without observations that a series may have: twice the longest that was seen, or a week."""
    steps = [np.diff(part.times.astype("datetime64[D]")).astype(int).max() for part in parts if len(part) > 1]
    return timedelta(days=max(7, 2 * int(max(steps, default=0))))


def _stops_short(found: Observations, end: date) -> bool:
    """Return whether several rows end so long before the `end` asked for that others may have been left out."""
    return len(found) >= SEVERAL_ROWS and ends_early(found, end)


def _may_be_cut(pulled: Pulled, page: ObservationsPage, evidence: Evidence) -> bool:
    """Return whether a window may have been cut to its newest rows without a word.

    They begin long after its first day, no page brought more, and no larger window was found to be whole.
    """
    found, start = pulled.arrived, pulled.window.start
    if not is_silent(page) or pulled.pages_new != 1 or len(found) < SEVERAL_ROWS or evidence.was_whole(found):
        return False
    if page.rows < evidence.newest_rows:
        return False
    return found.first_day - start > _pause(found)


def _unkept_promise(
    pulled: Pulled, page: ObservationsPage, position: Position, asked: date | None, *, was_promised: bool
) -> Position | None:
    """Where to look once nothing came but what is known: at what is said to follow, or before all that has arrived."""
    if pulled.promised and page.further:
        return Position(position.start, page.further, asked=asked)
    if page.more:
        last_day = pulled.arrived.last_day
        raise MalformedAnswerError(f"more is said to follow {last_day}, and what came was known already")
    return _look_back(pulled) if pulled.promised or was_promised else None


def _claims(page: ObservationsPage, evidence: Evidence) -> bool:
    """Return whether a page says that others follow, of a service that was not seen to say so where nothing does."""
    return not evidence.claims_are_idle and (bool(page.more) or (page.left or 0) > 0)


def _may_count_itself(page: ObservationsPage, evidence: Evidence) -> bool:
    """Return whether a total that counts its own page alone may leave out what follows: if the page may be full."""
    if evidence.totals_are_whole:
        return False
    return page.rows >= (page.limit or OBSERVATIONS_LIMIT) or page.rows in COMMON_SIZES


def _is_one_a_day(found: Observations) -> bool:
    days = found.times.astype("datetime64[D]")
    return not bool(np.any(days[1:] == days[:-1]))
