"""An engine's side of the conversation: requests on standard input, answers on standard output.

Each is a MessagePack value behind its length.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO

import msgspec

MEMORY_LIMIT_BYTES = 4 * 1024**3
"""Address space of an engine's process, where the system can limit it."""


def limit_memory() -> None:
    """Let a request for more memory fail, before the whole machine suffers."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))
    except (ImportError, OSError, ValueError):
        pass


def _lift_inherited_limit() -> None:
    """Take more memory than whoever started this may: it goes on for others, who look from outside at what it holds."""
    with suppress(ImportError, AttributeError, OSError, ValueError):
        import resource

        most = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def serve(make: Callable[..., Any]) -> None:
    """Answer requests until the input ends; an exception is an answer too. What an engine prints goes nowhere."""
    _lift_inherited_limit()
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _serve(make, sys.stdin.buffer, target)


def _serve(make: Callable[..., Any], source: BinaryIO, target: BinaryIO) -> None:
    calculator: Any = None
    while len(header := source.read(4)) == 4:
        method, arguments, evaluates_first = msgspec.msgpack.decode(
            source.read(struct.unpack(">I", header)[0]), strict=False
        )
        try:
            if method == "open":
                if calculator is not None:
                    calculator.close()
                calculator, result = make(**arguments), None
            else:
                if evaluates_first:
                    calculator.evaluate()
                result = getattr(calculator, method)(**arguments)
            answer: dict[str, Any] = {"result": result}
        except BaseException as error:  # noqa: BLE001 - a panic of an engine is none of Exception
            answer = {"failed": f"{type(error).__name__}: {error}"[:300]}
        content = msgspec.msgpack.encode(answer)
        target.write(struct.pack(">I", len(content)) + content)
        target.flush()
