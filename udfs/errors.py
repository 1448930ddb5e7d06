"""What can go wrong in a cell, and the one table that turns any exception into what the cell shows.

    UdfError
    ├── ArgumentError     #VALUE!  the formula is wrong: which argument, what was given, what is allowed
    └── NoDataError       #N/A     the formula is right, and there is nothing to show now

Only these two codes are used: no other code can carry text in Excel.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Self

from dataservice.errors import (
    AuthenticationError,
    BudgetError,
    ConnectionFailedError,
    DataServiceError,
    InterceptedError,
    MalformedAnswerError,
    MissingKeyError,
    NotFoundError,
    PartialAnswerError,
    QuotaExceededError,
    TierError,
    UnavailableError,
    UnconfirmedError,
)
from dataservice.key_text import without_keys


class ErrorCode(StrEnum):
    """The two error codes that a cell of ours can show."""

    VALUE = "#VALUE!"
    NA = "#N/A"


PROBE_ADVICE = "`addin doctor --contract`, or Account in the task pane, finds out how it answers"
"""What helps where a service answers in a form of its own."""


class ErrorKind(StrEnum):
    """The kind of an error, for programs; hosts choose their own words and actions by it."""

    ARGUMENT = "argument"
    NO_DATA = "no_data"
    KEY_MISSING = "key_missing"
    KEY_REFUSED = "key_refused"
    TIER = "tier"
    QUOTA = "quota"
    BUDGET = "budget"
    UNCONFIRMED = "unconfirmed"
    NOT_FOUND = "not_found"
    OFFLINE = "offline"
    FORM = "form"
    REQUEST = "request"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class CellError:
    """An error as a value: in a cell, or in one place of a table whose other places are fine.

    `kind` is None where the error was made from no exception. Neither it nor `argument` is part of what the cell shows,
    so errors with the same code and message are equal.
    """

    code: ErrorCode
    message: str
    kind: ErrorKind | None = field(default=None, compare=False)
    argument: str | None = field(default=None, compare=False)
    """The argument at fault, or `option` and the name of one; None where no argument is."""
    instead: str | None = field(default=None, compare=False)
    """A search that finds something, where this one finds nothing."""


class UdfError(Exception):
    """A function has no value to give; `code` is what the cell shows and the message says why and what to do."""

    code = ErrorCode.NA
    argument: str | None = None
    """The argument at fault, or `option` and the name of one; None where no argument is."""
    instead: str | None = None
    """A search that finds something, where this one finds nothing."""

    def __init__(self, message: str) -> None:
        super().__init__(without_keys(message))  # it repeats what was given, which may be a key in the wrong place

    def about(self, argument: str) -> Self:
        """The same error, told of this argument unless it already names one."""
        self.argument = self.argument or argument
        return self


class ArgumentError(UdfError, ValueError):
    """The formula is wrong: the message names the argument, what was given and what is allowed."""

    code = ErrorCode.VALUE


class NoDataError(UdfError, LookupError):
    """The formula is right, but there is no value for it now."""


def error_cell(error: BaseException, function: str) -> CellError:
    """The cell error for anything that ended the function with the id `function`."""
    try:
        return _told(error, function)
    except Exception:  # noqa: BLE001 - an exception may fail while it is put into words
        return _internal(error, function)


def _told(error: BaseException, function: str) -> CellError:
    kind = error_kind(error)
    match error:
        case UdfError():
            return CellError(error.code, str(error), kind, error.argument, error.instead)
        case DataServiceError():
            return CellError(ErrorCode.NA, reason(error, function), kind)
        case _:
            return _internal(error, function)


def _internal(error: BaseException, function: str) -> CellError:
    problem = f"{function} failed ({type(error).__name__}); please report this"
    return CellError(ErrorCode.NA, problem, ErrorKind.INTERNAL)


def error_kind(error: BaseException) -> ErrorKind:
    """The kind of anything that ended a function.

    >>> str(error_kind(TierError("the tier is too low")))
    'tier'
    """
    return _kind_of(type(error))  # type: ignore[arg-type]  # a class has a hash


@lru_cache(maxsize=256)
def _kind_of(error: type[BaseException]) -> ErrorKind:
    return next((kind for cause, kind in _KINDS.items() if issubclass(error, cause)), ErrorKind.INTERNAL)


_KINDS: dict[type[Exception], ErrorKind] = {
    ArgumentError: ErrorKind.ARGUMENT,
    UdfError: ErrorKind.NO_DATA,
    MissingKeyError: ErrorKind.KEY_MISSING,
    AuthenticationError: ErrorKind.KEY_REFUSED,
    TierError: ErrorKind.TIER,
    QuotaExceededError: ErrorKind.QUOTA,
    UnconfirmedError: ErrorKind.UNCONFIRMED,
    BudgetError: ErrorKind.BUDGET,
    NotFoundError: ErrorKind.NOT_FOUND,
    InterceptedError: ErrorKind.OFFLINE,
    MalformedAnswerError: ErrorKind.FORM,
    UnavailableError: ErrorKind.OFFLINE,
    DataServiceError: ErrorKind.REQUEST,
}
"""The first class that fits decides, so subclasses come before their base."""


def reason(error: DataServiceError, function: str) -> str:
    """Return why the service gave no (fresh) answer, in one sentence that begins with the state."""
    match error:
        case MissingKeyError():
            return "no API key: set one with `addin key set` or in the task pane"
        case AuthenticationError():
            return "the key was refused: set a valid one with `addin key set` or in the task pane"
        case TierError(tier=tier):
            return f"{function} needs the Pro tier{f' (this key: {tier})' if tier else ''}"
        case QuotaExceededError():
            return f"{error.message}; values come back in the new month, or with another key"
        case NotFoundError() | PartialAnswerError():
            return error.message
        case UnconfirmedError():
            return f"not loaded: {error.message}"
        case BudgetError():
            return f"not asked: {error.message}"
        case UnavailableError():
            return _unavailable(error)
        case _:
            return f"the service refused the request ({error.message})"


def _unavailable(error: UnavailableError) -> str:
    """Return why there was no answer, and the advice that fits: a further try helps only where nothing is broken."""
    match error:
        case InterceptedError() | ConnectionFailedError(needs_repair=True):
            return f"the service did not answer ({error.message}); press Refresh after that"
        case MalformedAnswerError():
            return f"the service's answer cannot be used ({error.message}); {PROBE_ADVICE}"
        case _:
            return f"the service did not answer ({error.message}); try Refresh in a minute"
