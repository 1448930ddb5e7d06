"""From a call of a tool to its result: driven like a cell, accounted like a cell, refused in the same words."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from addin.mcp.tool import Found, Tool
from addin.protocol.deadline import WithinDeadline
from dataservice.client import Answer, AsyncClient, Quota
from dataservice.errors import DataServiceError
from udfs.arguments.dates import today_of
from udfs.engine import batch
from udfs.engine.batch import Run
from udfs.engine.effects import EVER
from udfs.errors import UdfError, error_cell, reason


class ToolFailure(Exception):  # noqa: N818 - what the protocol calls it: the tool's own failure, for the model to read
    """A tool has no result to give; the message says why and what to do."""


class Desk:
    """Answers calls of tools through one client, each within the deadline."""

    def __init__(self, client: AsyncClient, *, deadline_s: float, clock: Callable[[], float] = time.time) -> None:
        self._client = client
        self._deadline_s = deadline_s
        self._clock = clock

    async def answer(self, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The structured result of a call; raises `ToolFailure` with a text that a model can act on."""
        now = self._clock()
        try:
            run = Run(tool.bind(arguments, today_of(now)))
        except UdfError as error:
            raise ToolFailure(str(error)) from None
        await batch.answer([run], WithinDeadline(self._client, deadline_s=self._deadline_s), now)
        if run.error is not None:
            raise ToolFailure(self._failure(run.error, tool)) from None
        return self._result(run, tool)

    def _failure(self, error: Exception, tool: Tool) -> str:
        text = error_cell(error, tool.name).message
        quota = self._client.quota_now
        left = f"; {quota.remaining:,} requests left this month" if quota and not isinstance(error, UdfError) else ""
        return text + left

    def _result(self, run: Run, tool: Tool) -> dict[str, Any]:
        found: Found = run.result
        now = self._clock()
        result = {**found.members, "fresh_for_s": round(_fresh_for_s(run, now), 1), "requests": run.requests}
        if found.more:
            result["more"] = found.more
        if run.stale is not None:
            result["stale"] = _stale(run.stale, tool, now)
        if (quota := self._client.quota_now) is not None:
            result["quota"] = _quota(quota)
        return result


def _fresh_for_s(run: Run, now: float) -> float:
    return 0.0 if run.stale is not None or run.fresh_until == EVER else max(0.0, run.fresh_until - now)


def _stale(answer: Answer[Any], tool: Tool, now: float) -> dict[str, Any]:
    because = answer.stale_because or DataServiceError("no fresh answer")
    return {"age_s": round(answer.age_s(now), 1), "reason": reason(because, tool.name)}


def _quota(quota: Quota) -> dict[str, Any]:
    return {"tier": quota.tier, "cap": quota.cap, "remaining": quota.remaining}
