"""Results as Calc accepts them: plain numbers and texts, tables, and results that come later."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Iterable

import uno
import unohelper
from com.sun.star.sheet import ResultEvent, XVolatileResult
from com.sun.star.uno import RuntimeException

from .calls import Call
from .values import Value

MAX_LATER = 5_000
"""Calc searches its later results one by one, so their number must stay small."""


class Later(unohelper.Base, XVolatileResult):  # type: ignore[misc]
    """A result that may change: cells that show it are notified of every new value.

    Without a value they show #N/A, and a notification makes them call their function again.
    """

    def __init__(self, value: Value | None = None) -> None:
        self.value = value
        self._listeners: list[Any] = []

    @property
    def is_shown(self) -> bool:
        """Whether any cell listens; the function wizard stops listening as soon as it has called."""
        return bool(self._listeners)

    def addResultListener(self, listener: Any) -> None:  # noqa: N802 - UNO's name
        """Calc shows this result; it is notified at once of a value that is there."""
        self._listeners.append(listener)
        if self.value is not None:
            listener.modified(self._event())

    def removeResultListener(self, listener: Any) -> None:  # noqa: N802 - UNO's name
        """Calc no longer shows this result."""
        if listener in self._listeners:
            self._listeners.remove(listener)

    def push(self, value: Value | None = None) -> None:
        """Notify the cells; call it on the main thread, or while Calc's own thread waits for us."""
        self.value = value
        for listener in list(self._listeners):
            with suppress(RuntimeException):  # its document was closed meanwhile
                listener.modified(self._event())

    def _event(self) -> Any:
        return ResultEvent(Value=_any(self.value), Source=None)


class Results:
    """The results that can change: one for all calls without any value, one each for tables and last known values."""

    def __init__(self) -> None:
        self._waiting = Later()
        self._by_call: dict[Call, Later] = {}

    def now(self, call: Call, value: Value) -> Any:
        """A value that is there; Calc accepts a table only as a later result."""
        if not isinstance(value, tuple):
            return value
        later = self._by_call.get(call)
        if later is None or later.value is not value:
            later = self._by_call[call] = Later(value)
        return later

    def later(self, call: Call, last: Value | None) -> Later:
        """A result that will come; meanwhile the cell shows its last value."""
        if last is None or (call not in self._by_call and len(self._by_call) >= MAX_LATER):
            return self._waiting
        return self._by_call.setdefault(call, Later(last))

    def is_shown(self, calls: Iterable[Call]) -> bool:
        """Whether any cell waits for one of these calls."""
        return self._waiting.is_shown or any(call in self._by_call and self._by_call[call].is_shown for call in calls)

    def push(self, values: dict[Call, Value]) -> None:
        """Notify all cells that wait; call it on the main thread, or while Calc's own thread waits for us."""
        waiting, self._waiting = self._waiting, Later()
        for call, value in values.items():
            if call in self._by_call:
                self._by_call[call].push(value)
        self._by_call = {call: later for call, later in self._by_call.items() if later.is_shown}
        waiting.push()


def _any(value: Value | None) -> Any:
    return uno.Any("[][]any", value) if isinstance(value, tuple) else value
