"""A batch: many calls in, their encoded answers out, in order.

A call stays the raw text of its JSON until it has to be evaluated: the answer to an earlier call is found by that text,
and equal calls of a batch are evaluated once.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
from cachetools import LRUCache

from addin.protocol.deadline import WithinDeadline
from addin.protocol.encoding import encode, encode_error, finish
from addin.protocol.limits import (
    CELL_CHARACTERS,
    LENIENT_BYTES,
    BadBatchError,
    BatchLimits,
    too_long_text,
)
from dataservice.client import Meter
from udfs.engine.batch import cooperative
from udfs.engine.session import Call, Session
from udfs.errors import CellError, ErrorCode

INVALID_CALL_TTL_S = 60.0
"""How long hosts may cache the answer to something that is not a call."""

_OVERHEAD_BYTES = 200
"""What a cache entry needs besides its texts: objects, hash table and list links."""

CLOCK_STEP_S = 5.0
"""A clock that goes back by less is only corrected."""

CALLS_A_TURN = 20_000
"""Calls looked up in one go: a hundredth of a second."""

_DEFAULT_LIMITS = BatchLimits()


class _Batch(msgspec.Struct):
    calls: list[msgspec.Raw]


_decode_batch = msgspec.json.Decoder(_Batch).decode
_decode_call = msgspec.json.Decoder(list[Any]).decode


def calls_in(body: bytes, limits: BatchLimits = _DEFAULT_LIMITS) -> list[bytes]:
    """The calls of a batch (`{"calls": [...]}`), each as the text of its JSON.

    Raises `BadBatchError` for anything else, and `BatchTooLargeError` for more calls or values than the limits allow.

    >>> calls_in(b'{"calls": [["SIGNAL", "us-cpi"]]}')
    [b'["SIGNAL", "us-cpi"]']
    """
    found = _found_in(body, limits)
    return [_text_of(call) for call in found]


async def calls_in_turns(body: bytes, limits: BatchLimits) -> list[bytes]:
    """The same as `calls_in`, with turns for other tasks."""
    await asyncio.sleep(0)
    found = _found_in(body, limits)
    return [_text_of(call) async for call in cooperative(found)]


def _found_in(body: bytes, limits: BatchLimits) -> Sequence[Any]:
    """The calls of a batch, as raw text or, where the batch holds what JSON cannot express, as values."""
    limits.check_values(body)
    found: Sequence[Any] | None
    try:
        found = _decode_batch(body).calls
    except RecursionError:
        raise BadBatchError("the batch is nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        found = _lenient_calls_in(body)
        if found is None:
            raise BadBatchError(f'the batch is not of the form {{"calls": [[id, argument, …], …]}}: {error}') from None
    limits.check_calls(len(found))
    return found


def _lenient_calls_in(body: bytes) -> list[Any] | None:
    """The calls of a batch if some contain what JSON cannot express, so that only those fail; None without calls.

    Hosts send not-a-number and half a character (a lone surrogate) as they stand in their cells.
    """
    if len(body) > LENIENT_BYTES:
        return None
    try:
        batch = json.loads(body)
    except (ValueError, RecursionError):
        return None
    calls = batch.get("calls") if isinstance(batch, dict) else None
    return calls if isinstance(calls, list) else None


def _text_of(call: Any) -> bytes:
    return bytes(call) if isinstance(call, msgspec.Raw) else json.dumps(call).encode()


def read_call(text: bytes, limits: BatchLimits = _DEFAULT_LIMITS) -> Call | CellError:
    """The call in `text`, or what is wrong with it."""
    if (problem := limits.problem_of_call(text)) is not None:
        return CellError(ErrorCode.VALUE, problem)
    try:
        parts = _decode_call(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return CellError(ErrorCode.VALUE, f"the call cannot be read: {error}")
    if not parts or not isinstance(parts[0], str):
        return CellError(ErrorCode.VALUE, "a call is a list that begins with the id of a function")
    if len(text) > CELL_CHARACTERS and (length := too_long_text(parts)) is not None:
        return CellError(
            ErrorCode.VALUE, f"a text of {length:,} characters is longer than a cell can hold ({CELL_CHARACTERS:,})"
        )
    return Call(parts[0], parts[1:])


def valid_calls(texts: Iterable[bytes], limits: BatchLimits = _DEFAULT_LIMITS) -> list[Call]:
    """The calls in `texts`, without those that cannot be read."""
    return [call for text in texts if isinstance(call := read_call(text, limits), Call)]


class Ready(NamedTuple):
    """An encoded answer up to its `fresh_s`, and until when it may be sent (seconds since the epoch)."""

    head: bytes
    fresh_until: float


class _Kept(NamedTuple):
    ready: Ready
    size: int
    since: float


class ResponseCache:
    """Encoded answers by the raw text of their call, at most `max_bytes` with these texts; the least used go first."""

    def __init__(self, max_bytes: int) -> None:
        self._kept: LRUCache[bytes, _Kept] = LRUCache(max_bytes, getsizeof=lambda kept: kept.size)

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def held_bytes(self) -> int:
        """The bytes in use."""
        return int(self._kept.currsize)

    def fresh(self, call: bytes, now: float) -> Ready | None:
        """The answer to a call, None if there is no fresh one."""
        kept = self._kept.get(call)
        if kept is None or now < kept.since - CLOCK_STEP_S:  # the clock was set back: it would be fresh for too long
            return None
        return kept.ready if now < kept.ready.fresh_until else None

    def put(self, call: bytes, ready: Ready, now: float) -> None:
        """Cache an answer of the time `now`; one larger than the whole cache is skipped."""
        kept = _Kept(ready, len(call) + len(ready.head) + _OVERHEAD_BYTES, now)
        if kept.size <= self._kept.maxsize:
            self._kept[call] = kept

    def clear(self) -> None:
        """Forget all answers."""
        self._kept.clear()


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of a batch as the text of a JSON list, and the requests spent.

    The requests that an earlier batch spent after its deadline are told with the next one.
    """

    text: bytes
    requests: int


