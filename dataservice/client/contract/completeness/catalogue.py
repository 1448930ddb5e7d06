"""Which page of the catalogue comes next, and whether all signals have come: a missing name is to be proven."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dataservice.client.contract.body import Params
from dataservice.client.contract.completeness.evidence import COMMON_SIZES, FEW_ON_A_PAGE
from dataservice.client.contract.decode import CataloguePage
from dataservice.client.contract.forms import is_common_size
from dataservice.client.contract.requests import CATALOGUE_LIMIT
from dataservice.errors import MalformedAnswerError
from dataservice.models import Signal

ROUNDS = 2
"""So often a catalogue is read whose order changes between two pages: what moved back a page was not seen yet."""


@dataclass(frozen=True, slots=True)
class PulledCatalogue:
    """The signals as far as their pages have arrived; the next page begins at `offset`, None behind the last one.

    `further` are the parameters that ask for it, where the service names them. `told` is the most that pages said
    there are, `beside` counts the records that are no other signal: unreadable ones, and twins on one page.
    """

    found: Mapping[str, Signal] = field(default_factory=dict)
    offset: int | None = 0
    further: Params = ()
    pages: int = 0
    pages_left: int = 0
    """At least how many requests the rest takes; believed from the second page on: who ignores `offset` tells any."""
    told: int = 0
    beside: int = 0
    most_rows: int = 0
    round: int = 1
    first: frozenset[str] = frozenset()
    """The slugs of the first page."""
    is_moving: bool = False
    """Whether a page repeated signals of those before it, and is not the first again: their order changes."""
    is_deaf: bool = False
    """Whether the same came again, though nothing showed that it was all."""
    odd: str = ""

    @property
    def may_be_cut(self) -> bool:
        """Return whether others may be there: fewer came than were told, or nothing shows that these are all."""
        return self.is_deaf or self.told > len(self.found) + self.beside or (self.is_moving and not self.told)

    def with_page(self, page: CataloguePage) -> PulledCatalogue:
        """The state after one more page.

        Raises `MalformedAnswerError` where others are said to follow in so many words, and known ones come again.
        """
        offset, slugs = self.offset or 0, {signal.slug for signal in page.signals}
        known = slugs & self.found.keys()
        is_again = bool(page.rows and self.pages) and len(known) == len(slugs)
        is_last = is_again and self.round == 1
        is_moving = self.is_moving or (self.round == 1 and bool(known) and slugs != self.first)
        if is_last and page.more and not is_moving:
            raise MalformedAnswerError(
                f"more signals are said to follow {len(self.found)}, and what came was known already"
            )
        after = replace(
            self,
            found={**self.found, **{signal.slug: signal for signal in page.signals}},
            pages=self.pages + 1,
            told=max(self.told, page.total or 0),
            beside=self.beside + (page.rows - len(slugs) if self.round == 1 and not is_again else 0),
            most_rows=max(self.most_rows, page.rows),
            first=self.first if self.pages else frozenset(slugs),
            is_moving=is_moving,
            is_deaf=self.is_deaf or (is_last and not is_moving and _shows_no_end(page, len(self.found))),
            odd=page.odd or self.odd,
        )
        behind = None if is_last else _offset_behind(offset, page, self.most_rows)
        if behind is None:
            return _another_round(after)
        left = page.pages_behind(behind) if self.pages else 0
        return replace(after, offset=behind, further=page.further if page.more else (), pages_left=left)


def _another_round(pulled: PulledCatalogue) -> PulledCatalogue:
    """From the beginning, where pages overlapped and fewer came than were told; else nothing more."""
    is_unseen = pulled.is_moving and pulled.told > len(pulled.found) + pulled.beside and pulled.round < ROUNDS
    return replace(pulled, offset=0 if is_unseen else None, further=(), round=pulled.round + 1, pages_left=0)


def _offset_behind(offset: int, page: CataloguePage, most_rows: int) -> int | None:
    """The offset of the page behind one that began at `offset`; None where none follows.

    One with fewer rows than the `most_rows` of an earlier one is the last.
    """
    end = offset + page.rows
    if not page.rows:
        return None
    if page.more is not None:
        return end if page.more else None
    if page.total is not None and page.total != page.rows:
        return end if end < page.total else None
    if page.limit is None and (page.total is None or page.rows % 5 == 0):
        return end if page.rows >= most_rows else None  # as documented it tells both: here nothing shows where it ends
    if page.total is None and page.rows in FEW_ON_A_PAGE:
        return end  # a limit that only repeats what was asked for
    return end if page.rows >= (page.limit or CATALOGUE_LIMIT) or page.rows in COMMON_SIZES else None


def _shows_no_end(page: CataloguePage, known: int) -> bool:
    """Return whether nothing shows that the known signals are all; a total may count its own page."""
    if page.total is not None and page.total != page.rows:
        return page.total > known
    return page.rows <= max(FEW_ON_A_PAGE) or is_common_size(page.rows)
