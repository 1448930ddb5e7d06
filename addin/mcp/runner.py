"""From a call of a tool to its result: run and accounted for like a cell, refused in the same words."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import msgspec

from addin.config.consent import consent_for, how_to_allow
from addin.config.settings import Settings
from addin.mcp.answer_size import shortened
from addin.mcp.schemas import BOUND, MAX_REQUESTS
from addin.mcp.texts import WORDS_OF_OTHERS, in_words_of_tools, seen
from addin.mcp.tool import Found, Tool
from addin.mcp.tools.status import quota_members
from addin.protocol.consent import Consent
from addin.protocol.pending_batch import PendingBatch
from addin.protocol.readers import WithinDeadline, guarded
from dataservice.client import Answer, AsyncClient, Bound, Catalogue, CatalogueResource, Meter, Resource
from dataservice.client.contract import CATALOGUE_AGE_S, utc_day
from dataservice.errors import BoundReachedError
from udfs.engine import EVER, Run, Stale, in_turns
from udfs.engine import answer as answer_runs
from udfs.errors import UdfError, error_cell

MAX_MESSAGE_CHARS = 1_000
"""Enough for every sentence of ours; a list of a thousand names in it helps no model."""

RAISE = f"ask for less, or raise {MAX_REQUESTS}"
"""What to do where a call needs more than its caller allows."""


class ToolFailure(Exception):  # noqa: N818 - what the protocol calls it: the tool's own failure, for the model to read
    """A tool has no result to give; the message says why and what to do, and tells so many `requests`."""

    def __init__(self, message: str, requests: int = 0) -> None:
        super().__init__(message)
        self.requests = requests


class ToolRunner:
    """Answers calls of tools through one client, each within the deadline."""

    def __init__(
        self,
        client: AsyncClient,
        *,
        deadline_s: float,
        settings: Settings | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._deadline_s = deadline_s
        self._settings = settings or Settings()
        self._clock = clock
        self._since = clock()
        self._untold = Meter()
        """What failed or late calls have spent: told with the next result."""

    def not_told(self, requests: int) -> None:
        """Count requests whose answer reached nobody, because its caller has left: the next result tells them."""
        self._untold.add(requests)

    async def answer(self, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The structured result of a call; raises `ToolFailure` with a text that a model can act on.

        Whoever cannot pass it on gives the requests that it tells to `not_told`.
        """
        now = self._clock()
        arguments, bound, how = dict(arguments), None, how_to_allow(self._settings)
        try:
            if not tool.sends_nothing and (most := arguments.pop(MAX_REQUESTS, None)) is not None:
                bound = Bound(BOUND.read(most, MAX_REQUESTS, utc_day(now)))
                how = (
                    RAISE if bound.most < self._settings.ask_above else how
                )  # to raise it further would change nothing
            asking = tool.bind(arguments, now, self._client)
            run = await _looked_at(asking) if tool.sends_nothing else Run(asking, used={})
        except UdfError as error:
            raise ToolFailure(_in_one_line(str(error))) from None
        if not tool.sends_nothing:
            await self._read(run, PendingBatch(self._consent(bound), how, bound), now)
        if run.error is not None:
            raise self._failure(run, run.error, tool) from None
        result: dict[str, Any] = {}
        try:
            async for (ended,) in in_turns([run]):  # thousands of rows take a turn of their own
                result = self._result(ended, tool)
        except asyncio.CancelledError:
            self.not_told(result.get("requests", run.requests))
            raise
        return result

    async def catalogue(self) -> Catalogue:
        """The catalogue, without a request where one of the last day is at hand; what it spends is told later.

        Raises `DataServiceError` where there is none.
        """
        found = await self._client.have(CatalogueResource(), max_age_s=CATALOGUE_AGE_S)
        if found is None:
            within, spent = WithinDeadline(self._client, deadline_s=self._deadline_s, late=self._untold), Meter()
            try:
                found = await within.read(CatalogueResource(), meter=spent)
            finally:
                self._untold.add(spent.take())
        return found.value

    async def _read(self, run: Run, batch: PendingBatch, now: float) -> None:
        """Bring the call to its end within the deadline."""
        reader = guarded(self._client, batch, deadline_s=self._deadline_s, late=self._untold)
        try:
            await answer_runs([run], reader, now, reader.gate)
        except asyncio.CancelledError:
            self._untold.add(run.requests)
            raise
        finally:
            self._untold.add(batch.untold.take() - run.requests)  # what finding out took that no read counts

    def _consent(self, bound: Bound | None) -> Consent:
        """Lets no more requests pass than a caller allows: what needs more is not even begun."""
        most = self._settings.ask_above if bound is None else min(bound.most, self._settings.ask_above)
        bounded = msgspec.structs.replace(self._settings, ask_above=most)
        return consent_for(self._client, bounded, since=self._since, clock=self._clock)

    def _failure(self, run: Run, error: BaseException, tool: Tool) -> ToolFailure:
        """Return why a call failed, what it spent, and what is left."""
        advice = f"; {RAISE}" if isinstance(error, BoundReachedError) else ""
        text = _in_one_line(error_cell(error, tool.name).message) + advice
        quota, spent = self._client.quota_now, run.requests + self._untold.take()
        told = f"; {spent:,} {'request' if spent == 1 else 'requests'} spent" if spent else ""
        tells_left = quota is not None and (spent or not isinstance(error, UdfError))
        left = f"; {quota.remaining:,} requests left this month" if quota and tells_left else ""
        return ToolFailure(text + told + left, spent)

    def _result(self, run: Run, tool: Tool) -> dict[str, Any]:
        found: Found = run.result
        now = self._clock()
        members = {name: seen(value) for name, value in found.members.items()}
        result = {**members, **self._account(run, tool, now)}
        if found.suggestions:
            result["suggestions"] = seen(list(found.suggestions))
        others = [name for name in (*tool.others, "suggestions", "stale") if name in result]
        if others:
            result[WORDS_OF_OTHERS] = others
        near = "suggestions has near names" if found.suggestions else ""
        if told := "; ".join(filter(None, [found.more, near])):
            result["more"] = seen(told)
        if found.next:
            result["next"] = dict(found.next)
        return shortened(result, found.listed, found.goes_on)

    def _account(self, run: Run, tool: Tool, now: float) -> dict[str, Any]:
        """Return what the call spent, how old its answers are, and what is left."""
        stale = Stale.of(run, tool.name, now)
        ages = stale is None and run.fresh_until != EVER
        fresh_for_s = max(0.0, run.fresh_until - now) if ages else 0.0
        told: dict[str, Any] = {
            "fresh_for_s": round(fresh_for_s, 1),
            "requests": run.requests + self._untold.take(),
        }
        if (age_s := _oldest(run.used or {}, now)) is not None:
            told["age_s"] = age_s
        if stale is not None:
            told["stale"] = {"age_s": round(stale.age_s, 1), "reason": seen(in_words_of_tools(stale.reason))}
        if (quota := self._client.quota_now) is not None:
            told["quota"] = quota_members(quota, now)
        return told


def _in_one_line(message: str) -> str:
    """The message as one sentence of ours: the names in it may be by others, and no line of theirs stands by itself."""
    return " ".join(str(seen(in_words_of_tools(message))).split())[:MAX_MESSAGE_CHARS]


async def _looked_at(asking: Coroutine[Any, Any, Found]) -> Run:
    """A call that reads nothing, as a run that has ended."""
    return Run(None, await asking)


def _oldest(used: Mapping[Resource[Any], Answer[Any]], now: float) -> float | None:
    """The age of the oldest answer that holds data, in seconds: the catalogue only tells what they are."""
    ages = [
        answer.age_s(now)
        for resource, answer in used.items()
        if resource.is_requested and (len(used) == 1 or not isinstance(resource, CatalogueResource))
    ]
    return round(max(ages), 1) if ages else None
