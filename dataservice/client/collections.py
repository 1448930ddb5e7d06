"""What a resource answers with, where that is more than one record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from dataservice.models import Observation, Record, Signal
from dataservice.observations import Observations

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Catalogue", "Page", "SignalDetail", "frame_of"]

R_co = TypeVar("R_co", bound=Record, covariant=True)


@dataclass(frozen=True, slots=True)
class SignalDetail:
    """A signal with its latest observation and its recent history, oldest first."""

    signal: Signal
    latest: Observation | None
    history: Observations = field(default_factory=Observations.empty)


@dataclass(frozen=True)
class Catalogue:
    """Every signal of the service; look-ups by slug or shortcode cost nothing."""

    signals: tuple[Signal, ...]

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

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[R_co]:
        return iter(self.items)


def frame_of(records: tuple[Record, ...], kind: type[Record]) -> pd.DataFrame:
    """One row a record; the contract's fields first, then the unknown ones in the order met."""
    import pandas as pd  # noqa: PLC0415 - half a second that a cell may not need

    columns = dict.fromkeys(kind.field_names())
    for record in records:
        columns.update(dict.fromkeys(record.extra))
    return pd.DataFrame([record.to_dict() for record in records], columns=list(columns))
