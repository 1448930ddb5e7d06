"""Between cells and the backend: cached answers, queued calls, and requests in batches."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Callable, Iterator, Mapping, Sequence

from .backend import BackendClient, BackendError, is_pending
from .calls import Call, Function, days_later_of, error_style, function_id
from .response_cache import CachedAnswer, ResponseCache
from .values import NA, Answer, Value, value_of

BATCH = 20_000
"""Calls in one request: each answer has a few MB at most."""

STOP_S = 5.0
"""A post that is under way ends sooner."""

CHECK_S = 10.0
"""So long after the backend was heard of, somebody may have refreshed everything, whatever still counts as fresh."""

RETRY_S = (2.0, 5.0, 10.0, 30.0)
"""The waits before a backend that was away is looked for again; the last one repeats."""

STOPPED = "stopped; press Refresh to load it"


class Engine:
    """Answers calls from the cache, queues the others and fetches them in batches; threads may share it."""

    def __init__(
        self,
        backend: BackendClient,
        cache: ResponseCache,
        functions: Mapping[str, Function],
        clock: Callable[[], float],
    ) -> None:
        self.backend = backend
        self._cache = cache
        self._functions = functions
        self._clock = clock
        self._generation = 0
        self._heard_at = clock()
        self._is_renewed = False
        self._lost: dict[Call, None] = {}
        """Calls that were not answered because the backend was away."""
        self._missed = 0
        """How often it was found away since it last answered."""
        self._turns = 0
        self._reports: dict[Call, int] = {}
        """Calls that report what others did, and the turn in which they were answered."""
        self._last_turn = 0
        """The turn in which another call was answered last."""
        self._queued: dict[Call, None] = {}
        self._lock = threading.Lock()
        self._traced: dict[Call, None] | None = None
        self.is_loading = False
        """Whether something that `fetch_some` was asked for is pending."""
        self._is_stopped = False
        self._ended = threading.Event()

    def fresh(self, call: Call) -> CachedAnswer | None:
        """The cached answer of a call, while it is fresh."""
        if self._traced is not None:
            self._traced[call] = None
        cached = self._cache.get(call)
        return cached if self._cache.is_fresh(cached) else None

    def cached(self, call: Call) -> CachedAnswer | None:
        """The last answer of a call, fresh or not."""
        return self._cache.get(call)

    def values(self, calls: Sequence[Call]) -> dict[Call, Value]:
        """The last values of calls, of those that have any."""
        cached = {call: self._cache.get(call) for call in calls}
        return {call: answer.value for call, answer in cached.items() if answer is not None}

    def value(self, call: Call) -> Value:
        """The value of one call, fetched now unless a fresh one is cached."""
        cached = self.fresh(call)
        if cached is None:
            self.fetch([call])
            cached = self._cache.get(call)
        return NA if cached is None else cached.value

    def enqueue(self, call: Call) -> None:
        """Fetch this call with the next batch."""
        with self._lock:
            self._queued[call] = None

    def take_queue(self) -> list[Call]:
        """The calls queued since the last time, each once."""
        with self._lock:
            queued, self._queued = self._queued, {}
        return list(queued)

    def fetch(self, calls: Sequence[Call]) -> None:
        """Fetch `calls` and cache their answers; never raises: a failure is cached as the call's error."""
        for start in range(0, len(calls), BATCH):
            batch = calls[start : start + BATCH]
            self._keep(batch, self.backend.answers)

    def fetch_some(self, calls: Sequence[Call]) -> list[Call]:
        """Fetch what is there of `calls` within about two seconds for each batch; returns those that are pending.

        After `stop` none is: what was not there says that it was stopped.
        """
        self.is_loading = True
        self._ended.clear()
        pending: list[Call] = []
        for start in range(0, len(calls), BATCH):
            pending += self._keep(calls[start : start + BATCH], partial(self.backend.answers_so_far, asks=True))
        if pending and self._is_stopped:
            self._keep(pending, self._stopped)
            pending = []
        if not pending:
            self.end_loading()
        return pending

    def end_loading(self) -> None:
        """Nothing is pending any more, or no cell needs it."""
        self.is_loading = self._is_stopped = False
        self._ended.set()

    def stop(self) -> bool:
        """Let what is loading not be fetched, and wait until that is so; False if nothing is."""
        if not self.is_loading:
            return False
        self._is_stopped = True
        self._ended.wait(STOP_S)
        return True

    def _stopped(self, calls: Sequence[Call]) -> list[dict[str, Any]]:
        with suppress(BackendError):  # then it gives up by itself
            self.backend.drop(calls)
        raise BackendError(STOPPED)

    def _keep(self, calls: Sequence[Call], ask: Callable[[Sequence[Call]], list[dict[str, Any]]]) -> list[Call]:
        """Cache the answers that `ask` gives, or why there are none; returns the calls that are pending."""
        try:
            replies = ask(calls)
            self._heard()
            answers = [
                None if is_pending(reply) else value_of(reply, days_later_of(call))
                for call, reply in zip(calls, replies)
            ]
        except BackendError as error:
            if error.is_away:
                self._missed = max(self._missed, 1)
                self._lost.update(dict.fromkeys(calls))
            answers = [self._without(call, str(error)) for call in calls]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            message = f"the backend's answer cannot be read ({error!r}); build the extension again"
            answers = [self._without(call, message) for call in calls]
        for call, answer in zip(calls, answers):
            if answer is not None:
                self._cache.put(call, answer)
        self._note([call for call, answer in zip(calls, answers) if answer is not None])
        return [call for call, answer in zip(calls, answers) if answer is None]

    def expire(self) -> None:
        """Fetch every call again from now on."""
        self._cache.expire()
        self._generation, self._heard_at = self.backend.generation, self._clock()

    @property
    def is_check_due(self) -> bool:
        """Whether the backend was not heard of for a while, in which somebody else may have refreshed everything."""
        return self._clock() - self._heard_at >= CHECK_S

    def check_generation(self) -> None:
        """Hear of the backend whether somebody refreshed everything: no value is fresh any more then."""
        self._heard_at = self._clock()  # one look is enough, whatever comes of it
        with suppress(BackendError):
            self.backend.answers_so_far([])
            self._heard()

    def take_refreshed(self) -> bool:
        """Return whether somebody else refreshed everything since this was last asked."""
        was, self._is_renewed = self._is_renewed, False
        return was

    @property
    def retry_s(self) -> float | None:
        """Return how long to wait until the backend is looked for again; None where no call waits for it."""
        return RETRY_S[min(self._missed, len(RETRY_S)) - 1] if self._lost else None

    def try_reconnect(self) -> bool:
        """Whether the backend, which was away, answers again; calls that it did not answer count as not asked then."""
        if not self.backend.is_there():
            self._missed += 1
            return False
        lost, self._lost, self._missed = self._lost, {}, 0
        self._cache.expire_some(lost)
        return True

    def expire_reports(self) -> list[Call]:
        """The calls that report what others did, and were answered before others; they count as not asked."""
        outdated = [call for call, turn in self._reports.items() if turn < self._last_turn]
        for call in outdated:
            del self._reports[call]
        self._cache.expire_some(outdated)
        return outdated

    def _heard(self) -> None:
        """The backend answered; what was kept before everything was refreshed is not fresh any more."""
        self._heard_at, self._missed = self._clock(), 0
        if self.backend.generation > self._generation:
            if self._generation:
                self._cache.expire()
                self._is_renewed = True
            self._generation = self.backend.generation

    def _note(self, answered: Sequence[Call]) -> None:
        """Remember in which order reports and other calls were answered."""
        reports = [call for call in answered if self._functions[function_id(call)].is_report]
        self._turns += 1
        if len(reports) < len(answered):
            self._last_turn = self._turns
        self._reports.update(dict.fromkeys(reports, self._turns))

    @contextmanager
    def tracing(self) -> Iterator[dict[Call, None]]:
        """The calls that come while the block runs."""
        self._traced = {}
        try:
            yield self._traced
        finally:
            self._traced = None

    @property
    def is_tracing(self) -> bool:
        """Return whether a block of `tracing` runs."""
        return self._traced is not None

    def messages(self) -> list[str]:
        """Return why cells show errors or old values: up to eight different messages, the latest first."""
        return list(dict.fromkeys(self._cache.messages()))[:8]

    def _without(self, call: Call, message: str) -> Answer:
        """The answer when the backend sent none: the last known value, else an error in the call's style."""
        cached = self._cache.get(call)
        if cached is not None:
            return Answer(cached.value, 0.0, message, cached.dates)
        style = error_style(call, self._functions[function_id(call)])
        return Answer({"text": message, "blank": ""}.get(style, NA), 0.0, message)
