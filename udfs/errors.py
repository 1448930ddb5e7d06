"""What can go wrong in a cell, and the one table that turns any exception into what the cell shows.

    UdfError
    ├── ArgumentError     #VALUE!  the formula is wrong: which argument, what was given, what is allowed
    └── NoDataError       #N/A     the formula is right, and there is nothing to show now

Only these two codes are used: no other code can carry text in Excel.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from dataservice.errors import (
    AuthenticationError,
    BudgetError,
    DataServiceError,
    MissingKeyError,
    NotFoundError,
    QuotaExceededError,
    TierError,
    UnavailableError,
)


class ErrorCode(StrEnum):
    """The two error codes that a cell of ours can show."""

    VALUE = "#VALUE!"
    NA = "#N/A"


@dataclass(frozen=True, slots=True)
class CellError:
    """An error as a value: in a cell, or in one place of a table whose other places are fine."""

    code: ErrorCode
    message: str


class UdfError(Exception):
    """A function has no value to give; `code` is what the cell shows and the message says why and what to do."""

    code = ErrorCode.NA


class ArgumentError(UdfError, ValueError):
    """The formula is wrong: the message names the argument, what was given and what is allowed."""

    code = ErrorCode.VALUE


class NoDataError(UdfError, LookupError):
    """The formula is right, but there is no value for it now."""


def error_cell(error: Exception, function: str) -> CellError:
    """The cell error for anything that ended the function with the id `function`."""
    match error:
        case UdfError():
            return CellError(error.code, str(error))
        case DataServiceError():
            return CellError(ErrorCode.NA, reason(error, function))
        case _:
            return CellError(ErrorCode.NA, f"{function} failed ({type(error).__name__}); please report this")


def reason(error: DataServiceError, function: str) -> str:
    """Why the service gave no (fresh) answer, in one sentence that begins with the state."""
    match error:
        case MissingKeyError():
            return "no API key: set one with `addin key set` or in the task pane"
        case AuthenticationError():
            return "the key was refused: set a valid one with `addin key set` or in the task pane"
        case TierError(tier=tier):
            return f"{function} needs the Pro tier{f' (this key: {tier})' if tier else ''}"
        case QuotaExceededError():
            return f"{error.message}; values come back in the new month, or with another key"
        case NotFoundError():
            return error.message
        case BudgetError():
            return f"not asked: {error.message}"
        case UnavailableError():
            return f"the service did not answer ({error.message}); try Refresh in a minute"
        case _:
            return f"the service refused the request ({error.message})"
