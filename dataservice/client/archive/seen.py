"""Which signals were looked at here, by the names that kept answers tell: a catalogue that costs no request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dataservice.client.contract.resources import Resource
from dataservice.client.contract.results import Catalogue


@dataclass(frozen=True)
class SeenSignals:
    """The signals with an archive; `is_whole` if all their names are known, else some are known by slug only."""

    signals: Catalogue
    is_whole: bool

    def slug_of(self, name: str) -> str | None:
        """The slug of the signal called `name`: by slug in any case, or by exactly its shortcode.

        None for a shortcode in another case, which may be the slug of a signal that nobody here looked at.
        """
        found = self.signals.find(name)
        is_certain = found is not None and (found.slug.casefold() == name.casefold() or found.shortcode == name)
        return found.slug if found is not None and is_certain else None

    def lacks(self, name: str) -> bool:
        """Return whether no signal that was looked at here can be called `name`; no shortcode has a dot."""
        return (self.is_whole or "." in name) and self.signals.find(name) is None


@dataclass(frozen=True, slots=True)
class SeenSignalsResource(Resource[SeenSignals]):
    """The signals that were looked at here; no request answers it, only what earlier answers showed."""

    is_requested: ClassVar[bool] = False
