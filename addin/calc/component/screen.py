"""Documents in windows: Calc is never held up; cells fill in as values arrive, and the status bar tells how far."""

from __future__ import annotations

import threading
import traceback
from contextlib import suppress
from typing import Any, Callable, Iterable, Sequence

from com.sun.star.uno import RuntimeException

from .calls import Call, function_id
from .engine import Engine
from .main_thread import MainThread
from .protocol import Question
from .report import loading
from .results import Results
from .tables import calculate_out_of_sight

LOOK_S = 0.2
"""How often a window that is being opened is looked at."""


class Screen:
    """One for all windows; `settled` gets each document that was opened, as soon as it shows its values.

    `ask` shows the backend's question above a document's cells, or takes it away if there is none.
    """

    def __init__(
        self,
        main: MainThread,
        engine: Engine,
        results: Results,
        settled: Callable[[Any], None],
        ask: Callable[[Any, Question | None], None],
        call_again: Callable[..., bool],
    ) -> None:
        self._main = main
        self._engine = engine
        self._results = results
        self._settled = settled
        self._ask = ask
        self._call_again = call_again
        self._documents: dict[str, Any] = {}
        """The documents in windows whose cells called."""
        self._to_ask: dict[str, Any] = {}
        """Documents in whose windows the backend's question is to be shown, or taken away."""
        self._known: set[str] = set()
        self._opened: set[str] = set()
        self._waiting: dict[str, Any] = {}
        self._wake = threading.Event()
        self._filling = threading.Lock()
        self._worker: threading.Thread | None = None
        self._indicator: Any = None

    def knows(self, identifier: str) -> bool:
        """Return whether cells of this document waited before."""
        return identifier in self._known

    def keep(self, identifier: str, document: Any) -> None:
        """Remember a document whose cells call."""
        self._documents[identifier] = document

    def fill_in_later(self, identifier: str, document: Any) -> None:
        """A cell of the document waits: for its value, or until Calc has calculated what is on the screen."""
        self.keep(identifier, document)
        if identifier not in self._known:
            self._known.add(identifier)
            self._opened.add(identifier)
        self._waiting[identifier] = document
        if self._worker is None:
            self._worker = threading.Thread(target=self._work, name="data service cells", daemon=True)
            self._worker.start()
        self._wake.set()

    def fill_in(self) -> bool:
        """Fetch what is there of the queued calls and notify their cells; whether there were any.

        The queue is taken on the main thread: when that is idle, all cells of a recalculation have called, and a call
        that no cell waits for costs no request. One thread at a time does this, so an empty queue means all is done.
        """
        with self._filling:
            calls: list[Call] = self._main.run(self._take)
            if calls:
                pending = self._engine.fetch_some(calls)
                self._main.run(lambda: self._push(calls, pending))
            else:
                self._main.run(self._finish)
            return bool(calls)

    def _work(self) -> None:
        while True:
            try:
                if not self._wake.wait(self._engine.retry_s):
                    if self._engine.try_reconnect():
                        self._opened.update(self._documents)  # their tables could not be fitted meanwhile
                        self._main.run(self._let_call_again)
                    continue
                self._wake.clear()
                while self.fill_in():
                    pass
                while not self._main.run(self._show_question) and not self._wake.wait(LOOK_S):
                    pass
                self._look_behind()
            except Exception:  # noqa: BLE001 - the next call must find a worker
                traceback.print_exc()

    def _look_behind(self) -> None:
        """Let cells call again whose values something else made untrue: a refresh elsewhere, or a call they tell of."""
        if self._engine.is_check_due:
            self._engine.check_generation()
        if self._engine.take_refreshed():
            self._main.run(self._let_call_again)
        elif reports := {function_id(call) for call in self._engine.expire_reports()}:
            self._main.run(lambda: self._let_call_again(reports))

    def _let_call_again(self, functions: Iterable[str] = ()) -> None:
        for identifier, document in list(self._documents.items()):
            is_open = False
            with suppress(RuntimeException, AttributeError):  # it was closed meanwhile
                self._call_again(document, functions)
                is_open = True
            if not is_open:
                del self._documents[identifier]

    def _take(self) -> list[Call]:
        self._results.deliver()
        calls = self._engine.take_queue()
        return calls if self._results.is_shown(calls) else []

    def _push(self, calls: list[Call], pending: Sequence[Call]) -> None:
        still = set(pending)
        self._results.push(self._engine.values([call for call in calls if call not in still]))
        for call in pending:
            if self._results.shows_last(call):
                self._engine.enqueue(call)
        self._show_progress(is_loading=bool(pending))

    def _show_question(self) -> bool:
        """Ask in every window whose cells waited, or take the question away; whether all of them show it by now."""
        for identifier, document in list(self._to_ask.items()):
            with suppress(RuntimeException, AttributeError):  # it was closed meanwhile
                # A bar that comes while a document is still being loaded would leave its window unfinished.
                if not document.getCurrentController().getFrame().getContainerWindow().isVisible():
                    continue
                self._ask(document, self._engine.backend.question)
            del self._to_ask[identifier]
        return not self._to_ask

    def _show_progress(self, *, is_loading: bool) -> None:
        """Tell in the status bar how far loading is; an office without one goes without."""
        with suppress(RuntimeException, AttributeError):
            if not is_loading:
                if self._indicator is not None:
                    self._indicator.end()
                self._indicator = None
                return
            progress = self._engine.backend.progress
            if self._indicator is None:
                document = next(iter(self._waiting.values()))
                self._indicator = document.getCurrentController().getFrame().createStatusIndicator()
                self._indicator.start("", 100)
            if progress is not None:
                self._indicator.setText(loading(progress))
                self._indicator.setValue(100 * progress.done // max(1, progress.of))

    def _finish(self) -> None:
        """Calculate what is not in sight, and draw the charts: Calc does neither when a cell gets a later result."""
        self._show_progress(is_loading=False)
        self._engine.end_loading()
        documents, self._waiting = self._waiting, {}
        self._to_ask.update(documents)
        for identifier, document in documents.items():
            with suppress(RuntimeException):  # it was closed meanwhile
                if document.isAutomaticCalculationEnabled():
                    calculate_out_of_sight(document)
                if identifier in self._opened and identifier not in self._waiting:
                    self._opened.discard(identifier)
                    self._settled(document)
