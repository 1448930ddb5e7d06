"""The menu and the toolbar as Calc sees them: a protocol whose addresses are our commands."""

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
from .report import in_one_line
from .service import Service

HANDLER = "com.sun.star.frame.ProtocolHandler"
TITLE = "Data Service"
OK_BUTTON = 1
INFOBAR, INFOBAR_SUCCESS, INFOBAR_WARNING = "data-service", 1, 2


class Outcome(NamedTuple):
    """How a command ended, and what to tell the user."""

    state: int
    text: str


def commands_class(name: str, protocol: str, service: Callable[[], Service]) -> type:
    """The class that handles `protocol`, registered under the implementation `name`."""

    def start(self: Any, context: Any) -> None:  # noqa: ARG001 - UNO gives its context to every object
        _Commands.__init__(self, service())

    return type("Commands", (_Commands,), {"__init__": start, "name": name, "protocol": protocol})


class _Commands(unohelper.Base, XInitialization, XDispatchProvider, XNotifyingDispatch, XServiceInfo):  # type: ignore[misc]
    """One for each window."""

    name = ""
    protocol = ""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._frame: Any = None
        self._actions: dict[str, Callable[[Any], str]] = {
            "refresh": lambda document: service.refresh(document, "stale"),
            "refresh-everything": lambda document: service.refresh(document, "force"),
            "explain": service.explain,
            "status": lambda _: service.state(),
        }

    def initialize(self, arguments: Any) -> None:
        """The window that the commands come from."""
        if arguments:
            self._frame = arguments[0]

    def queryDispatch(self, url: Any, target: str, flags: int) -> Any:  # noqa: ARG002, N802 - UNO's signature
        """Ourselves, where the address is one of our commands."""
        return self if url.Protocol == self.protocol and url.Path in self._actions else None

    def queryDispatches(self, requests: Any) -> Any:  # noqa: N802 - UNO's name
        """As `queryDispatch`, for several."""
        return tuple(self.queryDispatch(r.FeatureURL, r.FrameName, r.SearchFlags) for r in requests)

    def dispatch(self, url: Any, arguments: Any) -> None:
        """Do a command."""
        self.dispatchWithNotification(url, arguments, None)

    def dispatchWithNotification(self, url: Any, arguments: Any, listener: Any) -> None:  # noqa: ARG002, N802 - UNO
        """Do a command; the listener is told in words what was done. Where somebody looks, Calc goes on meanwhile."""
        document = self._frame.getController().getModel()
        if not self._service.is_shown(document):
            self._notify(listener, self._attempt(url.Path, document))
            return

        def work() -> None:
            outcome = self._attempt(url.Path, document)
            self._service.on_main(document, lambda: self._show(url.Path, outcome))
            self._notify(listener, outcome)

        threading.Thread(target=work, name=f"data service {url.Path}", daemon=True).start()

    def _attempt(self, command: str, document: Any) -> Outcome:
        try:
            return Outcome(SUCCESS, self._actions[command](document))
        except BackendError as error:
            return Outcome(FAILURE, str(error))
        except Exception as error:  # noqa: BLE001 - a command that failed must say so
            traceback.print_exc()
            return Outcome(FAILURE, f"that failed ({error!r}); please report this")

    def _notify(self, listener: Any, outcome: Outcome) -> None:
        if listener is not None:
            listener.dispatchFinished(DispatchResultEvent(State=outcome.state, Result=outcome.text, Source=self))

    def _show(self, command: str, outcome: Outcome) -> None:
        """A refresh reports in a bar above the cells, which stops nobody; what was asked for, in a box."""
        done = outcome.state == SUCCESS
        if command.startswith("refresh"):
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
        """Our commands can always be given."""

    def removeStatusListener(self, control: Any, url: Any) -> None:  # noqa: N802 - UNO's name
        """See `addStatusListener`."""

    def getImplementationName(self) -> str:  # noqa: N802 - UNO's name
        """The name in the extension's list of components."""
        return self.name

    def supportsService(self, name: str) -> bool:  # noqa: N802 - UNO's name
        """Whether this is a handler of protocols."""
        return name == HANDLER

    def getSupportedServiceNames(self) -> Any:  # noqa: N802 - UNO's name
        """A handler of protocols."""
        return (HANDLER,)
