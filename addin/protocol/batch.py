"""A batch: many calls in, their encoded answers out, in order.

Calls stay the raw text of their JSON until they have to be worked out: a call that was answered before is found by
that text, and equal calls of a batch are worked out once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from addin.protocol.deadline import WithinDeadline
from addin.protocol.encoding import encode, encode_error, finish
from addin.protocol.response_cache import Memo, Ready
from udfs.engine.batch import cooperative
from udfs.engine.session import Call, Outcome, Session
from udfs.errors import CellError, ErrorCode

BAD_CALL_KEEP_S = 60.0
"""How long hosts may keep the answer to what is no call at all."""


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
        calls = _calls_apart(body)
        if calls is None:
            raise BadBatchError(f'the batch is not of the form {{"calls": [[id, argument, …], …]}}: {error}') from None
        return calls


def _calls_apart(body: bytes) -> list[bytes] | None:
    """The calls of a batch some of which hold what JSON has no form for, so that those alone fail; None without calls.

    Hosts write not-a-number and half a character (a lone surrogate) as their cells have them.
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


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of a batch as the text of a JSON list, and the requests they cost."""

    text: bytes
    requests: int


class Batches:
    """Answers batches through one session, out of a memo where it can."""

    def __init__(
        self, session: Session, memo: Memo, *, deadline_s: float, clock: Callable[[], float] = time.time
    ) -> None:
        self._session = session
        self._memo = memo
        self._deadline_s = deadline_s
        self._clock = clock
        self._forgotten = 0

    async def answer(self, calls: Sequence[bytes]) -> Answers:
        """The answers to `calls` in their order; it ends within the deadline, and no call harms another."""
        now = self._clock()
        ready = {call: self._memo.get(call, now) for call in calls}
        missing = [call for call, found in ready.items() if found is None]
        requests = 0
        if missing:
            worked_out, requests = await self._work_out(missing)
            ready.update(worked_out)
            now = self._clock()
        return Answers(_joined((ready[call] for call in calls), now), requests)

    def forget(self) -> None:
        """Work everything out anew from now on."""
        self._memo.clear()
        self._forgotten += 1

    async def _work_out(self, texts: Sequence[bytes]) -> tuple[dict[bytes, Ready], int]:
        forgotten = self._forgotten
        read = {text: read_call(text) async for text in cooperative(texts)}
        asked = {text: call for text, call in read.items() if isinstance(call, Call)}
        reader = WithinDeadline(self._session.client, deadline_s=self._deadline_s)
        outcomes = await self._session.answer(list(asked.values()), reader=reader)
        now = self._clock()
        ready = {text: _bad(call, now) for text, call in read.items() if isinstance(call, CellError)}
        async for (text, call), outcome in cooperative(zip(asked.items(), outcomes, strict=True)):
            ready[text] = _ready(call, outcome, now)
        if forgotten == self._forgotten:  # else a refresh came in between, and these answers are of before
            for text, answer in ready.items():
                if answer.fresh_until > now:
                    self._memo.put(text, answer)
        return ready, sum(outcome.requests for outcome in outcomes)


def _ready(call: Call, outcome: Outcome, now: float) -> Ready:
    kept_s = 0.0 if outcome.stale is not None else outcome.fresh_for_s
    return Ready(encode(outcome, call.function_id), now + kept_s)


def _bad(error: CellError, now: float) -> Ready:
    return Ready(encode_error(error), now + BAD_CALL_KEEP_S)


def _joined(answers: Iterable[Ready | None], now: float) -> bytes:
    # Most answers of a batch share a few times of freshness: each is written as text once.
    tails: dict[float, bytes] = {}
    parts: list[bytes] = []
    for answer in answers:
        assert answer is not None  # noqa: S101 - for the type checker; every call was answered
        head, fresh_until = answer
        tail = tails.get(fresh_until)
        if tail is None:
            tail = tails[fresh_until] = finish(b"", fresh_until - now)
        parts.append(head + tail)
    return b"[" + b",".join(parts) + b"]"
