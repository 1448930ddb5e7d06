"""The drivers: they answer what functions ask (`udfs.needs`), and keep account of what each of them was told.

`answer` fetches what is not at hand; `cost` only counts. Both run all functions of a batch side by side, round by
round: every round collects the questions of all, asks each resource once, and goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from dataservice.client import Answer, Resource
from dataservice.errors import DataServiceError
from udfs.needs import Asking, Question, Reply

__all__ = ["Reader", "Run", "answer", "needed"]

T = TypeVar("T")


class Reader(Protocol):
    """What a driver needs of a client."""

    def peek(self, resource: Resource[T], *, max_age_s: float | None = None) -> Answer[T] | None:
        """The answer in memory, fresh or not older than `max_age_s`."""

    async def have(self, resource: Resource[T], *, max_age_s: float) -> Answer[T] | None:
        """The answer in any cache that is not older than `max_age_s`."""

    async def read(self, resource: Resource[T]) -> Answer[T]:
        """The answer, from the service if need be."""


@dataclass(slots=True, eq=False)
class Run:
    """One function under way: what it asks now, what it was told so far, and how it ended."""

    asking: Asking[Any]
    told: list[Answer[Any]] = field(default_factory=list)
    result: Any = None
    error: Exception | None = None
    questions: Sequence[Question] = ()

    def step(self, replies: Sequence[Reply] | None) -> None:
        """Go on with `replies` up to the next questions or the end."""
        try:
            self.questions = self.asking.send(replies)  # type: ignore[arg-type]
        except StopIteration as end:
            self.result, self.questions = end.value, ()
        except Exception as error:  # noqa: BLE001 - whatever it is, it becomes this one cell's error
            self.error, self.questions = error, ()

    def reply(self, known: dict[Question, Reply]) -> None:
        """Answer the questions from `known` and go on."""
        replies = [known[question] for question in self.questions]
        self.told.extend(reply for reply in replies if isinstance(reply, Answer))
        self.step(replies)

    def close(self) -> None:
        """Leave the function where it stands."""
        self.asking.close()
        self.questions = ()


async def answer(runs: Sequence[Run], reader: Reader) -> None:
    """Bring all `runs` to their end; each resource is asked at most once a round, the widest first."""
    known: dict[Question, Reply] = {}
    for run in runs:
        _advance(run, reader, known)
    while waiting := [run for run in runs if run.questions]:
        missing = {q: None for run in waiting for q in run.questions if q not in known}
        await _ask(list(missing), reader, known)
        for run in waiting:
            run.reply(known)
            _advance(run, reader, known, start=False)


async def needed(runs: Sequence[Run], reader: Reader) -> set[Resource[Any]]:
    """The resources that `answer` would have to fetch; nothing is fetched.

    A function goes on with the last known value, where there is one, so that what it asks next is counted too.
    """
    missing: set[Resource[Any]] = set()
    for run in runs:
        run.step(None)
        while run.questions:
            replies: list[Reply] = []
            for question in run.questions:
                fresh_age = question.cached_max_age_s
                reply = reader.peek(question.resource, max_age_s=fresh_age)
                if reply is None:
                    reply = await reader.have(question.resource, max_age_s=_EVER if fresh_age is None else fresh_age)
                    if fresh_age is None and (reply is None or not reader.peek(question.resource)):
                        missing.add(question.resource)
                replies.append(reply)
            if any(r is None and q.cached_max_age_s is None for r, q in zip(replies, run.questions, strict=True)):
                run.close()
            else:
                run.step(replies)
    return missing


_EVER = float("inf")


def _advance(run: Run, reader: Reader, known: dict[Question, Reply], *, start: bool = True) -> None:
    """Go on as far as memory alone can answer."""
    if start:
        run.step(None)
    while run.questions:
        for question in run.questions:
            if question not in known:
                found = reader.peek(question.resource, max_age_s=question.cached_max_age_s)
                if found is None:
                    return
                known[question] = found
        run.reply(known)


async def _ask(questions: Sequence[Question], reader: Reader, known: dict[Question, Reply]) -> None:
    """Ask for all `questions`: first those whose answer may hold the answers to others, then the rest."""
    wide, narrow = _widest_first(questions)
    for part in (wide, narrow):
        replies = await asyncio.gather(*(_reply(question, reader) for question in part))
        known.update(zip(part, replies, strict=True))


def _widest_first(questions: Iterable[Question]) -> tuple[list[Question], list[Question]]:
    """The questions in order of priority, those apart whose answer another's may hold."""
    asked = sorted(questions, key=lambda question: question.resource.priority)
    families: dict[Hashable, list[Question]] = {}
    for question in asked:
        families.setdefault(question.resource.family, []).append(question)
    wide: list[Question] = []
    narrow: list[Question] = []
    for question in asked:
        held = question.cached_max_age_s is None and any(
            other.resource.covers(question.resource)
            for other in families[question.resource.family]
            if other.resource != question.resource
        )
        (narrow if held else wide).append(question)
    return wide, narrow


async def _reply(question: Question, reader: Reader) -> Reply:
    if question.cached_max_age_s is not None:
        return await reader.have(question.resource, max_age_s=question.cached_max_age_s)
    try:
        return await reader.read(question.resource)
    except DataServiceError as error:
        return error
