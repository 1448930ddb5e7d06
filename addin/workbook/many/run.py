"""A run over many books: their cost together before the first request, then each book for itself, whole or left."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from addin.errors import AddinError
from addin.workbook.refresh.refresh import TooFewRequestsError, book_cost
from addin.workbook.refresh.report import BookCost, Refreshed, open_cost
from dataservice.client import Cost
from udfs import Call, Session

NOTHING = Cost(0, 0)


@dataclass(slots=True)
class BooksCost:
    """The requests that a refresh of several books would spend together, and each of them on its own."""

    cost: Cost = NOTHING
    remaining: int | None = None
    books: dict[Path, BookCost] = field(default_factory=dict)
    failed: dict[Path, str] = field(default_factory=dict)
    """The books that could not be read, with the reasons."""

    @property
    def affordable(self) -> bool:
        """Return whether the run may finish: not if its fewest requests are too many."""
        return self.remaining is None or self.cost.at_least <= self.remaining


@dataclass(frozen=True, slots=True)
class BookDone:
    """The result for one book: a report, or the reason why it was left as it was."""

    book: Path
    target: Path
    report: Refreshed | None = None
    error: str = ""

    @property
    def is_current(self) -> bool:
        """Return whether every formula of ours in it shows a current value, and all that was asked for was done."""
        report = self.report
        return report is not None and report.is_current


async def books_cost(
    session: Session,
    books: Sequence[Path],
    *,
    namespace: str = "DS",
    progress: Callable[[Path, int], None] | None = None,
) -> BooksCost:
    """Return what refreshing `books` would spend: what several of them need is counted once. Nothing is sent."""
    found = BooksCost()
    calls: list[Call] = []
    for done, book in enumerate(books):
        if progress:
            progress(book, done)
        try:
            cost = await book_cost(session, book, namespace=namespace, each_sheet=False)
        except AddinError as error:
            found.failed[book] = str(error)
        else:
            found.books[book] = cost
            calls += cost.calls
    least = (await session.cost(calls)).cost
    possible = [call for cost in found.books.values() for call in cost.possible]
    most = (await session.cost([*calls, *possible])).cost if possible else least
    is_open = any(cost.is_open for cost in found.books.values())
    guessed = [call for cost in found.books.values() for call in cost.guessed]
    usual = (await session.cost([*calls, *guessed])).cost.usual if is_open else None
    found.cost = open_cost(least, usual) if is_open else replace(least, at_most=most.at_most)
    quota = session.client.quota_now
    found.remaining = quota.remaining if quota else None
    return found


def refuse_if_too_dear(cost: BooksCost) -> None:
    """Raise `TooFewRequestsError` if the key has too few requests left for all books."""
    if not cost.affordable:
        raise TooFewRequestsError(
            f"the {len(cost.books):,} books need {cost.cost} together and the key has {cost.remaining} left "
            "this month; nothing was sent (--force starts all the same)"
        )


async def refresh_books(
    books: Sequence[Path], targets: Sequence[Path], refresh: Callable[[Path, Path], Awaitable[Refreshed]]
) -> AsyncIterator[BookDone]:
    """Refresh one book after the other and tell each as it is done; one that cannot be refreshed stops no other."""
    for book, target in zip(books, targets, strict=True):
        try:
            yield BookDone(book, target, await refresh(book, target))
        except AddinError as error:
            yield BookDone(book, target, error=str(error))
