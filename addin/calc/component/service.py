"""What the menu offers, for one document: refresh, the state of everything, and why a cell shows what it shows."""

from __future__ import annotations

import threading
from typing import Any, Callable

from .documents import Situation
from .host import Host
from .report import explained, refreshed, state
from .scratch import worked_out
from .tables import fit_tables


class Service:
    """Each command gives what to tell the user, in words, and raises `BackendError` where the backend is missing.

    For a document on the screen they are to be called from another thread than the main one.
    """

    def __init__(self, host: Host, namespace: str) -> None:
        self._host = host
        self._namespace = namespace
        self._refreshing = threading.Lock()

    def refresh(self, document: Any, mode: str) -> str:
        """Ask for new values (`stale` or `force`), fill them in and fit the tables."""
        with self._refreshing:
            return self._refresh(document, mode)

    def _refresh(self, document: Any, mode: str) -> str:
        engine = self._host.engine
        before = engine.backend.status()
        engine.backend.refresh(mode)
        engine.expire()
        self._host.recalculate(document)
        fitted = self.on_main(document, lambda: fit_tables(document, self._namespace, engine))
        troubles = [*engine.messages(), *(f"{place}: the cells its table needs are in use" for place in fitted.blocked)]
        return refreshed(before, engine.backend.status(), fitted.changed, troubles)

    def state(self) -> str:
        """The state of the backend, the key and the allowance, and why cells show errors."""
        backend = self._host.engine.backend
        return state(backend.address.url, backend.status(), self._host.engine.messages())

    def explain(self, document: Any) -> str:
        """What the calls in the selected cell gave; Calc itself shows no reason for an error."""
        return str(self.on_main(document, lambda: self._explain(document)))

    def is_shown(self, document: Any) -> bool:
        """Whether somebody looks at the document."""
        return self._host.situation(document) is Situation.SHOWN

    def on_main(self, document: Any, action: Callable[[], Any]) -> Any:
        """Do something where Calc's document may be touched."""
        return self._host.on_main(action) if self.is_shown(document) else action()

    def _explain(self, document: Any) -> str:
        view = document.getCurrentController()
        cursor = view.getActiveSheet().createCursorByRange(document.getCurrentSelection())
        cell = cursor.getCellByPosition(0, 0)
        formula = cell.getFormula().strip("{}")
        name = cell.AbsoluteName.replace("$", "")
        with self._host.engine.tracing() as calls:
            if formula.startswith("="):
                worked_out(document, view.getActiveSheet(), [formula])
        return explained(name, self._namespace, [(call, self._host.engine.known(call)) for call in calls])
