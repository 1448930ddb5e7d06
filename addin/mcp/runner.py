"""From a call of a tool to its result: run and accounted for like a cell, refused in the same words."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from addin.config.consent import consent_for, how_to_allow
from addin.config.settings import Settings
from addin.mcp.answer_size import shortened
from addin.mcp.texts import WORDS_OF_OTHERS, seen
from addin.mcp.tool import MAX_REQUESTS, Found, Tool
from addin.protocol.deadline import WithinDeadline
from addin.protocol.load import GuardedReader, Load
from dataservice.client import AsyncClient, Meter
from dataservice.client.contract.windows import utc_day
from udfs.engine import batch
from udfs.engine.effects import EVER
from udfs.engine.run import Run
from udfs.engine.session import Stale
from udfs.errors import UdfError, error_cell
from udfs.records.resolve import SEE_SIGNALS

MAX_MESSAGE_CHARS = 2_000
"""Enough for every sentence of ours; a list of a thousand names in it helps no model."""

_WORDS = {
    SEE_SIGNALS: "list_signals lists and searches those there are",
    "set one with `addin key set` or in the task pane": "the user must set one with `addin key set`",
    "set a valid one with `addin key set` or in the task pane": "the user must set a valid one with `addin key set`",
    "try Refresh in a minute": "try again in a minute",
}
"""What messages advise to do in a sheet, and the same for a model."""


def in_words_of_tools(message: str) -> str:
    """The message of a cell with the advice that fits a tool.

    >>> in_words_of_tools("no signal 'x'; SIGNALS lists and searches those there are")
    "no signal 'x'; list_signals lists and searches those there are"
    """
    for cells, tools in _WORDS.items():
        message = message.replace(cells, tools)
    return message


class ToolFailure(Exception):  # noqa: N818 - what the protocol calls it: the tool's own failure, for the model to read
    """A tool has no result to give; the message says why and what to do."""


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
        self._untold = Meter()
        """What failed or late calls have spent: told with the next result."""

    async def answer(self, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The structured result of a call; raises `ToolFailure` with a text that a model can act on."""
        now = self._clock()
        arguments, settings, how = dict(arguments), self._settings, how_to_allow(self._settings)
        if tool.may_spend_many and (most := arguments.pop(MAX_REQUESTS, None)) is not None:
            settings, how = self._bounded(most), f"ask for less, or raise {MAX_REQUESTS}"
        try:
            run = Run(tool.bind(arguments, utc_day(now)))
        except UdfError as error:
            raise ToolFailure(seen(in_words_of_tools(str(error)))[:MAX_MESSAGE_CHARS]) from None
        within = WithinDeadline(self._client, deadline_s=self._deadline_s, late=self._untold)
        load = Load(consent_for(self._client, settings), how)
        try:
            await batch.answer([run], GuardedReader(within, load), now, load.gate)
        except asyncio.CancelledError:
            self._untold.add(run.requests)
            raise
        if run.error is not None:
            raise ToolFailure(self._failure(run, run.error, tool)) from None
        return self._result(run, tool)

    def _bounded(self, most: Any) -> Settings:
        """The settings with no more requests for one call than its caller allows."""
        if not isinstance(most, int) or isinstance(most, bool) or most < 0:
            raise ToolFailure(f"{MAX_REQUESTS} takes a whole number of 0 or more, not {str(most)[:60]!r}")
        return msgspec.structs.replace(self._settings, ask_above=min(most, self._settings.ask_above))

    def _failure(self, run: Run, error: BaseException, tool: Tool) -> str:
        """Why a call failed, what it spent, and what is left."""
        text: str = seen(in_words_of_tools(error_cell(error, tool.name).message))[:MAX_MESSAGE_CHARS]
        quota, spent = self._client.quota_now, run.requests + self._untold.take()
        told = f"; {spent:,} {'request' if spent == 1 else 'requests'} spent" if spent else ""
        tells_left = quota is not None and (spent or not isinstance(error, UdfError))
        return text + told + (f"; {quota.remaining:,} requests left this month" if quota and tells_left else "")

    def _result(self, run: Run, tool: Tool) -> dict[str, Any]:
        found: Found = run.result
        now = self._clock()
        stale = Stale.of(run, tool.name, now)
        ages = stale is None and run.fresh_until != EVER
        fresh_for_s = max(0.0, run.fresh_until - now) if ages else 0.0
        members = {name: seen(value) for name, value in found.members.items()}
        result = {**members, "fresh_for_s": round(fresh_for_s, 1), "requests": run.requests + self._untold.take()}
        if any(name in members for name in tool.others):
            result[WORDS_OF_OTHERS] = [name for name in tool.others if name in members]
        if found.more:
            result["more"] = seen(found.more)
        if stale is not None:
            result["stale"] = {"age_s": round(stale.age_s, 1), "reason": in_words_of_tools(stale.reason)}
        if (quota := self._client.quota_now) is not None:
            result["quota"] = {"tier": quota.tier, "cap": quota.cap, "remaining": quota.remaining}
        return shortened(result, offset=found.offset)
