"""`@udf` declares a coroutine as a function of the library.

The coroutine's signature, annotations and docstring say all that hosts and documents show of it. What Python calls is
made from them too (`udfs.engine.in_python.python_function`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence

from udfs.arguments.parameters import signature_of
from udfs.engine.effects import FastPath
from udfs.engine.in_python.python_function import PythonFunction, python_function
from udfs.engine.registry import Body, Shape, Udf


def udf(
    *,
    group: str,
    shape: Shape = "value",
    examples: Sequence[str] = (),
    keep_s: float | None = None,
    runs_last: bool = False,
    at_once: FastPath | None = None,
) -> Callable[[Body], PythonFunction]:
    """Make a function of the library of a coroutine; its name is the id, its docstring the help."""

    def declare(body: Body) -> PythonFunction:
        summary, _, details = inspect.cleandoc(body.__doc__ or "").partition("\n\n")
        parameters, injected = signature_of(body)
        function = Udf(
            id=body.__name__,
            summary=" ".join(summary.split()),
            details=details,
            parameters=parameters,
            injected=injected,
            shape=shape,
            group=group,
            examples=tuple(examples),
            body=body,
            keep_s=keep_s,
            runs_last=runs_last,
            at_once=at_once,
        )
        return python_function(function)

    return declare
