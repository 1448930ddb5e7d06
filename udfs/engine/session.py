"""A session answers calls of functions: it binds, runs and accounts, for one client and one clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from dataservice.client import Answer, AsyncClient, Cost, Refresh, Resource
from dataservice.client.contract.windows import utc_day
from dataservice.errors import DataServiceError
from udfs.arguments.options import error_style
from udfs.cells import restyled, with_index
from udfs.engine import batch
from udfs.engine.batch import Batch, Reader
from udfs.engine.binding import Bindings
from udfs.engine.effects import EVER
from udfs.engine.following import Gate, Listener, Reporter
from udfs.engine.foresight import AfterRefresh, Foresight, Guess, spread
from udfs.engine.registry import REGISTRY
from udfs.engine.run import Run
from udfs.engine.turns import cooperative, in_turns
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
    answers: Mapping[Resource[Any], Answer[Any]] | None = None
    """The answers that went into the result, where the session traces them."""


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
    """Answers batches of calls through one client; every call ends in an `Outcome`, whatever happens.

    `reader` answers in place of the client. With `traced`, each outcome names the answers that went into it.
    """

    def __init__(
        self,
        client: AsyncClient,
        *,
        clock: Callable[[], float] = time.time,
        reader: Reader | None = None,
        traced: bool = False,
    ) -> None:
        self.client = client
        self._clock = clock
        self._reader: Reader = reader or client
        self._traced = traced

    def now(self) -> float:
        """The session's time, in seconds since 1970."""
        return self._clock()

    async def answer(
        self, calls: Sequence[Call], *, reader: Reader | None = None, gate: Gate | None = None
    ) -> list[Outcome]:
        """The outcomes of `calls`, in order; equal resources are asked once, one bad call harms no other.

        `reader` answers in place of the client, such as one that ends by a deadline; `gate` is told what is to be
        fetched before it is.
        """
        bindings = self._bindings()
        runs = await self._run(calls, reader or self._reader, bindings, gate)
        now = self._clock()
        outcomes: list[Outcome] = []
        async for part in in_turns(list(zip(calls, runs, strict=True))):
            outcomes += [_outcome(call, run, bindings, now) for call, run in part]
        return outcomes

    async def follow(self, calls: Sequence[Call], listener: Listener, *, reader: Reader, gate: Gate) -> None:
        """Tell `listener` the outcome of each of `calls` as soon as it is there; else as `answer`.

        A call that nobody wants any more is given up: it has no outcome.
        """
        bindings = self._bindings()
        reporter = Reporter(listener, lambda place, run: _outcome(calls[place], run, bindings, self._clock()))
        batch = Batch(reader, bindings.now, gate=gate, follower=reporter)
        last = {each for each in {call.function_id for call in calls} if _runs_last(each)}
        for is_last in (False, True):
            part = [place for place, call in enumerate(calls) if (call.function_id in last) is is_last]
            async for place in cooperative(part):
                run = _begun(calls[place], bindings, batch)
                if isinstance(run, Run):
                    reporter.begun(place, run)
                else:
                    listener.answered(place, _outcome(calls[place], run, bindings, bindings.now))
            await batch.end()

    async def _run(
        self, calls: Sequence[Call], reader: Reader, bindings: Bindings, gate: Gate | None = None
    ) -> list[Run | CellError]:
        batch = Batch(reader, bindings.now, gate=gate)
        last = {each for each in {call.function_id for call in calls} if _runs_last(each)}
        begin = partial(_begun, bindings=bindings, batch=batch, traced=self._traced)
        begun: list[Run | CellError | None] = []
        async for part in in_turns(calls):
            begun += [None if call.function_id in last else begin(call) for call in part]
        await batch.end()
        runs = [run or begin(call) for call, run in zip(calls, begun, strict=True)]
        await batch.end()
        return runs

    async def value(self, function_id: str, args: Sequence[Any]) -> Any:
        """The result of one call as plain Python, a dated table with a date index; raises what went wrong."""
        bindings = self._bindings()
        run = Run(bindings[function_id].call(args))
        await batch.answer([run], self.client, bindings.now)
        if run.error is not None:
            raise run.error
        return with_index(run.result)

    async def cost(self, calls: Sequence[Call], *, after: Refresh | None = None) -> CostPreview:
        """What `answer(calls)` would spend now, or `after` a refresh; sends nothing."""
        bindings = self._bindings()
        client = self.client if after is None else AfterRefresh(self.client, after, bindings.now)
        costly: list[Call] = []
        missing: set[Resource[Any]] = set()
        async for call in cooperative(calls):
            run = _bound(call, bindings)
            needed = await batch.needed([run], client, bindings.now) if isinstance(run, Run) else set()
            if needed:
                costly.append(call)
                missing |= needed
        return CostPreview(await self._cost(costly, client), frozenset(missing), len(calls), len(calls) - len(costly))

    async def _cost(self, calls: Sequence[Call], client: AsyncClient | AfterRefresh) -> Cost:
        """From how many to how many requests `calls` would spend."""
        guesses = [Foresight(client, guess, self._clock()) for guess in Guess] if calls else []
        for foresight in guesses:
            await self._run(calls, foresight, self._bindings())
        return spread(foresight.by_subject() for foresight in guesses)

    def _bindings(self) -> Bindings:
        now = self._clock()
        return Bindings({"now": now, "today": utc_day(now), "client": self.client})


