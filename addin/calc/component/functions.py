"""The object that Calc calls: one method for every function of the library."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import uno
import unohelper
from com.sun.star.lang import XServiceInfo

from .calls import Function
from .host import Host

ADD_IN = "com.sun.star.sheet.AddIn"


def functions_class(service: str, interface: str, functions: Sequence[Function], host: Callable[[], Host]) -> type:
    """The class for the add-in service; `interface` is declared by the extension's own type library."""

    def start(self: Any, context: Any) -> None:  # noqa: ARG001 - UNO gives its context to every object
        self.host = host()

    members: dict[str, Any] = {
        "__init__": start,
        "getImplementationName": lambda _: service,
        "supportsService": lambda _, name: name in (service, ADD_IN),
        "getSupportedServiceNames": lambda _: (service, ADD_IN),
    }
    members.update((function.id, _method(function)) for function in functions)
    return type("Functions", (unohelper.Base, uno.getClass(interface), XServiceInfo), members)


def _method(function: Function) -> Callable[..., Any]:
    def call(self: Any, document: Any, *raw: Any) -> Any:
        return self.host.result(function, document, raw)

    return call
