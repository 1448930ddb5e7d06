"""Where soffice finds our two parts: the functions, and the commands of the menu."""

from __future__ import annotations

import os
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import uno
import unohelper

from .backend import Backend
from .calls import functions_of
from .commands import HANDLER, commands_class
from .engine import Engine
from .functions import ADD_IN, functions_class
from .host import Host
from .memo import Memo
from .service import Service
from .settings import read_built
from .tables import fit_tables

_built = read_built(Path(__file__).parent, os.environ)
_functions = functions_of(_built.functions)


@lru_cache(maxsize=1)
def _host() -> Host:
    """The one host of this process: Calc makes several objects of each part, and all must know the same values."""
    engine = Engine(
        Backend(_built.address, time.monotonic),
        Memo(time.monotonic),
        {function.id: function for function in _functions},
    )
    return Host(uno.getComponentContext(), engine, _loaded)


def _loaded(document: Any) -> None:
    if _built.fit:
        fit_tables(document, _built.namespace, _host().engine)


g_ImplementationHelper = unohelper.ImplementationHelper()  # noqa: N816 - soffice looks for this name
for _class, _name, _services in (
    (
        functions_class(_built.namespace, _built.interface, _functions, _host),
        _built.namespace,
        (_built.namespace, ADD_IN),
    ),
    (
        commands_class(_built.commands, _built.protocol, lambda: Service(_host(), _built.namespace)),
        _built.commands,
        (HANDLER,),
    ),
):
    g_ImplementationHelper.addImplementation(_class, _name, _services)
