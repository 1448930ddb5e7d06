"""What fetches send their requests through, and where they keep and look up answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from dataservice.client.cache.answer import Answer
from dataservice.client.cache.answer_cache import AnswerCache
from dataservice.client.cache.recent import DoubtfulDetails
from dataservice.client.contract.completeness.evidence import Evidence, Evidences
from dataservice.client.contract.paging import MAX_PAGES
from dataservice.client.contract.resources import Resource
from dataservice.client.contract.results import Catalogue
from dataservice.client.contract.windows import utc_day
from dataservice.client.network.call_context import Meter
from dataservice.client.network.sender import RequestSender
from dataservice.models import Signal


@dataclass(frozen=True, kw_only=True, slots=True)
class FetchTools:
    """What a fetch sends its requests through, and where it keeps and looks up answers.

    What pages show of the service's ways is remembered in `evidence`; `learn` keeps it. `details` are recent histories
    that are not relied on yet.
    """

    sender: RequestSender
    cache: AnswerCache
    read: Callable[[Resource[Any], Meter], Awaitable[Answer[Any]]]
    learn: Callable[[Evidence], Awaitable[None]]
    clock: Callable[[], float]
    max_pages: int = MAX_PAGES
    evidence: Evidences = field(default_factory=Evidences)
    details: DoubtfulDetails = field(default_factory=DoubtfulDetails)

    @property
    def today(self) -> date:
        """The day in UTC."""
        return utc_day(self.clock())

    async def note(self, **seen: Any) -> None:
        """Keep what answers have shown of the service's ways, by the names in `Evidence`."""
        self.evidence.now = replace(self.evidence.now, **seen)
        await self.learn(self.evidence.now)

    async def note_sources(self) -> None:
        """Keep of which signals detail and windows were seen to differ."""
        if (apart := self.cache.signals.sources.apart) != self.evidence.now.apart:
            await self.note(apart=apart)

    async def distrust_details(self) -> None:
        """Let no recent history count from now on: the service leaves days out of them."""
        self.cache.signals.distrust_details()
        await self.note(thin_details=True)


def listed_as(slug: str, catalogue: Catalogue | None) -> Signal | None:
    """The signal of exactly this name in the catalogue."""
    signal = None if catalogue is None else catalogue.find(slug)
    return signal if signal is not None and signal.slug == slug else None
