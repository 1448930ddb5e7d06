"""Where soffice finds our two parts: the functions, and the commands of the menu."""

from __future__ import annotations

import json
import os
import traceback
from functools import lru_cache
from pathlib import Path
from typing import Any, Callable, Iterable

import uno
import unohelper
from com.sun.star.lang import XServiceInfo
from com.sun.star.task import XJob

from .backend import Address, BackendClient
from .calls import Function, functions_of
from .clock import PassedTime
from .commands import HANDLER, Commands, show_question
from .engine import Engine
from .host import Host
from .protocol import Question
from .response_cache import ResponseCache
from .stored import call_again
from .tables import fit_opened, fit_tables

ADD_IN = "com.sun.star.sheet.AddIn"

JOB = "com.sun.star.task.Job"

URL = "DATA_SERVICE_ADDIN_URL"
"""The backend's address, instead of the one the extension was built with."""

CA_FILE = "DATA_SERVICE_ADDIN_CA"
"""A file with the certificate authority of an https backend, instead of the one in the extension."""

FIT = "DATA_SERVICE_ADDIN_FIT"
"""`no`: without a screen, a document's tables keep the size that it stores; one that became shorter ends in #N/A."""

_folder = Path(__file__).parent
_built = json.loads((_folder / "built.json").read_text(encoding="utf-8"))
_functions = functions_of(_built["functions"])


def _address() -> Address:
    ca_file = os.environ.get(CA_FILE) or (str(_folder / "ca.pem") if (_folder / "ca.pem").exists() else None)
    return Address((os.environ.get(URL) or _built["url"]).rstrip("/"), ca_file)


@lru_cache(maxsize=1)
def _host() -> Host:
    """The one host of this process: Calc makes several objects of each part, and all share the same values."""
    clock = PassedTime()
    backend, cache = BackendClient(_address(), clock), ResponseCache(clock)
    engine = Engine(backend, cache, {function.id: function for function in _functions}, clock)
    return Host(uno.getComponentContext(), engine, call_again=_call_again, loaded=_loaded, opened=_opened, ask=_ask)


def _call_again(document: Any, functions: Iterable[str] = (), *, tables: bool = True) -> bool:
    return call_again(document, _built["namespace"], functions, tables=tables)


def _loaded(document: Any) -> None:
    if os.environ.get(FIT, "").lower() not in ("0", "no", "false"):
        fit_tables(document, _built["namespace"], _host().engine)


def _opened(document: Any) -> None:
    fit_opened(document, _built["namespace"], _host().engine)


def _ask(document: Any, question: Question | None) -> None:
    show_question(document, question, _built["protocol"])


class _Functions(unohelper.Base, uno.getClass(_built["interface"]), XServiceInfo):  # type: ignore[misc]
    """The object that Calc calls, with one method for every function; its interface is in the type library."""

    def __init__(self, context: Any) -> None:  # noqa: ARG002 - UNO passes its context to every object
        self.host = _host()

    def getImplementationName(self) -> Any:  # noqa: N802 - UNO's name
        return _built["namespace"]

    def supportsService(self, name: str) -> bool:  # noqa: N802 - UNO's name
        return name in self.getSupportedServiceNames()

    def getSupportedServiceNames(self) -> Any:  # noqa: N802 - UNO's name
        return (_built["namespace"], ADD_IN)


def _method(function: Function) -> Callable[..., Any]:
    return lambda self, document, *raw: self.host.result(function, document, raw)


for _function in _functions:
    setattr(_Functions, _function.id, _method(_function))


class _Commands(Commands):
    name, protocol = _built["commands"], _built["protocol"]

    def __init__(self, context: Any) -> None:  # noqa: ARG002 - UNO passes its context to every object
        super().__init__(_host(), _built["namespace"])


class _Opened(unohelper.Base, XJob, XServiceInfo):  # type: ignore[misc]
    """Is told of every document that was opened, in a window or without one."""

    def __init__(self, context: Any) -> None:
        pass

    def execute(self, arguments: Any) -> None:
        """Work out the calls in the document's cells, which show the numbers that it was stored with."""
        try:
            given = {each.Name: each.Value for part in arguments if part.Name == "Environment" for each in part.Value}
            document = given.get("Model")
            if document is not None and document.supportsService("com.sun.star.sheet.SpreadsheetDocument"):
                _host().work_out_stored(document)
        except Exception:  # noqa: BLE001 - the document must open in any case
            traceback.print_exc()

    def getImplementationName(self) -> Any:  # noqa: N802 - UNO's name
        return _built["opened"]

    def supportsService(self, name: str) -> bool:  # noqa: N802 - UNO's name
        return name in self.getSupportedServiceNames()

    def getSupportedServiceNames(self) -> Any:  # noqa: N802 - UNO's name
        return (_built["opened"], JOB)


g_ImplementationHelper = unohelper.ImplementationHelper()  # noqa: N816 - soffice looks for this name
g_ImplementationHelper.addImplementation(_Functions, _built["namespace"], (_built["namespace"], ADD_IN))
g_ImplementationHelper.addImplementation(_Opened, _built["opened"], (_built["opened"], JOB))
g_ImplementationHelper.addImplementation(_Commands, _built["commands"], (HANDLER,))
