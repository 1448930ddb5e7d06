"""Calls from Calc's cells: answered from the cache, fetched now, or filled in later."""

from __future__ import annotations

import threading
import traceback
from typing import Any, Callable

import unohelper
from com.sun.star.document import XDocumentEventListener

from .calls import Call, Function, call_of, function_id
from .documents import DayCounts, Situation, is_screenless, own_command_line, situation_of
from .engine import Engine
from .main_thread import MainThread
from .protocol import Question
from .results import Results
from .screen import Screen
from .values import NA, Value

ROUNDS = 10
"""How deep calls may be nested in each other's arguments; each level is a batch of its own."""


class Host:
    """One for all documents of the process; `loaded` and `opened` get a document once its values are there.

    `call_again` lets a document's cells call our functions again. `loaded` is for documents that a program loads
    without a window, `opened` for those in a window; `ask` shows the backend's question in a window.
    """

    def __init__(
        self,
        context: Any,
        engine: Engine,
        *,
        call_again: Callable[..., bool],
        loaded: Callable[[Any], None],
        opened: Callable[[Any], None],
        ask: Callable[[Any, Question | None], None],
    ) -> None:
        self.engine = engine
        self.main = MainThread(context)
        self._call_again = call_again
        self._loaded = loaded
        self._results = Results()
        self._counts = DayCounts()
        self._screen = Screen(self.main, engine, self._results, opened, ask, call_again)
        self.refreshing = threading.Lock()
        """Held while a document is refreshed: two windows would expire each other's values and count their requests."""
        self.blocked: dict[str, list[str]] = {}
        """Why tables did not fit at a document's last refresh."""
        self._collecting: set[str] = set()
        self._screenless = is_screenless(own_command_line())

    def result(self, function: Function, document: Any, raw: tuple[Any, ...]) -> Any:
        """The result of one call; never raises, because Calc shows any exception as a wrong formula."""
        try:
            return self._result(call_of(function, raw, self._counts.days_later(document)), document)
        except Exception:  # noqa: BLE001 - any failure becomes this one cell's error
            traceback.print_exc()
            return NA

    def _result(self, call: Call, document: Any) -> Any:
        if self.engine.is_check_due and not self.engine.is_tracing:
            self._hear_of_refreshes(document)
        fresh = self.engine.fresh(call)
        if fresh is not None:
            return self._now(call, fresh.value, document)
        cached = self.engine.cached(call)
        if cached is not None and self.engine.is_tracing:  # what is only looked at is not asked for again
            return self._now(call, cached.value, document)
        situation = self._situation(document)
        if situation is Situation.HIDDEN:
            return self._now(call, self.engine.value(call), document)
        self.engine.enqueue(call)
        self._will_come(document, situation)
        return self._results.later(call, cached.value if cached else None, waits=situation is Situation.SHOWN)

    def _hear_of_refreshes(self, document: Any) -> None:
        """Ask whether somebody refreshed everything: at once where cells need their values at once, else later."""
        if self._situation(document) is Situation.SHOWN:
            self._screen.fill_in_later(document_id(document), document)
        else:
            self.engine.check_generation()

    def _now(self, call: Call, value: Value, document: Any) -> Any:
        """The result for a value that is there; only a table waits until Calc has calculated what is on the screen."""
        is_table = isinstance(value, tuple)
        waits = is_table and not self.engine.is_tracing and self._situation(document) is Situation.SHOWN
        result = self._results.now(call, value, waits=waits)
        if waits and not result.is_delivered:
            self._screen.fill_in_later(document_id(document), document)
        return result

    def _will_come(self, document: Any, situation: Situation) -> None:
        identifier = document_id(document)
        if situation is Situation.SHOWN:
            self._screen.fill_in_later(identifier, document)
        elif identifier not in self._collecting:
            self._collecting.add(identifier)
            document.addDocumentEventListener(_Loaded(self._finish_loading))

    def _situation(self, document: Any) -> Situation:
        """The situation; remembered where it can be, because finding it out takes as long as several calls."""
        identifier = document_id(document)
        if identifier in self._collecting:
            return Situation.LOADING
        return Situation.SHOWN if self._screen.knows(identifier) else self.situation(document)

    def situation(self, document: Any) -> Situation:
        """Return when the document's cells need their values."""
        return situation_of(document, screenless=self._screenless)

    def work_out_stored(self, document: Any) -> None:
        """Let no cell of a document that was just loaded show the number it was stored with."""
        if self.situation(document) is Situation.SHOWN:
            self._screen.keep(document_id(document), document)
            self._call_again(document, tables=False)
            return
        identifier = document_id(document)
        self._collecting.add(identifier)
        try:
            if self._call_again(document, tables=False):
                document.calculate()
        finally:
            self._settle(document)

    def recalculate(self, document: Any) -> None:
        """Call every function of the document again and fill in what is new; returns when the values are there.

        For a document on the screen, call it from another thread than the main one.
        """
        if self.situation(document) is Situation.SHOWN:
            self.main.run(document.calculateAll)
            rounds = 0
            while rounds < ROUNDS and self._screen.fill_in():
                rounds += not self.engine.is_loading
            return
        self._collecting.add(document_id(document))
        document.calculateAll()
        self._settle(document)

    def _finish_loading(self, document: Any) -> None:
        self._settle(document)
        self._loaded(document)

    def _settle(self, document: Any) -> None:
        """Fetch what the document's cells have queued, until they queue nothing more."""
        for _ in range(ROUNDS):
            calls = self.engine.take_queue() or self._reports_again(document)
            if not calls:
                break
            self.engine.fetch(calls)
            self._results.push(self.engine.values(calls))
            document.calculate()
        self._collecting.discard(document_id(document))

    def _reports_again(self, document: Any) -> list[Call]:
        """The calls that report what others did, queued again behind these."""
        reports = {function_id(call) for call in self.engine.expire_reports()}
        if reports and self._call_again(document, reports):
            document.calculate()
        return self.engine.take_queue()


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