class Batches:
    """Answers batches through one session, from the response cache where possible."""

    def __init__(
        self,
        session: Session,
        cache: ResponseCache,
        *,
        deadline_s: float,
        limits: BatchLimits = _DEFAULT_LIMITS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._session = session
        self._cache = cache
        self._deadline_s = deadline_s
        self._limits = limits
        self._clock = clock
        self._refreshes = 0
        self._late = Meter()

    async def answer(self, calls: Sequence[bytes]) -> Answers:
        """The answers to `calls` in their order, within the deadline; no call can harm another."""
        now = self._clock()
        ready: dict[bytes, Ready] = {}
        for start in range(0, len(calls), CALLS_A_TURN):
            for call in calls[start : start + CALLS_A_TURN]:
                if (found := self._cache.fresh(call, now)) is not None:
                    ready[call] = found
            if start:
                await asyncio.sleep(0)
        missing = [call for call in dict.fromkeys(calls) if call not in ready]
        requests = 0
        if missing:
            evaluated, requests = await self._evaluate(missing)
            ready.update(evaluated)
            now = self._clock()
        return Answers(
            _joined((ready[call] for call in calls), now, self._limits.answer_bytes), requests + self._late.take()
        )

    def forget(self) -> None:
        """Evaluate every call again from now on."""
        self._cache.clear()
        self._refreshes += 1

    async def _evaluate(self, texts: Sequence[bytes]) -> tuple[dict[bytes, Ready], int]:
        refreshes = self._refreshes
        read = {text: read_call(text, self._limits) async for text in cooperative(texts)}
        valid = {text: call for text, call in read.items() if isinstance(call, Call)}
        reader = WithinDeadline(self._session.client, deadline_s=self._deadline_s, late=self._late)
        outcomes = await self._session.answer(list(valid.values()), reader=reader)
        now = self._clock()
        invalid_until = now + INVALID_CALL_TTL_S
        ready = {text: Ready(encode_error(e), invalid_until) for text, e in read.items() if isinstance(e, CellError)}
        room = self._limits.answer_bytes
        async for (text, call), outcome in cooperative(zip(valid.items(), outcomes, strict=True)):
            fresh_for_s = 0.0 if outcome.stale is not None else outcome.fresh_for_s
            ready[text] = Ready(encode(outcome, call.function_id), now + fresh_for_s) if room > 0 else _NO_ROOM
            room -= len(ready[text].head)
        if refreshes == self._refreshes:  # else these answers predate a refresh
            for text, answer in ready.items():
                if answer.fresh_until > now:
                    self._cache.put(text, answer, now)
        return ready, sum(outcome.requests for outcome in outcomes)


_NO_ROOM = Ready(
    encode_error(
        CellError(
            ErrorCode.NA,
            "the answers of this batch are larger than the setting max_batch_bytes allows; ask for shorter tables",
        )
    ),
    0.0,
)


def _joined(answers: Iterable[Ready], now: float, max_bytes: int) -> bytes:
    # Most answers of a batch share a few times of freshness: each is formatted once.
    tails: dict[float, bytes] = {}
    parts: list[bytes] = []
    room = max_bytes
    for head, fresh_until in answers:
        room -= len(head)
        if room < 0:  # equal calls share one answer in memory, but each is sent
            head, fresh_until = _NO_ROOM
        tail = tails.get(fresh_until)
        if tail is None:
            tail = tails[fresh_until] = finish(b"", fresh_until - now)
        parts.append(head + tail)
    return b"[" + b",".join(parts) + b"]"
