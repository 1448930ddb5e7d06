"""Calls from Calc's cells: answered from the cache, fetched now, or filled in later."""

from __future__ import annotations

import threading
import traceback
from concurrent.futures import Future
from typing import Any, Callable

import unohelper
from com.sun.star.awt import XCallback
from com.sun.star.document import XDocumentEventListener

from .calls import Call, Function, call_of
from .documents import Situation, is_screenless, own_command_line, situation_of
from .engine import Engine
from .results import Results
from .values import NA

ROUNDS = 10
"""How deep calls may be nested in each other's arguments; each level is a batch of its own."""


class Host:
    """One for all documents of the process."""

    def __init__(self, context: Any, engine: Engine, loaded: Callable[[Any], None]) -> None:
        self.engine = engine
        self._context = context
        self._loaded = loaded
        self._results = Results()
        self._collecting: set[str] = set()
        self._shown: set[str] = set()
        self._screenless = is_screenless(own_command_line())
        self._wake = threading.Event()
        self._filling = threading.Lock()
        self._worker: Any = None

    def result(self, function: Function, document: Any, raw: tuple[Any, ...]) -> Any:
        """The result of one call; never raises, because Calc shows any exception as a wrong formula."""
        try:
            return self._result(call_of(function, raw), document)
        except Exception:  # noqa: BLE001 - any failure becomes this one cell's error
            traceback.print_exc()
            return NA

    def _result(self, call: Call, document: Any) -> Any:
        fresh = self.engine.fresh(call)
        if fresh is not None:
            return self._results.now(call, fresh.value)
        if not self._may_come_later(document):
            return self._results.now(call, self.engine.value(call))
        cached = self.engine.cached(call)
        self.engine.enqueue(call)
        return self._results.later(call, cached.value if cached else None)

    def _may_come_later(self, document: Any) -> bool:
        """Whether the value can be filled in later; if so, that is started."""
        identifier = document_id(document)
        if identifier in self._collecting:
            return True
        situation = Situation.SHOWN if identifier in self._shown else self.situation(document)
        if situation is Situation.SHOWN:
            self._shown.add(identifier)  # finding a situation takes as long as several calls
            self.fill_in_later()
        elif situation is Situation.LOADING:
            self._collecting.add(identifier)
            document.addDocumentEventListener(_Loaded(self._finish_loading))
        return situation is not Situation.HIDDEN

    def situation(self, document: Any) -> Situation:
        """When the document's cells need their values."""
        return situation_of(document, screenless=self._screenless)

    def recalculate(self, document: Any) -> None:
        """Call every function of the document again and fill in what is new; returns when the values are there.

        For a document on the screen, call it from another thread than the main one.
        """
        if self.situation(document) is Situation.SHOWN:
            self.on_main(document.calculateAll)
            for _ in range(ROUNDS):
                if not self._fill_in():
                    break
            return
        self._collecting.add(document_id(document))
        document.calculateAll()
        self._settle(document)

    def on_main(self, action: Callable[[], Any]) -> Any:
        """Do something on Calc's main thread once it is idle, and wait for it."""
        callback = _OnMain(action)
        manager = self._context.ServiceManager
        manager.createInstanceWithContext("com.sun.star.awt.AsyncCallback", self._context).addCallback(callback, None)
        return callback.outcome.result()

    def fill_in_later(self) -> None:
        """Fetch the queued calls in another thread."""
        if self._worker is None:
            self._worker = threading.Thread(target=self._work, name="data service cells", daemon=True)
            self._worker.start()
        self._wake.set()

    def _work(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            try:
                self._fill_in()
            except Exception:  # noqa: BLE001 - the next call must find a worker
                traceback.print_exc()

    def _fill_in(self) -> bool:
        """Fetch the queued calls and notify their cells; whether there were any.

        The queue is taken on the main thread: when that is idle, all cells of a recalculation have called, and a call
        that no cell waits for costs no request. One thread at a time does this, so an empty queue means all is done.
        """
        with self._filling:
            calls, shown = self.on_main(self._take)
            if shown:
                self.engine.fetch(calls)
                self.on_main(lambda: self._push(calls))
            return bool(calls)

    def _take(self) -> tuple[list[Call], bool]:
        calls = self.engine.take_queue()
        return calls, self._results.is_shown(calls)

    def _push(self, calls: list[Call]) -> None:
        cached = {call: self.engine.cached(call) for call in calls}
        self._results.push({call: answer.value for call, answer in cached.items() if answer is not None})

    def _finish_loading(self, document: Any) -> None:
        self._settle(document)
        self._loaded(document)

    def _settle(self, document: Any) -> None:
        """Fetch what the document's cells have queued, until they queue nothing more."""
        for _ in range(ROUNDS):
            calls = self.engine.take_queue()
            if not calls:
                break
            self.engine.fetch(calls)
            self._push(calls)
            document.calculate()
        self._collecting.discard(document_id(document))


def document_id(document: Any) -> str:
    """An id that no other open document has."""
    return "" if document is None else str(document.RuntimeUID)


class _Loaded(unohelper.Base, XDocumentEventListener):  # type: ignore[misc]
    """Waits until a document is loaded."""

    def __init__(self, finish: Callable[[Any], None]) -> None:
        self._finish = finish

    def documentEventOccured(self, event: Any) -> None:  # noqa: N802 - UNO's name
        if event.EventName == "OnLoadFinished":
            event.Source.removeDocumentEventListener(self)
            try:
                self._finish(event.Source)
            except Exception:  # noqa: BLE001 - the document must open in any case
                traceback.print_exc()

    def disposing(self, event: Any) -> None:
        pass


class _OnMain(unohelper.Base, XCallback):  # type: ignore[misc]
    """An action for the main thread, and its result."""

    def __init__(self, action: Callable[[], Any]) -> None:
        self._action = action
        self.outcome: Future[Any] = Future()

    def notify(self, data: Any) -> None:  # noqa: ARG002 - UNO's signature
        try:
            self.outcome.set_result(self._action())
        except Exception as error:  # noqa: BLE001 - raised again in the waiting thread
            self.outcome.set_exception(error)
