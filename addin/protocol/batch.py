"""A batch: many calls in, their encoded answers out, in order.

A call stays the raw text of its JSON until it has to be evaluated: the answer to an earlier call is found by that text,
and equal calls of a batch are evaluated once.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from itertools import compress, islice
from operator import not_
from typing import Any

import msgspec
from msgspec.structs import replace

from addin.protocol.consent import Consent
from addin.protocol.encoding import (
    CALLS_A_TURN,
    NO_ROOM,
    Answers,
    completed,
    encode_error,
    encode_other,
    encode_plain,
    is_large,
)
from addin.protocol.limits import (
    CELL_CHARACTERS,
    LENIENT_BYTES,
    BadBatchError,
    BatchLimits,
    too_long_text,
)
from addin.protocol.pending_batch import PendingBatch
from addin.protocol.readers import guarded
from addin.protocol.response_cache import Ready, ResponseCache
from dataservice.client import Meter
from udfs.engine import LIGHT_ITEMS_A_LOOK, Answered, Call, Session, in_turns, next_turn, runs_last
from udfs.errors import CellError, ErrorCode

INVALID_CALL_TTL_S = 60.0
"""How long hosts may cache the answer to something that is not a call."""

BYTES_AT_ONCE = 2**17
"""Bytes of calls decoded in one go; more, as ranges take, are decoded in another thread, so that the loop goes on."""

CALLS_READ_TOGETHER = 256
"""Calls decoded in one go; should one of them be no call, all of them are decoded one by one."""


class _Batch(msgspec.Struct):
    calls: list[msgspec.Raw]


_decode_batch = msgspec.json.Decoder(_Batch).decode
_decode_call = msgspec.json.Decoder(list[Any]).decode
_decode_calls = msgspec.json.Decoder(list[list[Any]]).decode


async def calls_in_turns(body: bytes, limits: BatchLimits) -> list[bytes]:
    """The calls of a batch (`{"calls": [...]}`), each as the text of its JSON; there are turns for other tasks.

    Raises `BadBatchError` for anything else, and `BatchTooLargeError` for more calls or values than the limits allow.
    """
    await next_turn()
    found = _found_in(body, limits)
    texts: list[bytes] = []
    async for part in in_turns(found, CALLS_A_TURN):
        texts += _texts_of(part)
    return texts


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


def _texts_of(calls: Sequence[Any]) -> list[bytes]:
    if calls and isinstance(calls[0], msgspec.Raw):
        return list(map(bytes, calls))
    return [json.dumps(call).encode() for call in calls]


def read_call(text: bytes, limits: BatchLimits) -> Call | CellError:
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


def read_calls(texts: Sequence[bytes], limits: BatchLimits) -> list[Call | CellError]:
    """Return what `read_call` gives for each of `texts`, in a fraction of the time where all are calls."""
    if texts and max(map(len, texts)) <= limits.harmless_bytes:
        try:
            decoded = _decode_calls(b"[%b]" % b",".join(texts))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            decoded = []
        calls = [Call(parts.pop(0), parts) for parts in decoded if parts and type(parts[0]) is str]
        if len(calls) == len(decoded) == len(texts):
            return list(calls)
    return [read_call(text, limits) for text in texts]


async def read_together(texts: Sequence[bytes], limits: BatchLimits) -> list[Call | CellError]:
    """As `read_calls`; what takes long is read by another thread, so that the loop goes on."""
    if sum(map(len, texts)) > BYTES_AT_ONCE:
        return await asyncio.to_thread(read_calls, texts, limits)
    return read_calls(texts, limits)


async def valid_calls(texts: Sequence[bytes], limits: BatchLimits) -> list[Call]:
    """The calls in `texts`, without those that cannot be read; there are turns for other tasks."""
    calls: list[Call] = []
    async for part in in_turns(texts, CALLS_READ_TOGETHER):
        calls += [call for call in await read_together(part, limits) if isinstance(call, Call)]
    return calls


def _with_reports(ready: list[Ready], calls: Sequence[Call]) -> list[Ready]:
    """The answers, those that tell what other calls did marked as such."""
    reports = set(filter(runs_last, {call.function_id for call in calls}))
    for place, call in enumerate(calls) if reports else ():
        if call.function_id in reports:
            ready[place] = replace(ready[place], is_report=True)
    return ready


class Batches:
    """Answers batches through one session, from the response cache where possible."""

    def __init__(
        self,
        session: Session,
        cache: ResponseCache,
        *,
        deadline_s: float,
        limits: BatchLimits,
        consent: Consent,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._session = session
        self._consent = consent
        self._cache = cache
        self._deadline_s = deadline_s
        self._limits = limits
        self._clock = clock
        self._refreshes = 0
        self.late = Meter()
        """What was spent for nobody who could be told so far."""

    async def answer(self, calls: Sequence[bytes], where: str = "") -> Answers:
        """The answers to `calls` in their order, within the deadline; no call can harm another.

        Where consent is needed for what they would fetch, and is not there, `where` tells how to give it.
        """
        found: list[Ready | None] = []
        async for part in in_turns(calls, CALLS_A_TURN):
            found += self._cache.all_fresh(part, self._clock())
        ready, requests = await self._completed(calls, found, where)
        return await completed(ready, self._clock(), self._limits.answer_bytes, requests + self.late.take())

    async def _completed(
        self, calls: Sequence[bytes], found: Sequence[Ready | None], where: str
    ) -> tuple[list[Ready], int]:
        """Return what was found, else the answer worked out, each text once; and the requests spent."""
        texts = list(dict.fromkeys(compress(calls, map(not_, found))))
        if not texts:
            return [ready for ready in found if ready is not None], 0
        await next_turn()
        answers, requests = await self._evaluate(texts, where)
        await next_turn()
        if len(texts) == len(calls):
            return answers, requests
        of_text = dict(zip(texts, answers, strict=True))
        return [of_text[call] if ready is None else ready for call, ready in zip(calls, found, strict=True)], requests

    def forget(self) -> None:
        """Evaluate every call again from now on."""
        self._cache.clear()
        self._refreshes += 1

    async def _evaluate(self, texts: Sequence[bytes], where: str) -> tuple[list[Ready], int]:
        """The answers to calls that differ, in their order, and the requests spent; fresh ones are cached."""
        refreshes = self._refreshes
        wrong: dict[int, CellError] = {}
        answered, requests = await self._outcomes(self._read(texts, wrong), where)
        await next_turn()
        different = await self._encoded(answered, self._clock())
        answers = list(map(different.__getitem__, answered.places))
        now = self._clock()
        if wrong:
            said = {place: Ready(encode_error(error), now + INVALID_CALL_TTL_S, now) for place, error in wrong.items()}
            rest = iter(answers)
            answers = [said[place] if place in said else next(rest) for place in range(len(texts))]
        rest = iter(answers)
        async for part in in_turns(texts, CALLS_A_TURN):
            made = list(islice(rest, len(part)))
            fresh = [ready.fresh_until > now and not ready.is_report for ready in made]
            if refreshes == self._refreshes:  # else these answers predate a refresh
                self._cache.put_all(list(compress(part, fresh)), list(compress(made, fresh)))
        return answers, requests

    async def _read(self, texts: Sequence[bytes], wrong: dict[int, CellError]) -> AsyncIterator[list[Call]]:
        """The calls in `texts`, part by part; what is wrong with those that are none, by their places, in `wrong`."""
        count = 0
        async for part in in_turns(texts, CALLS_READ_TOGETHER):
            read = await read_together(part, self._limits)
            calls = [call for call in read if isinstance(call, Call)]
            if len(calls) < len(read):
                wrong.update((place, each) for place, each in enumerate(read, count) if isinstance(each, CellError))
            count += len(part)
            yield calls

    async def _outcomes(self, calls: AsyncIterator[list[Call]], where: str) -> tuple[Answered, int]:
        """The outcomes, and the requests that they spent."""
        batch = PendingBatch(self._consent, where)
        reader = guarded(self._session.client, batch, deadline_s=self._deadline_s, late=self.late)
        answered = await self._session.answer_different(calls, reader=reader, gate=reader.gate)
        return answered, batch.untold.take()

    async def _encoded(self, answered: Answered, now: float) -> list[Ready]:
        """The outcomes as they are sent, as many as there is room for."""
        ready: list[Ready] = []
        others: list[int] = []
        room = self._limits.answer_bytes
        async for part in in_turns(answered.outcomes, LIGHT_ITEMS_A_LOOK):
            for outcome in part:
                plain = encode_plain(outcome)
                if plain is None:
                    others.append(len(ready))
                    ready.append(NO_ROOM)
                else:
                    ready.append(Ready(plain, now + outcome.fresh_for_s, now))
                    room -= len(plain)
        async for places in in_turns(others):
            for place in places:
                if room <= 0:
                    break
                outcome, function_id = answered.outcomes[place], answered.calls[place].function_id
                if is_large(outcome):  # another thread encodes it, so that the loop goes on
                    head = await asyncio.to_thread(encode_other, outcome, function_id)
                else:
                    head = encode_other(outcome, function_id)
                ready[place] = Ready(head, now + outcome.fresh_for_s, now)
                room -= len(head)
        return _with_reports(ready, answered.calls)
