"""`@udf` declares a coroutine as a function of the library, which Python calls through the session in use.

The coroutine's signature, annotations and docstring say all that hosts and documents show of it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

from dataservice.client import AsyncClient
from udfs.arguments.parameters import signature_of
from udfs.engine.registry import Body, Shape, Udf
from udfs.engine.session import Session

_session: ContextVar[Session | None] = ContextVar("session", default=None)


class CallableUdf(Udf):
    """A function of the library. Awaiting a call of it gives plain Python: a value, or a frame for a table."""

    __slots__ = ()

    async def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function from Python, through the session in use (`udfs.use`)."""
        rest = [parameter.name for parameter in self.parameters][len(args) :]
        unknown = kwargs.keys() - set(rest)
        if unknown:
            raise TypeError(f"{self.id} has no further argument {', '.join(sorted(unknown))}")
        return await current_session().value(self.id, [*args, *(kwargs.get(name) for name in rest)])


def udf(
    *,
    group: str,
    shape: Shape = "value",
    examples: Sequence[str] = (),
    keep_s: float | None = None,
    runs_last: bool = False,
) -> Callable[[Body], CallableUdf]:
    """Make a function of the library of a coroutine; its name is the id, its docstring the help."""

    def declare(body: Body) -> CallableUdf:
        summary, _, details = inspect.cleandoc(body.__doc__ or "").partition("\n\n")
        parameters, injected = signature_of(body)
        return CallableUdf(
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
        )

    return declare


def use(session: Session) -> None:
    """Make `session` the one that `await udfs.SIGNAL(...)` goes through in this context."""
    _session.set(session)


def current_session() -> Session:
    """The session in use; the first call makes one from the environment.

    The environment gives `DATA_SERVICE_URL` and `DATA_SERVICE_API_KEY`.
    """
    session = _session.get()
    if session is None:
        session = Session(AsyncClient())
        use(session)
    return session
