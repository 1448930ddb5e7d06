"""How a function asks for data without knowing where it comes from.

A function of the library is a coroutine that awaits nothing but what this file offers: `need` (an answer, whatever
it takes), `have` (an answer only if it is at hand, at no cost) and `gather` (several functions side by side). It
yields its questions; a driver answers them: from memory at once, from the network, or only counting what they would
cost (`udfs.engine.batch`). So one function serves every host, sync or async, and a preview of the cost runs the very
same code as the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from types import coroutine
from typing import Any, Protocol, TypeAlias, TypeVar, cast

import msgspec

from dataservice.client import Answer, CatalogueResource, HistoryResource, Resource

T = TypeVar("T")

FRESH = 0.0
"""As the `max_age_s` of `have`: only an answer that is still fresh, whenever it was fetched."""

EVER = float("inf")
"""As the `max_age_s` of `have`: however old. As a time: never."""

INTERNED = 16_384
"""Questions kept so that equal ones are one object with its hash worked out once: those of a large workbook, a kilobyte
each. Whoever makes names up fills it, too, for nothing."""


class Question(msgspec.Struct, frozen=True, cache_hash=True):
    """What a function wants to know: a resource, and how old a cached answer may be if only caches are to be asked."""

    resource: Resource[Any]
    cached_max_age_s: float | None = None
    """None: fetch it if need be. A number: only from a cache, and not older (`FRESH`: still fresh)."""
    instead_of: Resource[Any] | None = None
    """What it saves the asker from asking for, should that not exist; then it may be fetched all the same."""
    unless: HistoryResource | None = None
    """What makes it needless where a cache holds that, or a fetch of the same round brings it: the reply is None."""
    if_new: bool = False
    """Whether that counts only where nothing is known of the signal's past: else its detail refreshes that as well."""
    only_memory: bool = False
    """Whether a cached answer is accepted from memory only, so that the asker never waits for a store."""
    records: int = 0
    """How many of a list's records are wanted: fewer than these may be a part of them."""

    @property
    def may_fetch(self) -> bool:
        """Return whether a reply to it, or what is asked instead, may cost a request."""
        return self.cached_max_age_s is None or self.instead_of is not None

    def accepted(self, found: Answer[Any] | None, now: float) -> Answer[Any] | None:
        """Return what was found, if it is not older than the question allows."""
        max_age_s = self.cached_max_age_s
        if found is None or max_age_s is None:
            return found
        fits = found.is_fresh(now) if max_age_s == FRESH else found.is_within(max_age_s, now)
        return found if fits else None


class FastPath(msgspec.Struct, frozen=True):
    """How a function's result follows from one fresh answer in memory, without a coroutine: only for the sake of time.

    A cell whose signal is in memory takes two thirds of the time (7.5 µs of 11.3, 2,000 signals in one batch).

    The coroutine is what holds: for every call it asks the same question first, and goes on with the same `result`.
    """

    question: Callable[..., Sequence[Question]]
    """For the arguments of a call, the question whose reply may be enough; none where no reply is."""
    result: Callable[..., Any]
    """For the answer and the arguments, the result, or `MORE`; if it raises, the coroutine raises the same."""


MORE = object()
"""The result where a function has to ask more."""

PAUSE: tuple[Question, ...] = (Question(CatalogueResource(), cached_max_age_s=FRESH),)
"""Asked in place of questions by a function with much to do: the driver goes on with it after all others had a turn.

It is known by its identity. Whoever does not know it answers it like any question; the answer is not looked at.
"""

JOIN: tuple[Question, ...] = (Question(CatalogueResource(), cached_max_age_s=FRESH, only_memory=True),)
"""Asked in place of questions by a function that goes on once all that it began `Beside` it have ended.

It is known by its identity, like `PAUSE`.
"""


Reply: TypeAlias = Answer[Any] | Exception | None
Asking: TypeAlias = Coroutine[Sequence[Question], Sequence[Reply], T]


class Beside(msgspec.Struct, frozen=True, eq=False):
    """Functions that the driver is to begin beside the one that yields this: it gives back each, to end later."""

    askings: Sequence[Asking[Any]]


