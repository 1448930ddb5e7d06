"""Every error that leaves the client, in one tree.

    DataServiceError                  message, status, path
    ├── MissingAddressError           no address of the service is configured; also a ValueError
    ├── MissingKeyError               no API key is configured; nothing was sent
    ├── RejectedError                 the service answered, and the answer is no
    │   ├── InvalidRequestError       400, 405, 422: a parameter was refused
    │   ├── AuthenticationError       401: the key was refused
    │   ├── TierError                 402: the key's tier is too low; tier
    │   ├── NotFoundError             404: no such resource
    │   └── QuotaExceededError        429: the month's requests are used up
    ├── UnavailableError              the service could not answer; trying again may help
    │   ├── ConnectionFailedError     no connection, or it broke
    │   ├── DeadlineExceededError     no whole answer within the deadline
    │   ├── ServerFailedError         5xx
    │   └── MalformedAnswerError      an answer that is not what the contract says
    │       ├── InterceptedError      a proxy or a network answered in the service's place
    │       └── PartialAnswerError    a list that may have been cut: nothing shows that it is whole
    ├── NoVintageError                nobody looked at these days by then; first_look
    └── BudgetError                   not sent: budget or reserve reached
        ├── TooManyPagesError         not sent: one answer would take more requests than max_pages
        ├── BoundReachedError         not sent: its caller allows no more for one call
        └── UnconfirmedError          not sent: so many requests need a yes first

No message, repr or log of these ever holds an API key.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from datetime import date
from typing import Self

from dataservice.key_text import without_keys

RECEIVED_BYTES = 60
"""How much of an answer that cannot be read a message shows: enough to tell what it is."""


class DataServiceError(Exception):
    """Something kept the Data Service from answering; `status` and `path` are those of the request, if one was sent."""

    def __init__(self, message: str, *, status: int | None = None, path: str = "") -> None:
        self.message = without_keys(message)
        super().__init__(self.message)
        self.status = status
        self.path = path

    def at(self, path: str) -> Self:
        """The same error with the path of the request that met it."""
        error = copy(self)
        error.path = path
        return error

    def afresh(self) -> Self:
        """The same error without a traceback: kept for long or raised again, it holds no frames alive."""
        return copy(self)


class MissingAddressError(DataServiceError, ValueError):
    """No address of the service is configured."""


class MissingKeyError(DataServiceError):
    """No API key is configured; nothing was sent."""


class RejectedError(DataServiceError):
    """The service answered, and the answer is no; asking again changes nothing."""


class InvalidRequestError(RejectedError):
    """A parameter was refused (400, 405, 422)."""


class AuthenticationError(RejectedError):
    """The key was refused (401, "Authentication")."""


class TierError(RejectedError):
    """The key's tier is too low for this resource (402, "Tiers"); `tier` is the key's own, empty where not known."""

    def __init__(self, message: str, *, status: int | None = None, path: str = "", tier: str = "") -> None:
        super().__init__(message, status=status, path=path)
        self.tier = tier


class NotFoundError(RejectedError):
    """No such resource (404)."""


class QuotaExceededError(RejectedError):
    """The month's requests are used up (429, "Limits")."""


class UnavailableError(DataServiceError):
    """The service could not answer; trying again later may help."""


class ConnectionFailedError(UnavailableError):
    """No connection to the service, or it broke before the answer was whole.

    `needs_repair`: it stays so until somebody mends what the message names, such as an address or a certificate.
    """

    def __init__(self, message: str, *, status: int | None = None, path: str = "", needs_repair: bool = False) -> None:
        super().__init__(message, status=status, path=path)
        self.needs_repair = needs_repair


class DeadlineExceededError(UnavailableError):
    """No whole answer within the deadline of one call."""


class ServerFailedError(UnavailableError):
    """The service failed on its side (5xx)."""


class MalformedAnswerError(UnavailableError):
    """An answer that is not what the contract says: not JSON, or of another shape."""

    def received(self, body: bytes, redact: Callable[[str], str]) -> Self:
        """The same error with the beginning of what was received; control characters are shown as spaces."""
        text = redact(body[: 4 * RECEIVED_BYTES].decode(errors="replace"))
        shown = "".join(c if c.isprintable() else " " for c in text)[:RECEIVED_BYTES]
        error = copy(self)
        error.message = without_keys(f"{self.message}; received: {' '.join(shown.split())}")
        error.args = (error.message,)
        return error


class InterceptedError(MalformedAnswerError):
    """Something between here and the service answered in its place, such as a proxy, or a network's sign-in page."""


class PartialAnswerError(MalformedAnswerError):
    """A list that may have been cut: it has fewer records than were asked for, and nothing shows that it is whole."""


class NoVintageError(DataServiceError):
    """Nothing is known of what was known then; `first_look` is the day of the first look, None if there was none."""

    def __init__(self, message: str, *, first_look: date | None = None, status: int | None = None) -> None:
        super().__init__(message, status=status)
        self.first_look = first_look


class BudgetError(DataServiceError):
    """The request was not sent, because the budget or the reserve of requests does not allow it."""


class TooManyPagesError(BudgetError):
    """The rest of an answer was not requested, because it takes more requests than one answer may."""


class BoundReachedError(BudgetError):
    """The request was not sent, because its caller allows no more for one call."""


class UnconfirmedError(BudgetError):
    """The request was not sent, because so many are sent only after the user said yes; the message says where."""
