"""What a resource answers with, where that is more than one record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from dataservice.client.contract.nearest import Suggestions
from dataservice.models import Current, Index, Observation, Record, Signal
from dataservice.observations import Observations
from dataservice.shown import short_html

if TYPE_CHECKING:
    import pandas as pd

R_co = TypeVar("R_co", bound=Record, covariant=True)

WIDEST = 200
"""Records on the widest page of posts and of the wire (contract: "Per-parameter bounds")."""

ALL = 1_000_000
"""Records of a list that is wanted as a whole."""

NAMED = 5
"""Slugs that a repr shows: enough to recognize the answer."""


@dataclass(frozen=True, slots=True)
class SignalDetail:
    """A signal with its latest observation and its recent history, oldest first."""

    signal: Signal
    latest: Observation | None
    history: Observations = field(default_factory=Observations.empty)
    derived: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What readers worked out of the detail, by a name of theirs: it is kept as long as the detail."""

    def __repr__(self) -> str:
        latest = f"{self.latest.value} at {self.latest.observed_at}" if self.latest else "no value"
        return f"SignalDetail({self.signal.slug!r}, {self.signal.name!r}, {latest}, {self.history})"

    def _repr_html_(self) -> str:
        return short_html(self)

    @property
    def last_day(self) -> date | None:
        """The day of the latest observation; None where there is none."""
        if self.latest is None:
            return self.history.last_day if len(self.history) else None
        return Observations.from_columns([self.latest.observed_at], [self.latest.value]).last_day

    def to_frame(self) -> pd.DataFrame:
        """The recent history, as `Observations.to_frame` gives it, the column named by the slug."""
        return self.history.to_frame(self.signal.slug)


@dataclass(frozen=True)
class Catalogue:
    """Every signal of the service; look-ups by slug or shortcode cost nothing."""

    signals: tuple[Signal, ...]
    odd: str = ""
    """How many records could not be read whole, and why; empty where all were."""
    may_be_cut: bool = False
    """Whether there may be others: the service gave the same ones again, and nothing shows that they are all."""

    def lacks(self, wanted: int) -> str:
        """Return why these may be fewer than the `wanted` ones that there are; empty where they are not."""
        return _may_be_few(len(self)) if self.may_be_cut and len(self) < wanted else ""

    @cached_property
    def _by_name(self) -> dict[str, Signal]:
        """Slugs win over shortcodes, and exact case over folded case."""
        names: dict[str, Signal] = {}
        for fold in (str, str.casefold):
            for key in ("slug", "shortcode"):
                for signal in self.signals:
                    name = getattr(signal, key)
                    if name:
                        names.setdefault(fold(name), signal)
        return names

    def find(self, name: str) -> Signal | None:
        """The signal whose slug or shortcode is `name`, in any case; None where there is none."""
        return self._by_name.get(name) or self._by_name.get(name.casefold())

    def __contains__(self, wanted: object) -> bool:
        """Return whether a signal, or one whose slug or shortcode is the text, is among them."""
        return self.find(wanted) is not None if isinstance(wanted, str) else wanted in self.signals

    def nearest(self, name: str) -> str | None:
        """The slug whose signal's slug, shortcode or name is most like `name`; None where none is."""
        return self._suggestions.suggested(name)

    @cached_property
    def _suggestions(self) -> Suggestions:
        slugs: dict[str, str] = {}
        for signal in self.signals:
            for name in filter(None, (signal.slug, signal.shortcode, signal.name)):
                slugs.setdefault(name, signal.slug)
        return Suggestions(slugs)

    def __repr__(self) -> str:
        return f"Catalogue({_counted(self.signals, 'signals')})"

    def _repr_html_(self) -> str:
        return short_html(self)

    def __len__(self) -> int:
        return len(self.signals)

    def __iter__(self) -> Iterator[Signal]:
        return iter(self.signals)

    def to_frame(self) -> pd.DataFrame:
        """One row a signal, one column a field of the contract."""
        return frame_of(self.signals, Signal)


@dataclass(frozen=True, slots=True)
class Page(Generic[R_co]):
    """The newest records of a filtered list, newest first.

    `complete`: there are no others behind these, so a narrower question can be answered from them.
    """

    items: tuple[R_co, ...]
    complete: bool
    kind: type[Record] = Record
    """The kind of record, which an empty page does not show otherwise."""
    odd: str = ""
    """How many records could not be read whole, and why; empty where all were. A cache does not keep it."""
    given: int = field(default=0, compare=False)
    """How many records the answer had that these were selected from; 0 where these are all of them."""
    may_be_cut: bool = False
    """Whether these count as all though they are as few as a page, and the service said nothing."""

    def lacks(self, wanted: int) -> str:
        """Return why these may be fewer than the `wanted` newest that there are; empty where they are not.

        The widest page says that it is the widest: what lies behind it was never to come.
        """
        given = self.given or len(self.items)
        is_whole = self.complete and not self.may_be_cut
        if is_whole or len(self.items) >= wanted or given >= WIDEST:
            return ""
        return (
            f"there may be more: the service gave {given} of {WIDEST} asked for, and nothing shows that these are all"
        )

    def __repr__(self) -> str:
        more = "" if self.complete else ", there may be more"
        return f"Page({len(self)} of {self.kind.__name__}, newest first{more})"

    def _repr_html_(self) -> str:
        return short_html(self)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[R_co]:
        return iter(self.items)

    def selected(self, passes: Callable[[R_co], bool]) -> Page[R_co]:
        """The same page with only the records that pass."""
        items = tuple(record for record in self.items if passes(record))
        return replace(self, items=items, given=self.given or len(self.items))

    def to_frame(self) -> pd.DataFrame:
        """One row a record, one column a field of the contract, newest first."""
        return frame_of(self.items, type(self.items[0]) if self.items else self.kind)


