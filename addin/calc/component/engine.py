"""Between cells and the backend: what is known, what is still to be asked, and the asking in batches."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import Iterator, Mapping, Sequence

from .backend import Backend, BackendError
from .calls import Call, Function, error_style
from .memo import Known, Memo
from .values import NA, Value, Verdict, value_of

BATCH = 4_000
"""Calls in one request: 10,000 cells are three, and one answer stays within a few MB."""


class Engine:
    """Knows values, collects the calls that miss one, and asks for them; safe to use from several threads."""

    def __init__(self, backend: Backend, memo: Memo, functions: Mapping[str, Function]) -> None:
        self.backend = backend
        self._memo = memo
        self._functions = functions
        self._wanted: dict[Call, None] = {}
        self._lock = threading.Lock()
        self._traced: dict[Call, None] | None = None

    def fresh(self, call: Call) -> Known | None:
        """What may be shown without asking."""
        if self._traced is not None:
            self._traced[call] = None
        known = self._memo.get(call)
        return known if self._memo.is_fresh(known) else None

    def known(self, call: Call) -> Known | None:
        """The last value, fresh or not."""
        return self._memo.get(call)

    def ask(self, call: Call) -> Value:
        """The value of one call, asked for now unless it is fresh."""
        known = self.fresh(call)
        if known is None:
            self.fetch([call])
            known = self._memo.get(call)
        return NA if known is None else known.value

    def want(self, call: Call) -> None:
        """Ask for this call with the next batch."""
        with self._lock:
            self._wanted[call] = None

    def take(self) -> list[Call]:
        """The calls wanted since the last time, each once."""
        with self._lock:
            wanted, self._wanted = self._wanted, {}
        return list(wanted)

    def fetch(self, calls: Sequence[Call]) -> None:
        """Ask for `calls` and keep what they gave; never raises: a failure is kept as the call's error."""
        for start in range(0, len(calls), BATCH):
            batch = calls[start : start + BATCH]
            try:
                verdicts = [value_of(answer) for answer in self.backend.answers(batch)]
            except BackendError as error:
                verdicts = [self._without(call, str(error)) for call in batch]
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                message = f"the backend's answer cannot be read ({error!r}); build the extension again"
                verdicts = [self._without(call, message) for call in batch]
            for call, verdict in zip(batch, verdicts):
                self._memo.put(call, verdict)

    def expire(self) -> None:
        """From now on every call is asked again."""
        self._memo.expire()

    @contextmanager
    def tracing(self) -> Iterator[dict[Call, None]]:
        """The calls that come while the block runs."""
        self._traced = {}
        try:
            yield self._traced
        finally:
            self._traced = None

    def messages(self, limit: int = 8) -> list[str]:
        """Why cells show errors or old values: different messages, the latest first."""
        found: dict[str, None] = {}
        for message in self._memo.messages():
            found.setdefault(message)
            if len(found) == limit:
                break
        return list(found)

    def _without(self, call: Call, message: str) -> Verdict:
        """What a cell shows when the backend gave nothing: the last known value, else an error in the call's style."""
        known = self._memo.get(call)
        if known is not None:
            return Verdict(known.value, 0.0, message, known.dates)
        style = error_style(call, self._functions[call[0]])
        return Verdict({"text": message, "blank": ""}.get(style, NA), 0.0, message)
