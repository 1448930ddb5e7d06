"""One event loop in a thread of its own, for callers who have none."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, TypeVar

T = TypeVar("T")


class BackgroundLoop:
    """Runs coroutines for callers in other threads; the thread starts with the first one."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`; raises what it raises, and `RuntimeError` after `close`."""
        try:
            loop = self._started()
        except RuntimeError:
            work.close()
            raise
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # who is interrupted does not leave work behind
            raise

    def call(self, work: Callable[[], T]) -> T:
        """The result of `work`, done in the loop's own thread, where nothing else changes meanwhile."""

        async def done() -> T:
            return work()

        return self.run(done())

    def iterate(self, source: AsyncIterator[T]) -> Iterator[T]:
        """The items of `source`, each brought when it is asked for."""
        while True:
            item = self.run(_next(source))
            if item is None:
                return
            yield item

    def close(self) -> None:
        """Stop the loop and its thread; may be called twice."""
        with self._starting:
            self._closed = True
            loop, self._loop = self._loop, None
        if loop is not None and self._thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join()
            loop.close()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._closed:
                raise RuntimeError("this client is closed")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True)
                self._thread.start()
            return self._loop


async def _next(source: AsyncIterator[T]) -> T | None:
    """The next item, or None behind the last."""
    return await anext(source, None)
