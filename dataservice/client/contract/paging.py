"""Which page comes next: pure decisions, each of which makes progress, so that paging always ends."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import date

from dataservice.client.contract.decode import CataloguePage, ObservationsPage
from dataservice.client.contract.requests import CATALOGUE_LIMIT, OBSERVATIONS_LIMIT
from dataservice.client.contract.windows import Window, day_after
from dataservice.errors import MalformedAnswerError, TooManyPagesError
from dataservice.observations import Observations

COMMON_SIZES = frozenset({50, 100, 200, 250, 365, 500})
"""Of pages, where they are not those of the contract."""

MAX_PAGES = 100
"""Requests for one answer: 100,000 observations or 50,000 signals, more than a workbook shows."""


def next_offset(offset: int, page: CataloguePage, known: Collection[str] = ()) -> int | None:
    """The offset of the page behind `page`, which began at `offset`; None behind the last one.

    A page that brings none but `known` slugs is the last one, too: a service that ignores `offset` never ends.
    """
    end = offset + len(page.signals)
    if all(signal.slug in known for signal in page.signals):
        return None
    if page.total is not None:
        return end if end < page.total else None
    return end if len(page.signals) >= (page.limit or CATALOGUE_LIMIT) else None


@dataclass(frozen=True, slots=True)
class Pulled:
    """The observations of a window as far as its pages have arrived.

    Pages are asked by documented parameters only: the next one begins on the last day seen, and what comes twice is
    dropped. `next_start` is None when the window is complete.
    """

    window: Window
    observations: Observations
    next_start: date | None
    pages: int = 0

    @classmethod
    def begin(cls, window: Window) -> Pulled:
        """Nothing yet of a window."""
        return cls(window, Observations.empty(), window.start)

    @property
    def complete(self) -> bool:
        """Whether every page has arrived."""
        return self.next_start is None

    def known_window(self) -> Window:
        """The days whose observations have all arrived; those of the last day seen may not have."""
        if self.next_start is None:
            return self.window
        return Window(self.window.start, date.fromordinal(max(1, self.next_start.toordinal() - 1)))

    def with_page(self, page: ObservationsPage) -> Pulled:
        """The state after one more page.

        Raises `MalformedAnswerError` where the service ignores `start`, or where the oldest would never come.
        """
        start = self.next_start or self.window.start
        found = page.observations
        if len(found) and found.first_day < start:
            raise MalformedAnswerError(f"observations from {found.first_day} were sent, asked from {start}")
        if page.is_newest_first and _is_full(page):
            raise MalformedAnswerError("a page of observations that begins with the newest, and others behind it")
        together = self.observations.merged(found.between(start, self.window.end))
        return Pulled(self.window, together, self._after(page, start), self.pages + 1)

    def _after(self, page: ObservationsPage, start: date) -> date | None:
        found = page.observations
        if not len(found) or not _is_full(page) or found.last_day >= self.window.end:
            return None
        # A page full of one day would come again and again: what that day holds beyond a page cannot be asked for.
        return max(found.last_day, day_after(start) if found.last_day == start else start)


def too_many_pages(what: str, max_pages: int, advice: str) -> TooManyPagesError:
    """Why no further page of `what` is requested."""
    return TooManyPagesError(f"{what} take more than {max_pages:,} requests; {advice}, or raise max_pages")


def pages_for(observations: float) -> int:
    """How many requests a window with so many observations takes: pages after the first begin with a known one."""
    behind_the_first = max(0.0, observations - OBSERVATIONS_LIMIT)
    return 1 + int(-(-behind_the_first // (OBSERVATIONS_LIMIT - 1)))


def fewest(pulls: list[Window], rows: Callable[[Window], int]) -> list[Window]:
    """The windows to pull, or one over all of them where that takes fewer requests; `rows` counts those of a window."""
    if len(pulls) < 2:
        return pulls
    whole = Window(pulls[0].start, pulls[-1].end)
    return [whole] if pages_for(rows(whole)) < sum(pages_for(rows(pull)) for pull in pulls) else pulls


def _is_full(page: ObservationsPage) -> bool:
    """Whether another page may follow: what the service says of the rest, or else whether this one is full.

    Where it says neither, a page of a common size may be full, too: a request more is better than a part for the whole.
    """
    if page.left is not None:
        return page.left > 0
    if page.limit is not None:
        return page.rows >= page.limit
    return page.rows >= OBSERVATIONS_LIMIT or page.rows in COMMON_SIZES
