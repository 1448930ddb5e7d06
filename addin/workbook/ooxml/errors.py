"""What is wrong with a workbook file, as one error with a reason."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lxml import etree

from addin.errors import AddinError

UNEXPECTED = "this is unexpected; please report it"
"""The end of the message where the reason is none that we know of."""

_UNEXPECTED = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    etree.LxmlError,
)


class WorkbookError(AddinError):
    """The file cannot be used as a workbook; the message says why and what to do."""


def damaged(part: str, what: str) -> WorkbookError:
    """The error for something in a part that no spreadsheet program writes."""
    return WorkbookError(f"the workbook is damaged: {part}: {what}")


@contextmanager
def any_failure_explained(path: Path) -> Iterator[None]:
    """Turn whatever else a damaged file causes into a `WorkbookError`, so that no traceback ends a command.

    Nothing is written before all parts have been read, so the file at `path` is unchanged.
    """
    try:
        yield
    except AddinError:
        raise
    except _UNEXPECTED as error:
        what = f"{type(error).__name__}: {error}"
        raise WorkbookError(f"{path} could not be processed ({what}); it is unchanged. {UNEXPECTED}") from error