class Sought(msgspec.Struct, frozen=True):
    """Tells the driver which resource a function will fetch, or a part of it, if nothing at hand is enough."""

    resource: Resource[Any]


class Ended(Protocol):
    """A function that was begun; after `JOIN` one of these is what it ended with."""

    result: Any
    error: Any


STEPS_A_TURN = 50
"""Functions that `gather` begins in one go, which takes them a few thousandths of a second."""

_question = lru_cache(maxsize=INTERNED)(Question)


def asked_at_hand(resource: Resource[Any], *, max_age_s: float) -> tuple[Question]:
    """What `have` asks: for `ask`, where the same is asked so often that even making the question takes too long."""
    return (_question(resource, max_age_s),)


@coroutine
def ask(questions: Sequence[Question]) -> Generator[Sequence[Question], Sequence[Reply], Sequence[Reply]]:
    """The replies to `questions`, in their order."""
    return (yield questions)


async def need(resource: Resource[T], *, records: int = 0) -> Answer[T]:
    """The answer to `resource`; raises the `DataServiceError` that kept it away when there is not even a stale one.

    Of a list that may have been cut, fewer `records` than these are said to be a part.
    """
    reply = (await ask((_question(resource, records=records) if records else _question(resource),)))[0]
    if isinstance(reply, Exception):
        raise reply
    return reply  # type: ignore[return-value]  # drivers answer only a `have` with None


async def need_all(resources: Sequence[Resource[T]], *, records: int = 0) -> list[Answer[T] | Exception]:
    """The answers to all of `resources`, asked side by side, an error in the place of each that failed."""
    replies = await ask([_question(resource, records=records) for resource in resources])
    return cast("list[Answer[T] | Exception]", list(replies))


async def have(resource: Resource[T], *, max_age_s: float, records: int = 0) -> Answer[T] | None:
    """The cached answer to `resource` if one is not older than `max_age_s` (`FRESH`: still fresh); never a request.

    What other functions of the batch fetch at the same time is at hand too. `records` as for `need`.
    """
    question = _question(resource, max_age_s, records=records) if records else _question(resource, max_age_s)
    return (await ask((question,)))[0]  # type: ignore[return-value]  # never an exception


async def in_memory(resource: Resource[T]) -> Answer[T] | None:
    """As `have` a fresh answer, but from memory only: for what saves several other questions if it is there."""
    return (await ask((_question(resource, FRESH, only_memory=True),)))[0]  # type: ignore[return-value]  # never an exception


async def need_unless(resource: Resource[T], *, brought: HistoryResource) -> bool:
    """Return whether the answer to `resource`, or why there is none, is at hand now: `need` gives it.

    Not so where a cache or others of the batch have what holds `brought`: then that is at hand.
    """
    return (await ask((_question(resource, unless=brought),)))[0] is not None


@coroutine
def tell_sought(resource: Resource[Any]) -> Generator[Sought, Sequence[Reply], None]:
    """Say that `resource` will be fetched if nothing at hand is enough: who needs no more can wait for it."""
    yield Sought(resource)


async def check_catalogue_first(resource: Resource[T], of: Resource[Any], *, max_age_s: float) -> Answer[T] | None:
    """As `have`, asked before `of`, which may not exist: `resource` is fetched where that is likely to cost less.

    That is for the reader to say: `Reader.catalogue_check`.
    """
    return (await ask((_question(resource, max_age_s, of),)))[0]  # type: ignore[return-value]  # never an exception


async def gather(askings: Iterable[Asking[T]]) -> list[T | Exception]:
    """The results of several functions side by side, an exception in place of each failure.

    Each asks for itself, as if it were alone: none waits for what another needs. They are taken from `askings` when it
    is their turn to begin.
    """
    parts: list[Ended] = []
    waiting = iter(askings)
    while few := list(islice(waiting, STEPS_A_TURN)):
        if parts:
            await ask(PAUSE)
        parts += await _begun(Beside(few))
    await ask(JOIN)
    return [part.result if part.error is None else part.error for part in parts]


@coroutine
def _begun(beside: Beside) -> Generator[Beside, Sequence[Ended], Sequence[Ended]]:
    return (yield beside)