def _runs_last(function_id: str) -> bool:
    function = REGISTRY.get(function_id.upper())
    return function is not None and function.runs_last


def _begun(call: Call, bindings: Bindings, batch: Batch, *, traced: bool = False) -> Run | CellError:
    """A call begun, and ended where memory could answer; a function is never left bound but not begun."""
    run = _bound(call, bindings)
    if isinstance(run, Run):
        run.used = {} if traced else None
        batch.begin(run)
    return run


def _bound(call: Call, bindings: Bindings) -> Run | CellError:
    try:
        return Run(bindings[call.function_id].call(call.args))
    except Exception as error:  # noqa: BLE001 - whatever it is, it becomes this one cell's error
        return error_cell(error, call.function_id)


def _outcome(call: Call, run: Run | CellError, bindings: Bindings, now: float) -> Outcome:
    if isinstance(run, CellError):
        return Outcome(_styled(run, call, _options_at(call.function_id)), KEEP_WITHOUT_ANSWER_S)
    function = bindings[call.function_id].function
    result, stale = run.result, None
    if run.error is not None:
        result = error_cell(run.error, call.function_id)
    elif run.stale is not None or run.failed is not None:
        stale = Stale.of(run, function.id, now)
    if function.options_at is not None and function.options_at < len(call.args):
        result = _styled(result, call, function.options_at)
    return Outcome(result, _keep_s(run, function.keep_s, now), stale, run.requests, run.used)


def _keep_s(run: Run, limit_s: float | None, now: float) -> float:
    """Seconds that a host may keep the result: as long as all it rests on is fresh, and the function allows.

    What the service could not answer is asked again at once: the client decides whether that costs a request.
    """
    if run.failed is not None or (run.error is not None and not isinstance(run.error, UdfError)):
        return 0.0
    if limit_s is None:
        rests_on_nothing = run.error is not None or run.fresh_until == EVER
        limit_s = KEEP_WITHOUT_ANSWER_S if rests_on_nothing else KEEP_AT_MOST_S
    left_s = run.fresh_until - now
    return limit_s if left_s >= limit_s else max(0.0, left_s)


def _styled(result: Any, call: Call, options_at: int | None) -> Any:
    """The result with its errors as the call's own options want them: cell errors, their text, or blank."""
    if options_at is None or options_at >= len(call.args):
        return result
    style = error_style(call.args[options_at])
    return result if style == "code" else restyled(result, style)


def _options_at(function_id: str) -> int | None:
    function = REGISTRY.get(function_id.upper())
    return function.options_at if function else None
