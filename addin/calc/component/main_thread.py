"""Calc's main thread, the only one on which a document in a window may be touched."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, Callable

import unohelper
from com.sun.star.awt import XCallback


class MainThread:
    """Runs actions on Calc's main thread, once it has done what it is doing."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def run(self, action: Callable[[], Any]) -> Any:
        """Return what an action returns; waits for it, so it is for other threads."""
        return self.start(action).result()

    def start(self, action: Callable[[], Any]) -> Future[Any]:
        """The result that an action will have; does not wait."""
        callback = _Callback(action)
        manager = self._context.ServiceManager
        manager.createInstanceWithContext("com.sun.star.awt.AsyncCallback", self._context).addCallback(callback, None)
        return callback.outcome


class _Callback(unohelper.Base, XCallback):  # type: ignore[misc]
    """An action for the main thread, and its result."""

    def __init__(self, action: Callable[[], Any]) -> None:
        self._action = action
        self.outcome: Future[Any] = Future()

    def notify(self, data: Any) -> None:  # noqa: ARG002 - UNO's signature
        try:
            self.outcome.set_result(self._action())
        except Exception as error:  # noqa: BLE001 - raised again where the result is taken
            self.outcome.set_exception(error)
