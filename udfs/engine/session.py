"""A session answers calls of functions: it binds, runs and accounts, for one client and one clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from dataservice.client import AsyncClient, Cost, Refresh, Resource
from dataservice.client.contract.windows import utc_day
from dataservice.errors import DataServiceError
from udfs.arguments.options import error_style
from udfs.cells import restyled, with_index
from udfs.engine import batch
from udfs.engine.batch import Batch, Reader, Run, cooperative
from udfs.engine.effects import EVER
from udfs.engine.foresight import AfterRefresh, Foresight, Guess, spread
from udfs.engine.registry import REGISTRY, find
from udfs.errors import CellError, UdfError, error_cell, reason

KEEP_AT_MOST_S = 900.0
"""How long hosts may keep any result: what is fresh for longer, as the catalogue is, costs nothing to ask again."""

KEEP_WITHOUT_ANSWER_S = 60.0
"""How long hosts may keep an error, or a result that no answer of the service went into: asking again is free."""


class Call(msgspec.Struct, frozen=True):
    """One call of a function with raw arguments, as a host hands it over."""

    function_id: str
    args: Sequence[Any] = ()


class Stale(msgspec.Struct, frozen=True):
    """Why a result is the last known one, and how old it is; or why a part of it is missing, at an age of 0."""

    age_s: float
    reason: str

    @classmethod
    def of(cls, run: Run, function: str, now: float) -> Stale | None:
        """What the function (or tool) called `function` was given instead of fresh answers; None for nothing."""
        if run.stale is not None:
            because = run.stale.stale_because or DataServiceError("no fresh answer")
            return cls(run.stale.age_s(now), reason(because, function))
        return None if run.failed is None else cls(0.0, reason(run.failed, function))


class Outcome(msgspec.Struct, frozen=True):
    """What a call gave: plain Python, a frame or a `CellError`; `fresh_for_s` is how long a host may keep it.

    `requests` sums up over a batch to what it spent, on answers and on failures: what several calls share is charged to
    the first that used it.
    """

    result: Any
    fresh_for_s: float
    stale: Stale | None = None
    requests: int = 0


class CostPreview(msgspec.Struct, frozen=True):
    """What a batch would spend if it were sent now, as far as can be known without sending anything.

    `resources` are those that would be read first; `fresh_calls` need none.
    """

    cost: Cost
    resources: frozenset[Resource[Any]]
    calls: int
    fresh_calls: int

    @property
    def requests(self) -> int:
        """The highest number of requests where there is one, else the lowest."""
        return self.cost.number


class Session:
    """Answers batches of calls through one client; every call ends in an `Outcome`, whatever happens."""

    def __init__(self, client: AsyncClient, *, clock: Callable[[], float] = time.time) -> None:
        self.client = client
        self._clock = clock

    async def answer(self, calls: Sequence[Call], *, reader: Reader | None = None) -> list[Outcome]:
        """The outcomes of `calls`, in order; equal resources are asked once, one bad call harms no other.

        `reader` answers in place of the client, such as one that ends by a deadline.
        """
        runs = await self._run(calls, reader or self.client)
        now = self._clock()
        ended = cooperative(zip(calls, runs, strict=True))
        return [_outcome(call, run, now) async for call, run in ended]

    async def _run(self, calls: Sequence[Call], reader: Reader) -> list[Run | CellError]:
        injected = self._injected()
        batch = Batch(reader, injected["now"])
        begun = [None if _runs_last(call) else _begun(call, injected, batch) async for call in cooperative(calls)]
        await batch.end()
        runs = [run or _begun(call, injected, batch) for call, run in zip(calls, begun, strict=True)]
        await batch.end()
        return runs

    async def value(self, function_id: str, args: Sequence[Any]) -> Any:
        """The result of one call as plain Python, a dated table with a date index; raises what went wrong."""
        injected = self._injected()
        run = Run(find(function_id).bind(args, injected["today"], injected))
        await batch.answer([run], self.client, injected["now"])
        if run.error is not None:
            raise run.error
        return with_index(run.result)

    async def cost(self, calls: Sequence[Call], *, after: Refresh | None = None) -> CostPreview:
        """What `answer(calls)` would spend now, or `after` a refresh; sends nothing."""
        injected = self._injected()
        client = self.client if after is None else AfterRefresh(self.client, after, injected["now"])
        costly: list[Call] = []
        missing: set[Resource[Any]] = set()
        async for call in cooperative(calls):
            run = _bound(call, injected)
            needed = await batch.needed([run], client, injected["now"]) if isinstance(run, Run) else set()
            if needed:
                costly.append(call)
                missing |= needed
        return CostPreview(await self._cost(costly, client), frozenset(missing), len(calls), len(calls) - len(costly))

    async def _cost(self, calls: Sequence[Call], client: AsyncClient | AfterRefresh) -> Cost:
        """From how many to how many requests `calls` would spend."""
        guesses = [Foresight(client, guess, self._clock()) for guess in Guess] if calls else []
        for foresight in guesses:
            await self._run(calls, foresight)
        return spread(foresight.by_subject() for foresight in guesses)

    def _injected(self) -> dict[str, Any]:
        now = self._clock()
        return {"now": now, "today": utc_day(now), "client": self.client}


def _runs_last(call: Call) -> bool:
    function = REGISTRY.get(call.function_id.upper())
    return function is not None and function.runs_last


def _begun(call: Call, injected: Mapping[str, Any], batch: Batch) -> Run | CellError:
    """A call begun, and ended where memory could answer; a function is never left bound but not begun."""
    run = _bound(call, injected)
    if isinstance(run, Run):
        batch.begin(run)
    return run


def _bound(call: Call, injected: Mapping[str, Any]) -> Run | CellError:
    try:
        return Run(find(call.function_id).bind(call.args, injected["today"], injected))
    except Exception as error:  # noqa: BLE001 - whatever it is, it becomes this one cell's error
        return error_cell(error, call.function_id)


def _outcome(call: Call, run: Run | CellError, now: float) -> Outcome:
    if isinstance(run, CellError):
        return Outcome(_styled(run, call), KEEP_WITHOUT_ANSWER_S)
    result = run.result if run.error is None else error_cell(run.error, call.function_id)
    stale = Stale.of(run, call.function_id.upper(), now) if run.error is None else None
    return Outcome(_styled(result, call), _keep_s(call, run, now), stale, run.requests)


def _keep_s(call: Call, run: Run, now: float) -> float:
    """Seconds that a host may keep the result: as long as all it rests on is fresh, and the function allows.

    What the service could not answer is asked again at once: the client decides whether that costs a request.
    """
    if run.failed is not None or (run.error is not None and not isinstance(run.error, UdfError)):
        return 0.0
    limit_s = find(call.function_id).keep_s
    if limit_s is None:
        rests_on_nothing = run.error is not None or run.fresh_until == EVER
        limit_s = KEEP_WITHOUT_ANSWER_S if rests_on_nothing else KEEP_AT_MOST_S
    return max(0.0, min(limit_s, run.fresh_until - now))


def _styled(result: Any, call: Call) -> Any:
    """The result with its errors as the call's own options want them: cell errors, their text, or blank."""
    if type(result) is float or len(call.args) < 2:
        return result
    style = error_style(_options_of(call))
    return result if style == "code" else restyled(result, style)


def _options_of(call: Call) -> Any:
    function = REGISTRY.get(call.function_id.upper())
    place = function.options_at if function else None
    return None if place is None or place >= len(call.args) else call.args[place]
