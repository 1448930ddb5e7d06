"""The type stubs of `udfs`: what editors complete and type checkers check, as the functions' own signatures say it."""

from __future__ import annotations

import inspect
import textwrap
from pathlib import Path
from typing import Any

import udfs.sync
from docs.generate.imports import PROJECT
from udfs.functions.registered import FUNCTIONS

__all__ = ["stubs"]

STUB = PROJECT / "udfs" / "__init__.pyi"
SYNC_STUB = PROJECT / "udfs" / "sync.pyi"

HEAD = '''"""The function library, for type checkers and editors. Generated: `make reference` writes it again."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

'''

DAY = "_Day: TypeAlias = date | np.datetime64 | pd.Period | str"


def stubs() -> dict[Path, str]:
    """The text of each stub by its file."""
    return {STUB: _stub(), SYNC_STUB: _sync_stub()}


def _sync_stub() -> str:
    imported = "from udfs.engine.shared_session import close as close"
    functions = [getattr(udfs.sync, function.__name__) for function in FUNCTIONS]
    declared = [_declared(each, _returned(own), "def") for each, own in zip(functions, FUNCTIONS, strict=True)]
    return HEAD.replace("The function library,", "The functions that wait,") + "\n".join(
        [imported, "", DAY, "", *declared]
    )


def _stub() -> str:
    functions = {function.__name__ for function in FUNCTIONS}
    others = [getattr(udfs, name) for name in udfs.__all__ if name not in functions and name != "REGISTRY"]
    imports = sorted(
        ["from udfs.engine.registry import REGISTRY as REGISTRY"]
        + [f"from {each.__module__} import {each.__name__} as {each.__name__}" for each in others],
        key=str.casefold,
    )
    declared = [_declared(each, _returned(each), "async def") for each in FUNCTIONS]
    return HEAD + "\n".join([*imports, "", DAY, "", *declared])


def _returned(function: Any) -> str:
    return "pd.DataFrame" if function.udf.shape == "table" else "Any"


def _declared(function: Any, returned: str, keyword: str) -> str:
    documented = textwrap.indent(f'"""{function.__doc__}\n"""', "    ", lambda line: bool(line.strip()))
    head = f"{keyword} {function.__name__}(\n{_parameters(function)}) -> {returned}:\n"
    return head.replace("(\n)", "()") + documented + "\n"


def _parameters(function: Any) -> str:
    lines: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "    *,\n" not in lines:
            lines.append("    *,\n")
        default = "" if parameter.default is parameter.empty else f" = {_literal(parameter.default)}"
        lines.append(f"    {parameter.name}: {_hint(parameter.annotation)}{default},\n")
    return "".join(lines)


def _literal(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _hint(annotation: Any) -> str:
    text = inspect.formatannotation(annotation)
    for module in ("collections.abc.", "typing.", "datetime."):
        text = text.replace(module, "")
    return text.replace("date | str", "_Day")
