"""The menu and the toolbar: a protocol whose addresses are our commands, and what they do to a document."""

from __future__ import annotations

import threading
import traceback
from typing import Any, Callable, NamedTuple

import unohelper
from com.sun.star.awt.MessageBoxType import INFOBOX, QUERYBOX, WARNINGBOX
from com.sun.star.beans import StringPair
from com.sun.star.frame import DispatchResultEvent, XDispatchProvider, XNotifyingDispatch
from com.sun.star.frame.DispatchResultState import FAILURE, SUCCESS
from com.sun.star.lang import XInitialization, XServiceInfo

from .backend import BackendError
from .calls import Call
from .documents import Situation
from .host import Host, document_id
from .protocol import Question
from .report import explained, filled, in_one_line, revised_in, signals_in, state, with_commas
from .tables import cells_in_error, computed, fit_tables

HANDLER = "com.sun.star.frame.ProtocolHandler"
TITLE = "Data Service"
OK_BUTTON, YES_NO_BUTTONS, YES = 1, 3, 2
INFOBAR, QUESTION_BAR = "data-service", "data-service-question"
INFOBAR_SUCCESS, INFOBAR_WARNING = 1, 2
NOTHING_ASKED = "No cell waits for a yes."


IN_BAR = frozenset({"refresh", "refresh-everything", "stop", "ask", "load", "do-not-load"})
"""Commands whose outcome is told in a bar above the cells, which needs no click."""


class Outcome(NamedTuple):
    """The outcome of a command, and what to tell the user."""

    state: int
    text: str


