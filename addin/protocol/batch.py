"""A batch: many calls in, their encoded answers out, in order.

A call stays the raw text of its JSON until it has to be evaluated: the answer to an earlier call is found by that text,
and equal calls of a batch are evaluated once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
from cachetools import LRUCache

from addin.protocol.deadline import WithinDeadline
from addin.protocol.encoding import encode, encode_error, finish
from dataservice.client import Meter
from udfs.engine.batch import cooperative
from udfs.engine.session import Call, Session
from udfs.errors import CellError, ErrorCode

INVALID_CALL_TTL_S = 60.0
"""How long hosts may cache the answer to something that is not a call."""

_OVERHEAD_BYTES = 200
"""What a cache entry needs besides its text: objects, hash table and list links."""


class BadBatchError(ValueError):
    """The text is not a batch of calls."""


class _Batch(msgspec.Struct):
    calls: list[msgspec.Raw]


_decode_batch = msgspec.json.Decoder(_Batch).decode
_decode_call = msgspec.json.Decoder(list[Any]).decode


def calls_in(body: bytes) -> list[bytes]:
    """The calls of a batch (`{"calls": [...]}`), each as the text of its JSON; raises `BadBatchError`.

    >>> calls_in(b'{"calls": [["SIGNAL", "us-cpi"]]}')
    [b'["SIGNAL", "us-cpi"]']
    """
    try:
        return [bytes(call) for call in _decode_batch(body).calls]
    except RecursionError:
        raise BadBatchError("the batch is nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        calls = _lenient_calls_in(body)
        if calls is None:
            raise BadBatchError(f'the batch is not of the form {{"calls": [[id, argument, …], …]}}: {error}') from None
        return calls


def _lenient_calls_in(body: bytes) -> list[bytes] | None:
    """The calls of a batch if some contain what JSON cannot express, so that only those fail; None without calls.

    Hosts send not-a-number and half a character (a lone surrogate) as they stand in their cells.
    """
    try:
        batch = json.loads(body)
    except (ValueError, RecursionError):
        return None
    calls = batch.get("calls") if isinstance(batch, dict) else None
    return [json.dumps(call).encode() for call in calls] if isinstance(calls, list) else None


def read_call(text: bytes) -> Call | CellError:
    """The call in `text`, or what is wrong with it."""
    try:
        parts = _decode_call(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return CellError(ErrorCode.VALUE, f"the call cannot be read: {error}")
    if not parts or not isinstance(parts[0], str):
        return CellError(ErrorCode.VALUE, "a call is a list that begins with the id of a function")
    return Call(parts[0], parts[1:])


def valid_calls(texts: Iterable[bytes]) -> list[Call]:
    """The calls in `texts`, without those that cannot be read."""
    return [call for call in map(read_call, texts) if isinstance(call, Call)]


class Ready(NamedTuple):
    """An encoded answer up to its `fresh_s`, and until when it may be sent (seconds since the epoch)."""

    head: bytes
    fresh_until: float


class ResponseCache(LRUCache[bytes, Ready]):
    """Encoded answers by the raw text of their call, at most `maxsize` bytes; the least recently used go first."""

    @staticmethod
    def getsizeof(value: Ready) -> int:
        """The bytes of one entry."""
        return len(value.head) + _OVERHEAD_BYTES

    def fresh(self, call: bytes, now: float) -> Ready | None:
        """The answer to a call, None if there is no fresh one."""
        ready = self.get(call)
        return ready if ready is not None and now < ready.fresh_until else None

    def put(self, call: bytes, ready: Ready) -> None:
        """Cache an answer; one larger than the whole cache is skipped."""
        if self.getsizeof(ready) <= self.maxsize:
            self[call] = ready


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
        self, session: Session, cache: ResponseCache, *, deadline_s: float, clock: Callable[[], float] = time.time
    ) -> None:
        self._session = session
        self._cache = cache
        self._deadline_s = deadline_s
        self._clock = clock
        self._refreshes = 0
        self._late = Meter()

    async def answer(self, calls: Sequence[bytes]) -> Answers:
        """The answers to `calls` in their order, within the deadline; no call can harm another."""
        now = self._clock()
        ready = {call: found for call in calls if (found := self._cache.fresh(call, now)) is not None}
        missing = [call for call in dict.fromkeys(calls) if call not in ready]
        requests = 0
        if missing:
            evaluated, requests = await self._evaluate(missing)
            ready.update(evaluated)
            now = self._clock()
        return Answers(_joined((ready[call] for call in calls), now), requests + self._late.take())

    def forget(self) -> None:
        """Evaluate every call again from now on."""
        self._cache.clear()
        self._refreshes += 1

    async def _evaluate(self, texts: Sequence[bytes]) -> tuple[dict[bytes, Ready], int]:
        refreshes = self._refreshes
        read = {text: read_call(text) async for text in cooperative(texts)}
        valid = {text: call for text, call in read.items() if isinstance(call, Call)}
        reader = WithinDeadline(self._session.client, deadline_s=self._deadline_s, late=self._late)
        outcomes = await self._session.answer(list(valid.values()), reader=reader)
        now = self._clock()
        invalid_until = now + INVALID_CALL_TTL_S
        ready = {text: Ready(encode_error(e), invalid_until) for text, e in read.items() if isinstance(e, CellError)}
        async for (text, call), outcome in cooperative(zip(valid.items(), outcomes, strict=True)):
            fresh_for_s = 0.0 if outcome.stale is not None else outcome.fresh_for_s
            ready[text] = Ready(encode(outcome, call.function_id), now + fresh_for_s)
        if refreshes == self._refreshes:  # else these answers predate a refresh
            for text, answer in ready.items():
                if answer.fresh_until > now:
                    self._cache.put(text, answer)
        return ready, sum(outcome.requests for outcome in outcomes)


def _joined(answers: Iterable[Ready], now: float) -> bytes:
    # Most answers of a batch share a few times of freshness: each is formatted once.
    tails: dict[float, bytes] = {}
    parts: list[bytes] = []
    for head, fresh_until in answers:
        tail = tails.get(fresh_until)
        if tail is None:
            tail = tails[fresh_until] = finish(b"", fresh_until - now)
        parts.append(head + tail)
    return b"[" + b",".join(parts) + b"]"
