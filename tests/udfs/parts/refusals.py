"""What a wrong argument is told."""

from collections.abc import Callable
from typing import Any

from udfs.errors import ArgumentError


def refusal_of(read: Callable[[], Any]) -> str | None:
    """The message of the `ArgumentError` that `read()` ends with; None where it ends well."""
    try:
        read()
    except ArgumentError as error:
        return str(error)
    return None
