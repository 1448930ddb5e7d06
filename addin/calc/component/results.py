"""Results as Calc accepts them: plain numbers and texts, tables, and results that come later."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Iterable, Sequence

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
        self.waits = False
        """Whether a new listener waits for `deliver`, because Calc is calculating what is on the screen."""
        self._listeners: list[Any] = []
        self._undelivered: list[Any] = []

    @property
    def is_shown(self) -> bool:
        """Return whether any cell listens; the function wizard stops listening as soon as it has called."""
        return bool(self._listeners)

    @property
    def is_delivered(self) -> bool:
        """Return whether every cell that shows this result was notified, and one does."""
        return bool(self._listeners) and not self._undelivered

    def addResultListener(self, listener: Any) -> None:  # noqa: N802 - UNO's name
        """Calc shows this result, and is notified of a value that is there.

        Calc draws the window as soon as it is notified, and works out the cells in it, while the cell that calls is
        not finished. What refers to that cell would then show a circular reference (Err:522), and keep it.
        """
        self._listeners.append(listener)
        if self.value is None:
            return
        if self.waits:
            self._undelivered.append(listener)
        else:
            self._notify([listener])

    def removeResultListener(self, listener: Any) -> None:  # noqa: N802 - UNO's name
        """Calc no longer shows this result."""
        for listeners in (self._listeners, self._undelivered):
            if listener in listeners:
                listeners.remove(listener)

    def push(self, value: Value | None = None) -> None:
        """Notify the cells; call it on the main thread, or while Calc's own thread waits for us."""
        self.value = value
        self._undelivered = []
        self._notify(self._listeners)

    def deliver(self) -> None:
        """Notify the cells that wait; call it on the main thread once it calculates nothing."""
        waiting, self._undelivered = self._undelivered, []
        self._notify(waiting)

    def _notify(self, listeners: Sequence[Any]) -> None:
        for listener in list(listeners):
            with suppress(RuntimeException):  # its document was closed meanwhile
                listener.modified(self._event())

    def _event(self) -> Any:
        return ResultEvent(Value=_any(self.value), Source=None)


class Results:
    """The results that can change: one for all calls without any value, one each for tables and last known values."""

    def __init__(self) -> None:
        self._waiting = Later()
        self._by_call: dict[Call, Later] = {}
        self._undelivered: dict[Later, None] = {}

    def now(self, call: Call, value: Value, *, waits: bool) -> Any:
        """A value that is there; Calc accepts a table only as a later result, which `waits` for `deliver` or not."""
        if not isinstance(value, tuple):
            return value
        later = self._by_call.get(call)
        if later is None or later.value is not value:
            later = self._by_call[call] = Later(value)
        return self._waiting_for_delivery(later, waits=waits)

    def later(self, call: Call, last: Value | None, *, waits: bool) -> Later:
        """A result that will come; meanwhile the cell shows its last value, which `waits` for `deliver` or not."""
        if last is None or (call not in self._by_call and len(self._by_call) >= MAX_LATER):
            return self._waiting
        return self._waiting_for_delivery(self._by_call.setdefault(call, Later(last)), waits=waits)

    def deliver(self) -> None:
        """Notify the cells that wait for a value that is there; on the main thread once it calculates nothing."""
        undelivered, self._undelivered = self._undelivered, {}
        for later in undelivered:
            later.deliver()

    def is_shown(self, calls: Iterable[Call]) -> bool:
        """Return whether any cell waits for one of these calls."""
        return self._waiting.is_shown or any(call in self._by_call and self._by_call[call].is_shown for call in calls)

    def shows_last(self, call: Call) -> bool:
        """Whether a cell shows the last known value of a call: it does not call again when others are notified."""
        return call in self._by_call and self._by_call[call].is_shown

    def push(self, values: dict[Call, Value]) -> None:
        """Notify all cells that wait; call it on the main thread, or while Calc's own thread waits for us.

        Cells without a value call again, so that what is still to come is asked for as long as a cell needs it.
        """
        waiting, self._waiting = self._waiting, Later()
        for call, value in values.items():
            if call in self._by_call:
                self._by_call[call].push(value)
        self._by_call = {call: later for call, later in self._by_call.items() if later.is_shown}
        waiting.push()

    def _waiting_for_delivery(self, later: Later, *, waits: bool) -> Later:
        later.waits = waits
        if waits:
            self._undelivered[later] = None
        return later


def _any(value: Value | None) -> Any:
    """A value as UNO passes it on; Calc finds texts of a table in formulas only if all its cells are texts."""
    if not isinstance(value, tuple):
        return value
    all_texts = all(isinstance(cell, str) for row in value for cell in row)
    return uno.Any("[][]string" if all_texts else "[][]any", value)
