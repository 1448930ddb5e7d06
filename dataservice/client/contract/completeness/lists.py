"""Which page of a list comes next, and whether the list is whole: the contract shows no paging but the catalogue's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dataservice.client.contract.body import Params
from dataservice.client.contract.completeness.evidence import Evidence
from dataservice.client.contract.decode import ListPage
from dataservice.client.contract.forms import FEWEST_CUT

PAGES = 4
"""Of a list that was asked with a limit: as many as its usual pages of 50 need."""


@dataclass(frozen=True, slots=True)
class ListKind:
    """A list of the contract: how a page is read, what all are made into, what tells records apart, how many are due.

    `most` is the `limit` that is sent; 0 where none is. `name` is what its pages are remembered under.
    """

    name: str
    read: Callable[[bytes], ListPage[Any]]
    whole: Callable[[PulledList], Any]
    key: Callable[[Any], str]
    most: int = 0


@dataclass(frozen=True, slots=True)
class PulledList:
    """The records of a list as far as its pages have arrived; `further` asks for the next one, empty behind the last.

    `is_complete`: nothing lies behind them. `went_on`: others came behind a page that said nothing of them, or did not;
    None where that was not tried.
    """

    kind: ListKind
    filters: int = 0
    found: Mapping[str, Any] = field(default_factory=dict)
    odd: str = ""
    further: Params = ()
    is_complete: bool = False
    may_be_cut: bool = False
    """Whether they count as all, though they are as few as a page and nothing was said."""
    is_guess: bool = False
    """Whether the next page is asked for though nothing said that there is one."""
    is_promised: bool = False
    """Whether the page before said, in words or by its limit, that others follow."""
    went_on: bool | None = None
    most_rows: int = 0
    rows: int = 0
    pages: int = 0
    new_rows: int = 0
    """The rows of pages that brought something new."""
    told: int = 0
    """How many there are in all, by what pages said."""

    @property
    def records(self) -> tuple[Any, ...]:
        """All that have arrived, each once, as they came."""
        return tuple(self.found.values())

    def with_page(self, page: ListPage[Any], evidence: Evidence) -> PulledList:
        """The state after one more page."""
        key = self.kind.key
        found = {**self.found, **{key(record): record for record in page.records}}
        is_new = len(found) > len(self.found)
        result = replace(
            self,
            found=found,
            odd=page.odd or self.odd,
            rows=self.rows + page.rows,
            pages=self.pages + 1,
            most_rows=max(page.rows, self.most_rows),
            new_rows=self.new_rows + (page.rows if is_new else 0),
            told=max(self.told, page.total),
        )
        return _counted(_went_on(self, result, page, evidence, is_new=is_new))


def _counted(pulled: PulledList) -> PulledList:
    """The same, not complete where fewer came in the end than were told to be there."""
    is_full = bool(pulled.kind.most) and len(pulled.found) >= pulled.kind.most
    if pulled.further or is_full or pulled.told <= max(len(pulled.found), pulled.new_rows):
        return pulled
    return replace(pulled, is_complete=False, may_be_cut=True)


def _went_on(
    before: PulledList, result: PulledList, page: ListPage[Any], evidence: Evidence, *, is_new: bool
) -> PulledList:
    """The `result` of a page with what it shows of the next one."""
    most = before.kind.most
    if before.is_guess:  # with a limit, the same again only shows that `offset` is ignored
        result = replace(result, went_on=is_new or (None if most and page.rows else False))
    if before.further and not is_new:
        is_whole = not page.rows or not (most or before.is_promised)
        return replace(result, further=(), is_complete=is_whole, may_be_cut=not (is_whole or most))
    if most and (len(result.found) >= most or (result.pages >= PAGES and page.more is not False)):
        return replace(result, further=())
    more = _more_by(before, page)
    is_shorter = before.is_guess and more is None and page.rows < before.most_rows
    if more is False or not page.rows or is_shorter:
        return replace(result, further=(), is_complete=True)
    what: dict[str, Any] = {"is_limited": bool(most), "filters": before.filters}
    if more or result.went_on or evidence.goes_on(before.kind.name, page.rows, **what):
        further = page.further or (("offset", str(result.rows)),)
        return replace(result, further=further, is_guess=not more, is_promised=bool(more))
    may_be_cut = evidence.may_be_cut(before.kind.name, page.rows, **what)
    if may_be_cut and page.rows >= FEWEST_CUT:
        return replace(result, further=())
    return replace(result, further=(), is_complete=True, may_be_cut=may_be_cut)


def _more_by(before: PulledList, page: ListPage[Any]) -> bool | None:
    """Return whether others follow a page: by its words, by those of pages before it, or by the limit that it tells.

    A limit that only repeats what was asked for shows nothing of pages that are shorter.
    """
    if page.more is not None or not page.rows:
        return page.more
    if page.limit and page.rows >= page.limit:
        return True
    is_told = page.limit not in (0, before.kind.most) or before.is_promised
    return False if is_told else None
