"""A session answers calls of functions: it binds, drives and accounts, for one client and one clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from dataservice.client import AsyncClient, Resource
from udfs import drivers
from udfs.drivers import Run
from udfs.errors import CellError, UdfError, error_cell, reason
from udfs.options import error_style
from udfs.registry import find

__all__ = ["Call", "CostPreview", "Outcome", "Session", "Stale", "current_session", "use"]

KEEP_WITHOUT_ANSWER_S = 60.0
"""How long hosts may keep a result that no answer of the service went into, such as a wrong argument."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a function with raw arguments, as a host hands it over."""

    function_id: str
    args: Sequence[Any] = ()


@dataclass(frozen=True, slots=True)
class Stale:
    """Why a result is the last known one, and how old it is."""

    age_s: float
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call gave: plain Python, a frame or a `CellError`; `fresh_for_s` is how long a host may keep it."""

    result: Any
    fresh_for_s: float
    stale: Stale | None = None
    requests: int = 0


@dataclass(frozen=True, slots=True)
class CostPreview:
    """What a batch would spend if it were sent now."""

    requests: int
    resources: frozenset[Resource[Any]]
    calls: int
    fresh_calls: int


class Session:
    """Answers batches of calls through one client; every call ends in an `Outcome`, whatever happens."""

    def __init__(self, client: AsyncClient, *, clock: Callable[[], float] = time.time) -> None:
        self.client = client
        self._clock = clock

    async def answer(self, calls: Sequence[Call]) -> list[Outcome]:
        """The outcomes of `calls`, in order; equal resources are asked once, one bad call harms no other."""
        now = self._clock()
        prepared = [self._prepare(call, now) for call in calls]
        await drivers.answer([run for run in prepared if isinstance(run, Run)], self.client)
        now = self._clock()
        return [self._outcome(call, run, now) for call, run in zip(calls, prepared, strict=True)]

    async def value(self, function_id: str, args: Sequence[Any]) -> Any:
        """The result of one call as plain Python; raises what went wrong."""
        now = self._clock()
        run = Run(self._bind(Call(function_id, args), now))
        await drivers.answer([run], self.client)
        if run.error is not None:
            raise run.error
        return run.result

    async def cost(self, calls: Sequence[Call]) -> CostPreview:
        """What `answer(calls)` would spend now; sends nothing."""
        now = self._clock()
        runs = [run for run in (self._prepare(call, now) for call in calls) if isinstance(run, Run)]
        fresh = 0
        missing: set[Resource[Any]] = set()
        for run in runs:
            needed = await drivers.needed([run], self.client)
            fresh += not needed
            missing |= needed
        requests = await self.client.cost(missing)
        return CostPreview(requests, frozenset(missing), len(calls), fresh + len(calls) - len(runs))

    def _bind(self, call: Call, now: float) -> Any:
        today = datetime.fromtimestamp(now, UTC).date()
        return find(call.function_id).bind(call.args, today, {"now": now, "client": self.client})

    def _prepare(self, call: Call, now: float) -> Run | CellError:
        try:
            return Run(self._bind(call, now))
        except Exception as error:  # noqa: BLE001 - whatever it is, it becomes this one cell's error
            return error_cell(error, call.function_id)

    def _outcome(self, call: Call, run: Run | CellError, now: float) -> Outcome:
        if isinstance(run, CellError):
            return Outcome(_styled(run, call), KEEP_WITHOUT_ANSWER_S)
        keep_s = _keep_s(call, run, now)
        if run.error is not None:
            return Outcome(_styled(error_cell(run.error, call.function_id), call), keep_s)
        return Outcome(run.result, keep_s, _staleness(call, run, now), sum(answer.requests for answer in run.told))


def _keep_s(call: Call, run: Run, now: float) -> float:
    limit = find(call.function_id).keep_s
    if limit is not None:
        return limit
    if run.error is not None and not isinstance(run.error, UdfError):
        return 0.0
    return min((answer.fresh_for_s(now) for answer in run.told), default=KEEP_WITHOUT_ANSWER_S)


def _staleness(call: Call, run: Run, now: float) -> Stale | None:
    stale = [answer for answer in run.told if answer.stale_because is not None]
    if not stale:
        return None
    oldest = max(stale, key=lambda answer: answer.age_s(now))
    assert oldest.stale_because is not None  # noqa: S101 - for the type checker; filtered above
    return Stale(oldest.age_s(now), reason(oldest.stale_because, call.function_id.upper()))


def _styled(error: CellError, call: Call) -> Any:
    """The error as the call's own options want it: a cell error, its text, or blank."""
    match error_style(call.args):
        case "text":
            return error.message
        case "blank":
            return None
        case _:
            return error


_session: ContextVar[Session | None] = ContextVar("session", default=None)


def use(session: Session) -> None:
    """Make `session` the one that `await udfs.SIGNAL(...)` goes through in this context."""
    _session.set(session)


def current_session() -> Session:
    """The session in use; the first call makes one from the environment (`DATA_SERVICE_URL`, `DATA_SERVICE_API_KEY`)."""
    session = _session.get()
    if session is None:
        session = Session(AsyncClient())
        use(session)
    return session
