"""What a call gave: its result, how long a host may keep it, why it may be old, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from dataservice.client import Answer, Resource
from dataservice.errors import DataServiceError
from udfs.arguments.options import error_style
from udfs.cells import restyled
from udfs.engine.binding import Bindings, Call
from udfs.engine.effects import EVER
from udfs.engine.registry import REGISTRY
from udfs.engine.run import Run
from udfs.errors import CellError, UdfError, error_cell, reason

KEEP_AT_MOST_S = 900.0
"""How long hosts may keep any result: what is fresh for longer, as the catalogue is, costs nothing to ask again."""

KEEP_WITHOUT_ANSWER_S = 60.0
"""How long hosts may keep an error, or a result that no answer of the service went into: asking again is free."""


class Stale(msgspec.Struct, frozen=True):
    """Why a result is the last known one, and how old it is; or why a part of it is missing, at an age of 0."""

    age_s: float
    reason: str

    @classmethod
    def of(cls, run: Run, function: str, now: float) -> Stale | None:
        """Return what the function (or tool) called `function` was given instead of fresh answers; None for nothing."""
        if run.stale is not None:
            because = run.stale.stale_because or DataServiceError("no fresh answer")
            return cls(run.stale.age_s(now), reason(because, function))
        return None if run.failed is None else cls(0.0, reason(run.failed, function))


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """What a call gave: plain Python, a `Table` or a `CellError`; `fresh_for_s` is how long a host may keep it.

    `requests` sums up over a batch to what it spent, on answers and on failures: what several calls share is charged to
    the first that used it.
    """

    result: Any
    fresh_for_s: float
    stale: Stale | None = None
    requests: int = 0
    answers: Mapping[Resource[Any], Answer[Any]] | None = None
    """The answers that went into the result, where the session traces them."""


def outcome_of(call: Call, run: Run | CellError, bindings: Bindings, now: float) -> Outcome:
    """Return what a call gave whose run has ended, or that could not begin; nothing is raised."""
    try:
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
    except Exception as error:  # noqa: BLE001 - a function's odd result must not harm the others
        return Outcome(error_cell(error, call.function_id), 0.0, requests=run.requests if isinstance(run, Run) else 0)


def _keep_s(run: Run, limit_s: float | None, now: float) -> float:
    """Seconds that a host may keep the result: as long as all it rests on is fresh, and the function allows.

    What the service could not answer, or answered only earlier, is asked again at once: the client decides whether that
    costs a request.
    """
    if run.stale is not None or run.failed is not None:
        return 0.0
    if run.error is not None and not isinstance(run.error, UdfError):
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


def charged_once(outcomes: Sequence[Outcome], places: Sequence[int]) -> list[Outcome]:
    """The outcome at each of `places`: equal calls share one, and its requests are charged to the first of them."""
    if not any(outcome.requests for outcome in outcomes):
        return [outcomes[place] for place in places]
    shared, told = list(outcomes), list[Outcome]()
    for place in places:
        outcome = shared[place]
        told.append(outcome)
        if outcome.requests:
            shared[place] = msgspec.structs.replace(outcome, requests=0)
    return told