class Commands(unohelper.Base, XInitialization, XDispatchProvider, XNotifyingDispatch, XServiceInfo):  # type: ignore[misc]
    """The commands of one window; `name` and `protocol` are set by the class that is registered."""

    name = ""
    protocol = ""

    def __init__(self, host: Host, namespace: str) -> None:
        self._host = host
        self._namespace = namespace
        self._frame: Any = None
        self._actions: dict[str, Callable[[Any], str]] = {
            "refresh": lambda document: self._refresh(document, "stale"),
            "refresh-everything": lambda document: self._refresh(document, "force"),
            "stop": self._stop,
            "ask": self._ask,
            "load": self._load,
            "do-not-load": self._do_not_load,
            "explain": self._explain,
            "status": lambda document: self._status(document),
        }

    def initialize(self, arguments: Any) -> None:
        """Set the window that the commands come from."""
        if arguments:
            self._frame = arguments[0]

    def queryDispatch(self, url: Any, target: str, flags: int) -> Any:  # noqa: ARG002, N802 - UNO's signature
        """This object, if the address is one of our commands."""
        return self if url.Protocol == self.protocol and url.Path in self._actions else None

    def queryDispatches(self, requests: Any) -> Any:  # noqa: N802 - UNO's name
        """The same for several addresses."""
        return tuple(self.queryDispatch(r.FeatureURL, r.FrameName, r.SearchFlags) for r in requests)

    def dispatch(self, url: Any, arguments: Any) -> None:
        """Run a command."""
        self.dispatchWithNotification(url, arguments, None)

    def dispatchWithNotification(self, url: Any, arguments: Any, listener: Any) -> None:  # noqa: ARG002, N802 - UNO
        """Run a command, in another thread if the document is on the screen; the listener gets the outcome in words."""
        document = self._frame.getController().getModel()
        if not self._is_shown(document):
            self._notify(listener, self._attempt(url.Path, document))
            return

        def work() -> None:
            outcome = self._attempt(url.Path, document)
            self._on_main(document, lambda: self._show(url.Path, outcome))
            self._notify(listener, outcome)

        threading.Thread(target=work, name=f"data service {url.Path}", daemon=True).start()

    def _attempt(self, command: str, document: Any) -> Outcome:
        try:
            return Outcome(SUCCESS, self._actions[command](document))
        except BackendError as error:
            return Outcome(FAILURE, str(error))
        except Exception as error:  # noqa: BLE001 - the user must see that a command failed
            traceback.print_exc()
            return Outcome(FAILURE, f"that failed ({error!r}); please report this")

    def _refresh(self, document: Any, mode: str) -> str:
        """Fetch new values (`stale` or `force`), fill them in and fit the tables; what to tell the user."""
        engine = self._host.engine
        with self._host.refreshing:
            engine.backend.refresh(mode)
            engine.expire()
            return self._filled(document, "Refreshed")

    def _filled(self, document: Any, what: str) -> str:
        """Calculate the document with the values that are to be had, and fit its tables; what to tell the user."""
        engine = self._host.engine
        before = engine.backend.requests
        self._host.recalculate(document)
        fitted = self._on_main(document, lambda: fit_tables(document, self._namespace, engine))
        blocked = [f"{place}: the cells its table needs are in use" for place in fitted.blocked]
        self._host.blocked[document_id(document)] = blocked
        spent = engine.backend.requests - before
        return filled(what, spent, engine.backend.status(), fitted.changed, [*engine.messages(), *blocked])

    def _stop(self, document: Any) -> str:  # noqa: ARG002 - as every command
        """End what is loading; cells without a value say so."""
        return "Stopped. Refresh loads the rest." if self._host.engine.stop() else "Nothing is loading."

    def _ask(self, document: Any) -> str:
        """Ask whether the cells that wait may be loaded, and do what the user says."""
        question = self._host.engine.backend.question
        if question is None or not self._is_shown(document):
            return NOTHING_ASKED if question is None else question.text
        text = f"{question.text}\n\nLoad the cells that wait?"
        yes = self._on_main(document, lambda: self._box(QUERYBOX, YES_NO_BUTTONS, text)) == YES
        return self._load(document) if yes else self._do_not_load(document)

    def _load(self, document: Any) -> str:
        """Allow what the backend asks for, and load it."""
        with self._host.refreshing:
            if not self._answered(document, load=True):
                return NOTHING_ASKED
            self._host.engine.expire()
            return self._filled(document, "Loaded")

    def _do_not_load(self, document: Any) -> str:
        """Leave the cells empty until the next refresh."""
        is_asked = self._answered(document, load=False)
        return "Not loaded; nothing was spent. Refresh asks again." if is_asked else NOTHING_ASKED

    def _answered(self, document: Any, *, load: bool) -> bool:
        """Answer the question, which is not shown any more; False if there is none."""
        backend = self._host.engine.backend
        question = backend.question
        self._on_main(document, lambda: show_question(document, None, self.protocol))
        if question is not None:
            backend.answer_question(question.id, load=load)
        return question is not None

    def _status(self, document: Any) -> str:
        """The state of the backend, the key and the quota, which cells show errors and why."""
        backend = self._host.engine.backend
        cells = self._on_main(document, lambda: cells_in_error(document, self._namespace))
        blocked = self._host.blocked.get(document_id(document), [])
        problems = [*self._host.engine.messages(), *blocked]
        return state(backend.address.url, backend.status(), problems, cells)

    def _explain(self, document: Any) -> str:
        """Return what the calls in the selected cell returned, and which of their values was revised.

        Calc itself shows no reason for an error.
        """
        cell, formula, calls = self._on_main(document, lambda: self._traced(document))
        if formula.startswith("=") and not calls and (advice := self._advice(formula)):
            return f"{cell}: {advice}"
        slugs = signals_in(calls)
        try:
            answers = self._host.engine.backend.answers([("REVISIONS", slug) for slug in slugs]) if slugs else []
        except BackendError:  # then it has no revisions to tell; what the cell shows is told all the same
            answers = []
        revised = [revision for slug, answer in zip(slugs, answers) if (revision := revised_in(slug, answer))]
        return explained(cell, self._namespace, [(call, self._host.engine.cached(call)) for call in calls], revised)

    def _advice(self, formula: str) -> str | None:
        try:
            return self._host.engine.backend.advice(with_commas(formula))
        except BackendError:
            return None

    def _traced(self, document: Any) -> tuple[str, str, list[Call]]:
        """The name of the selected cell, its formula, and the calls in it."""
        sheet = document.getCurrentController().getActiveSheet()
        cell = sheet.createCursorByRange(document.getCurrentSelection()).getCellByPosition(0, 0)
        formula = cell.getFormula().strip("{}")
        engine = self._host.engine
        with engine.tracing() as calls:
            if formula.startswith("="):
                computed(document, sheet, [[formula]])
        return cell.AbsoluteName.replace("$", ""), formula if cell.getError() else "", list(calls)

    def _is_shown(self, document: Any) -> bool:
        return self._host.situation(document) is Situation.SHOWN

    def _on_main(self, document: Any, action: Callable[[], Any]) -> Any:
        """Run an action where the document may be touched."""
        return self._host.main.run(action) if self._is_shown(document) else action()

    def _notify(self, listener: Any, outcome: Outcome) -> None:
        if listener is not None:
            listener.dispatchFinished(DispatchResultEvent(State=outcome.state, Result=outcome.text, Source=self))

    def _show(self, command: str, outcome: Outcome) -> None:
        """Report a refresh in a bar above the cells, which needs no click; everything else in a message box."""
        done = outcome.state == SUCCESS
        if command in IN_BAR:
            self._show_bar(outcome.text, is_fine=done and "\n" not in outcome.text)
            return
        self._box(INFOBOX if done else WARNINGBOX, OK_BUTTON, outcome.text)

    def _box(self, kind: Any, buttons: int, text: str) -> Any:
        """Show a message box; the button that was pressed."""
        window = self._frame.getContainerWindow()
        box = window.getToolkit().createMessageBox(window, kind, buttons, TITLE, text)
        pressed = box.execute()
        box.dispose()
        return pressed

    def _show_bar(self, text: str, *, is_fine: bool) -> None:
        view, can_be_closed = self._frame.getController(), True
        if view.hasInfobar(INFOBAR):
            view.removeInfobar(INFOBAR)
        kind = INFOBAR_SUCCESS if is_fine else INFOBAR_WARNING
        view.appendInfobar(INFOBAR, TITLE, in_one_line(text), kind, (), can_be_closed)

    def addStatusListener(self, control: Any, url: Any) -> None:  # noqa: N802 - UNO's name
        """Our commands are always enabled."""

    def removeStatusListener(self, control: Any, url: Any) -> None:  # noqa: N802 - UNO's name
        """See `addStatusListener`."""

    def getImplementationName(self) -> str:  # noqa: N802 - UNO's name
        """The name in the extension's list of components."""
        return self.name

    def supportsService(self, name: str) -> bool:  # noqa: N802 - UNO's name
        """Return whether this is a protocol handler."""
        return name == HANDLER

    def getSupportedServiceNames(self) -> Any:  # noqa: N802 - UNO's name
        """A protocol handler."""
        return (HANDLER,)


def show_question(document: Any, question: Question | None, protocol: str) -> None:
    """Show the backend's question in a bar above the cells, with a button for each answer; None takes the bar away."""
    view, can_be_closed = document.getCurrentController(), True
    if view is None:
        return
    if view.hasInfobar(QUESTION_BAR):
        view.removeInfobar(QUESTION_BAR)
    if question is not None:
        buttons = (StringPair("Load", f"{protocol}load"), StringPair("Not Now", f"{protocol}do-not-load"))
        view.appendInfobar(QUESTION_BAR, TITLE, question.text, INFOBAR_WARNING, buttons, can_be_closed)
