"""The answers of a probe, and what each of them says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise
from typing import Any, TypeVar

from dataservice.client.contract.body import Body
from dataservice.client.contract.completeness.evidence import COMMON_SIZES, ListSeen
from dataservice.client.contract.completeness.following import following
from dataservice.client.contract.completeness.thinning import leaves_out
from dataservice.client.contract.forms import TIMES, columns_of, decoded, list_in, signal_in, times_in
from dataservice.client.contract.requests import CATALOGUE_LIMIT, OBSERVATIONS_LIMIT
from dataservice.client.contract.times import order_of_days
from dataservice.errors import DataServiceError
from dataservice.models import READING_FIELDS, Index
from dataservice.observations import Observations

T = TypeVar("T")

ROUND_YEARS = (1, 2, 3, 5, 10, 15, 20)
ROUND_DAYS = 4
"""A window that is cut to so many years begins within so few days of them: weekends lie between."""

FEEDS = {"wire": "wire", "almanac": "posts"}
"""Lists that are asked with a limit, by the name of their look: as what kind their pages are remembered."""


@dataclass
class Looks:
    """The answers of a probe by what they were asked for, and the bounds of the windows."""

    slug: str = ""
    answers: dict[str, Body] = field(default_factory=dict)
    bounds: dict[str, tuple[date | None, date | None]] = field(default_factory=dict)
    today: date = date.max
    restarts_on: int | None = None
    """The day of the month on which the period of the quota was seen to begin."""
    _read: dict[tuple[object, ...], tuple[object, Any]] = field(default_factory=dict, compare=False)
    """What was read of answers, each of which many questions look at: the answers, and what they say."""

    def content(self, name: str) -> Any:
        """Return what an answer says; None where it says nothing that can be read, or was not asked for."""
        return self._once(("content", name), (name,), lambda: self._content(self.answers.get(name)))

    def _once(self, key: tuple[object, ...], of: tuple[str, ...], read: Callable[[], T]) -> T:
        """Return what `read` gives, which rests on these answers alone; it is called once for the same ones."""
        bodies = [self.answers.get(name) for name in of]
        known = self._read.get(key)
        if known is None or known[0] != bodies:
            known = self._read[key] = bodies, read()
        found: T = known[1]
        return found

    def _content(self, body: Body | None) -> Any:
        if body is None or body.status != 200:
            return None
        try:
            return decoded(body)
        except DataServiceError:
            return None

    def rows(self, name: str) -> list[Any] | None:
        """The rows of a list."""
        content = self.content(name)
        try:
            return None if content is None else list_in(content)[0]
        except DataServiceError:
            return None

    def tail(self) -> Observations | None:
        """The last observations as a window told them: up to its end, and several; None where none did."""
        whole, newest = self.rows("all") or [], self.newest()
        for name in ("without end", "rest"):
            found, rows = self.series(name), self.rows(name) or []
            if found is not None and len(rows) > 1 and (name == "without end" or len(rows) < len(whole)):
                return found
        found = self.series("all")
        reaches = found is not None and len(found) > 1 and newest is not None and found.last_day >= newest
        return found if reaches else None

    def newest(self) -> date | None:
        """The day of the newest observation by the detail."""
        recent = self.recent()
        return recent.last_day if recent is not None and len(recent) else None

    def recent(self) -> Observations | None:
        """The detail's history, or its latest observation where it has none."""
        recent, latest = self.series("detail"), self._latest()
        return recent if (recent is not None and len(recent)) or not len(latest) else latest

    @property
    def day_first(self) -> bool | None:
        """Whether days such as 25/12/2026 begin with the day, as far as the recent history or a window shows it."""
        return self._once(("day first",), ("detail", "all"), self._day_first)

    def _day_first(self) -> bool | None:
        for rows in (self.detail().get("history"), self.rows("all")):
            if isinstance(rows, list) and (found := order_of_days(times_in(rows))) is not None:
                return found
        return None

    def beside(self, name: str) -> Mapping[str, Any]:
        """Return what stands beside a list; nothing where it stands alone."""
        content = self.content(name)
        return content if isinstance(content, Mapping) else {}

    def stands_in(self, name: str) -> str:
        """Return what the records of an answer stand in."""
        content = self.content(name)
        if isinstance(content, list):
            return "nothing"
        if not isinstance(content, Mapping):
            return "no JSON"
        if isinstance(content.get("data"), list):
            return "data"
        if isinstance(content.get("data"), Mapping):
            return f"data.{next(iter(content['data']), '')}"
        return next((str(key) for key, value in content.items() if isinstance(value, list)), "no list")

    def order(self, name: str) -> str:
        """Return how the observations of a window follow each other."""
        try:
            times = columns_of(self.rows(name) or [], self.day_first)[0]
        except DataServiceError:
            return "oldest first"
        rising = sum(before <= after for before, after in pairwise(times))
        return (
            {len(times) - 1: "oldest first", 0: "newest first"}.get(rising, "none")
            if len(times) > 1
            else "oldest first"
        )

    def is_catalogue_cut(self) -> bool:
        """Return whether the first page of the catalogue is no whole one, by what it says or by what it does not."""
        rows = len(self.rows("catalogue") or [])
        said = following(self.beside("catalogue"), self.answers.get("catalogue", b""), rows)
        if said.total is not None and said.total != rows:
            return said.total > rows < CATALOGUE_LIMIT
        return bool(said.more) or (rows > 0 and said.limit == rows) or (said.total is None and said.more is None)

    def latest_day(self) -> date | None:
        """The day of the latest observation that the detail tells by itself."""
        found = self._latest()
        return found.last_day if len(found) else None

    def two_latest(self) -> tuple[float, float] | None:
        """Return the values of the latest observation and of the history at the same time, where they differ."""
        latest, recent = self._latest(), self.series("detail")
        if not len(latest) or recent is None:
            return None
        told = [float(value) for value in recent.values[recent.times == latest.times[-1]]]
        value = float(latest.values[-1])
        return (value, told[0]) if told and abs(told[0] - value) > 1e-6 * abs(value) else None

    def _latest(self) -> Observations:
        """The latest observation that the detail tells by itself; empty where there is none to be read."""
        latest = self.detail().get("latest")
        try:
            return Observations.from_columns(
                *columns_of([latest] if isinstance(latest, Mapping) else [], self.day_first)
            )
        except (DataServiceError, ValueError):
            return Observations.empty()

    def says_nothing(self, name: str) -> bool:
        """Return whether an answer says nothing of what follows its rows."""
        content, rows = self.content(name), self.rows(name) or []
        said = following(content if isinstance(content, Mapping) else {}, self.answers.get(name, b""), len(rows))
        return said.more is None and said.total is None

    def goes_on(self, name: str, *, is_limited: bool = False) -> bool | None:
        """Return whether a list that says nothing went on behind its page; None where that was not seen.

        With a limit, the same again only shows that `offset` is ignored.
        """
        first, more = self.rows(name), self.rows(f"more {name}")
        if more is None:
            return False if first and not is_limited else None
        if is_limited and more:
            return None if more == first else True
        return bool(more)

    def lists(self) -> dict[str, ListSeen]:
        """Return what each kind of list has shown; of posts and the wire nothing was filtered."""
        seen = {"indices": ListSeen(goes_on=self.goes_on("indices"))} if self.rows("indices") else {}
        for name, kind in FEEDS.items():
            rows = len(self.rows(name) or [])
            if rows:
                seen[kind] = ListSeen(rows, rows, self.goes_on(name, is_limited=True))
        return seen

    def may_be_newest(self) -> bool:
        """Return whether the window of everything may hold the newest rows alone.

        Nothing is said, and nothing follows; or it spans just so many years, or has just so many rows.
        """
        rest, rows, whole = self.rows("rest"), len(self.rows("all") or []), self.series("all")
        if rows < 2 or rest is None or whole is None:
            return False
        ends = (self.today, self.newest() or self.today, whole.last_day)
        days = {(end - whole.first_day).days for end in ends}
        if any(abs(span - years * 365.25) < ROUND_DAYS for span in days for years in ROUND_YEARS):
            return True
        is_one_page = len(rest) <= 1
        return is_one_page and (self.says_nothing("all") or rows in COMMON_SIZES or rows % OBSERVATIONS_LIMIT == 0)

    def older(self) -> int:
        """Return how many rows came from before the window of everything: its first day may come with them."""
        before, whole = self.series("before"), self.series("all")
        if before is None or whole is None or not len(whole):
            return len(self.rows("before") or [])
        return int((before.times < whole.times[0]).sum())

    def newest_rows(self) -> int:
        """To how many of its newest rows a window is cut; 0 where none is, or to a time rather than to a number."""
        rows = len(self.rows("all") or [])
        is_one_page = len(self.rows("rest") or []) <= 1
        return rows if self.older() and rows % 50 == 0 and is_one_page else 0

    def has_thin_details(self) -> bool:
        """Return whether the recent history leaves days out that a window shows."""
        recent = self.series("detail")
        return recent is not None and any(leaves_out(recent, found) for found in self._windows())

    def has_thin_windows(self) -> bool:
        """Return whether a window leaves days out that the recent history or a shorter window shows."""
        told = [found for found in (self.series("detail"), *self._windows()) if found is not None]
        return any(leaves_out(thin, full) for thin in self._windows() for full in told)

    def keeps_last(self) -> bool | None:
        """Return whether a window that says nothing of what follows shows its last row; None where no look tells.

        Else it lacks the day that it ends on, and one up to today the newest.
        """
        told, tail, window = self._told(), self.tail(), self.series("window")
        _, end = self.bounds.get("window", (None, None))
        if tail is None or not (len(told) > 1 and len(tail)) or not self.says_nothing("all"):
            return None
        if tail.last_day == told.last_day:
            return True
        lacks_end = window is not None and end is not None and len(window) > 0 and window.last_day < end
        return False if lacks_end and tail.last_day == told[:-1].last_day else None

    def _told(self) -> Observations:
        """All observations that the detail shows: its history and the latest one."""
        history = self.series("detail")
        return (Observations.empty() if history is None else history).merged(self._latest())

    def _windows(self) -> list[Observations]:
        found = [self.series(name) for name in ("all", "rest", "window", "without end", "without dates")]
        return [each for each in found if each is not None]

    def detail(self) -> dict[str, Any]:
        """The fields of the signal; none where they cannot be read."""
        try:
            return signal_in(self.content("detail"))
        except DataServiceError:
            return {}

    def series(self, name: str) -> Observations | None:
        """The observations of a window, or of the detail's history."""
        return self._once(("series", name, self.day_first), (name,), lambda: self._series(name))

    def _series(self, name: str) -> Observations | None:
        rows = self.detail().get("history") if name == "detail" else self.rows(name)
        try:
            return Observations.from_columns(*columns_of(rows or [], self.day_first))
        except (DataServiceError, ValueError):
            return None


def reading_field(looks: Looks) -> str:
    """The one field of all indices that holds a number and is not of the contract; empty where the usual ones do."""
    rows = [row for row in looks.rows("indices") or [] if isinstance(row, Mapping)]
    known = {*Index.field_names(), *READING_FIELDS, *TIMES, "id"}
    numbers = [
        {n for n in row if n not in known and isinstance(row[n], int | float) and row[n] is not True} for row in rows
    ]
    if not rows or any(name in row for row in rows for name in READING_FIELDS):
        return ""
    shared = set.union(*numbers)
    return shared.pop() if len(shared) == 1 and all(numbers) else ""
