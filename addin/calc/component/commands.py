"""The menu and the toolbar: a protocol whose addresses are our commands, and what they do to a document."""

from __future__ import annotations

import threading
import traceback
from typing import Any, Callable, NamedTuple

import unohelper
from com.sun.star.awt.MessageBoxType import INFOBOX, WARNINGBOX
from com.sun.star.frame import DispatchResultEvent, XDispatchProvider, XNotifyingDispatch
from com.sun.star.frame.DispatchResultState import FAILURE, SUCCESS
from com.sun.star.lang import XInitialization, XServiceInfo

from .backend import BackendError
from .calls import Call
from .documents import Situation
from .host import Host, document_id
from .report import explained, in_one_line, refreshed, revised_in, signals_in, state
from .tables import cells_in_error, computed, fit_tables

HANDLER = "com.sun.star.frame.ProtocolHandler"
TITLE = "Data Service"
OK_BUTTON = 1
INFOBAR, INFOBAR_SUCCESS, INFOBAR_WARNING = "data-service", 1, 2


class Outcome(NamedTuple):
    """How a command ended, and what to tell the user."""

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
            before = engine.backend.requests
            engine.backend.refresh(mode)
            engine.expire()
            self._host.recalculate(document)
            fitted = self._on_main(document, lambda: fit_tables(document, self._namespace, engine))
            blocked = [f"{place}: the cells its table needs are in use" for place in fitted.blocked]
            self._host.blocked[document_id(document)] = blocked
            spent = engine.backend.requests - before
            return refreshed(spent, engine.backend.status(), fitted.changed, [*engine.messages(), *blocked])

    def _stop(self, document: Any) -> str:  # noqa: ARG002 - as every command
        """End what is loading; cells without a value say so."""
        return "Stopped. Refresh loads the rest." if self._host.engine.stop() else "Nothing is loading."

    def _status(self, document: Any) -> str:
        """The state of the backend, the key and the quota, which cells show errors and why."""
        backend = self._host.engine.backend
        cells = self._on_main(document, lambda: cells_in_error(document, self._namespace))
        blocked = self._host.blocked.get(document_id(document), [])
        problems = [*self._host.engine.messages(), *blocked]
        return state(backend.address.url, backend.status(), problems, cells)

    def _explain(self, document: Any) -> str:
        """What the calls in the selected cell returned, and which of their values was revised.

        Calc itself shows no reason for an error.
        """
        cell, calls = self._on_main(document, lambda: self._traced(document))
        slugs = signals_in(calls)
        try:
            answers = self._host.engine.backend.answers([("REVISIONS", slug) for slug in slugs]) if slugs else []
        except BackendError:  # then it has no revisions to tell; what the cell shows is told all the same
            answers = []
        revised = [revision for slug, answer in zip(slugs, answers) if (revision := revised_in(slug, answer))]
        return explained(cell, self._namespace, [(call, self._host.engine.cached(call)) for call in calls], revised)

    def _traced(self, document: Any) -> tuple[str, list[Call]]:
        """The name of the selected cell, and the calls in it."""
        sheet = document.getCurrentController().getActiveSheet()
        cell = sheet.createCursorByRange(document.getCurrentSelection()).getCellByPosition(0, 0)
        formula = cell.getFormula().strip("{}")
        engine = self._host.engine
        with engine.tracing() as calls:
            if formula.startswith("="):
                computed(document, sheet, [formula])
        return cell.AbsoluteName.replace("$", ""), list(calls)

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
        if command.startswith("refresh") or command == "stop":
            self._show_bar(outcome.text, is_fine=done and "\n" not in outcome.text)
            return
        window = self._frame.getContainerWindow()
        kind = INFOBOX if done else WARNINGBOX
        box = window.getToolkit().createMessageBox(window, kind, OK_BUTTON, TITLE, outcome.text)
        box.execute()
        box.dispose()

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
        """Whether this is a protocol handler."""
        return name == HANDLER

    def getSupportedServiceNames(self) -> Any:  # noqa: N802 - UNO's name
        """A protocol handler."""
        return (HANDLER,)
