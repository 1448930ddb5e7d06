"""How a function asks for data without knowing where it comes from.

A function of the library is a coroutine that awaits nothing but what this file offers: `need` (an answer, whatever
it takes), `have` (an answer only if it is at hand, at no cost) and `gather` (several functions side by side). It
yields its questions; a driver answers them: from memory at once, from the network, or only counting what they would
cost (`udfs.drivers`). So one function serves every host, sync or async, and a preview of the cost runs the very same
code as the answer.
"""

from __future__ import annotations

from collections.abc import Coroutine, Generator, Sequence
from dataclasses import dataclass
from types import coroutine
from typing import Any, TypeAlias, TypeVar, cast

from dataservice.client import Answer, Resource
from dataservice.errors import DataServiceError

__all__ = ["Question", "Reply", "gather", "have", "need", "need_all"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Question:
    """What a function wants to know: a resource, and how old a cached answer may be if only the cache is to be asked."""

    resource: Resource[Any]
    cached_max_age_s: float | None = None
    """None: fetch it if need be. A number: answer only from a cache, however old up to this, else None."""


Reply: TypeAlias = Answer[Any] | DataServiceError | None
Asking: TypeAlias = Coroutine[Sequence[Question], Sequence[Reply], T]


@coroutine
def _ask(questions: Sequence[Question]) -> Generator[Sequence[Question], Sequence[Reply], Sequence[Reply]]:
    return (yield questions)


async def need(resource: Resource[T]) -> Answer[T]:
    """The answer to `resource`; raises the `DataServiceError` that kept it away when there is not even a stale one."""
    (reply,) = await _ask((Question(resource),))
    if isinstance(reply, DataServiceError):
        raise reply
    return cast("Answer[T]", reply)


async def need_all(resources: Sequence[Resource[T]]) -> list[Answer[T] | DataServiceError]:
    """The answers to all of `resources`, asked side by side, an error in the place of each that failed."""
    replies = await _ask([Question(resource) for resource in resources])
    return cast("list[Answer[T] | DataServiceError]", list(replies))


async def have(resource: Resource[T], *, max_age_s: float) -> Answer[T] | None:
    """The cached answer to `resource` if one is at hand and not older than `max_age_s`; never costs a request."""
    (reply,) = await _ask((Question(resource, max_age_s),))
    return cast("Answer[T] | None", reply)


async def gather(askings: Sequence[Asking[T]]) -> list[T | Exception]:
    """The results of several functions whose questions are asked together, an exception in the place of each failure."""
    results: list[T | Exception | None] = [None] * len(askings)
    waiting: list[tuple[int, Sequence[Question]]] = []

    def step(index: int, replies: Sequence[Reply] | None) -> None:
        try:
            waiting.append((index, askings[index].send(replies)))  # type: ignore[arg-type]
        except StopIteration as end:
            results[index] = end.value
        except Exception as error:  # noqa: BLE001 - one failed item must not harm its neighbours
            results[index] = error

    for index in range(len(askings)):
        step(index, None)
    while waiting:
        asked, waiting = waiting, []
        replies = await _ask([question for _, questions in asked for question in questions])
        start = 0
        for index, questions in asked:
            step(index, replies[start : start + len(questions)])
            start += len(questions)
    return cast("list[T | Exception]", results)