def newest_first(records: Sequence[R_co]) -> tuple[R_co, ...]:
    """Posts or wire items, newest first, whatever zones their times are in; one without a time keeps its place."""
    placed = sorted(zip(records, places(records), strict=True), key=lambda pair: pair[1], reverse=True)
    return tuple(record for record, _ in placed)


def places(records: Sequence[Record]) -> list[datetime]:
    """Return when each record was published; without a time, that of the record before it as the service gave them.

    The records at the beginning take it from the first that has one.
    """
    times = [published(record) for record in records]
    last = next((time for time in times if time is not None), datetime.min.replace(tzinfo=UTC))
    return [last := time or last for time in times]


def published(record: Record) -> datetime | None:
    """Return when a post or wire item was published; None where its text is no time."""
    try:
        moment = datetime.fromisoformat(record.field("published_at"))
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, TypeError, OverflowError):  # the last before the year 1 in UTC
        return None


def published_since(record: Record, since: date | None) -> bool:
    """Return whether a post or wire item is from `since` on: a day or a time, in UTC where it names no zone.

    One without a time may be: it is shown, with no time.
    """
    moment = None if since is None else published(record)
    if since is None or moment is None:
        return True
    first = since if isinstance(since, datetime) else datetime.combine(since, time.min)
    return moment >= (first if first.tzinfo else first.replace(tzinfo=UTC))


def _may_be_few(count: int) -> str:
    return f"there may be more: the service gave {count}, and nothing shows that these are all"


class Collection(tuple[R_co, ...], Generic[R_co]):
    """All records of a list that is asked for as a whole."""

    odd: str = ""
    """How many records could not be read whole, and why; empty where all were."""

    may_be_cut: bool = False
    """Whether others may lie behind these: they are as few as a page, and the service said nothing."""

    def lacks(self, wanted: int) -> str:
        """Return why these may be fewer than the `wanted` ones that there are; empty where they are not."""
        return _may_be_few(len(self)) if self.may_be_cut and len(self) < wanted else ""


class Indices(Collection[Index]):
    """All indices of the service."""

    def read_from(self, name: str) -> Indices:
        """The same, where those without another reading have it in the field `name`."""
        found = Indices(index.read_from(name) for index in self)
        found.odd, found.may_be_cut = self.odd, self.may_be_cut
        return found

    def __repr__(self) -> str:
        return f"Indices({_counted(self, 'indices')})"

    def _repr_html_(self) -> str:
        return short_html(self)

    def to_frame(self) -> pd.DataFrame:
        """One row an index, one column a field of the contract, then the service's further fields."""
        return frame_of(self, Index)


class Currents(Collection[Current]):
    """All currents of the service."""

    def __repr__(self) -> str:
        return f"Currents({_counted(self, 'currents')})"

    def _repr_html_(self) -> str:
        return short_html(self)

    def to_frame(self) -> pd.DataFrame:
        """One row a current, one column a field of the contract."""
        return frame_of(self, Current)


def _counted(records: Sequence[Signal | Index | Current], what: str) -> str:
    """Return how many there are, and the slugs of the first."""
    slugs = [record.slug for record in records[:NAMED]]
    return f"{len(records)} {what}: {', '.join(slugs)}{', …' if len(records) > NAMED else ''}"


def frame_of(records: Sequence[Record], kind: type[Record]) -> pd.DataFrame:
    """One row a record; the contract's fields first, then the unknown ones in the order met.

    Its numbers are float64 and its times datetime64 in UTC, also where there is no record; times that cannot be read
    stay texts.
    """
    import pandas as pd

    columns = dict.fromkeys(kind.field_names())
    for record in records:
        columns.update(dict.fromkeys(record.extra))
    frame = pd.DataFrame([record.to_dict() for record in records], columns=list(columns))
    for name in kind.number_names():
        with suppress(ValueError):  # one that the service told as text
            frame[name] = frame[name].astype("float64")
    for name in kind.field_names():
        if name.endswith("_at"):
            with suppress(ValueError, OverflowError):
                frame[name] = pd.to_datetime(frame[name].replace("", None), utc=True, format="ISO8601").dt.as_unit("us")
    return frame


def may_be_cut(value: Any) -> Any:
    """A list that counts as a part from now on; any other value as it is."""
    if isinstance(value, Catalogue | Page):
        return replace(value, may_be_cut=True)
    if isinstance(value, Indices | Currents):
        found: Any = Indices(value) if isinstance(value, Indices) else Currents(value)
        found.odd, found.may_be_cut = value.odd, True
        return found
    return value
