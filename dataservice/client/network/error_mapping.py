"""What an answer other than 200 means: one table from status to error, and from what broke on the way to error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

import httpx
import msgspec

from dataservice.client.contract.quota import Quota
from dataservice.client.contract.requests import Endpoint, Request
from dataservice.errors import (
    AuthenticationError,
    ConnectionFailedError,
    DataServiceError,
    DeadlineExceededError,
    InvalidRequestError,
    MalformedAnswerError,
    NotFoundError,
    QuotaExceededError,
    ServerFailedError,
    TierError,
    UnavailableError,
)

RETRIED_STATUSES = frozenset({500, 502, 503, 504})
MAX_TEXT = 200  # of the service's own words in a message: a cell shows little more


@dataclass(frozen=True, slots=True)
class Failure:
    """Why one request gave no answer, and whether the same request may succeed in a moment."""

    error: DataServiceError
    retryable: bool = False
    retry_after_s: float | None = None


UNTRUSTED = "CERTIFICATE_VERIFY_FAILED"
"""OpenSSL's word for a certificate of an authority that is not trusted here."""


def failed_answer(
    request: Request,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    quota: Quota | None,
    redact: Callable[[str], str],
    now: float,
) -> Failure:
    """The failure that an answer with a status other than 200 is; the service's own words pass through `redact`."""
    path, wait_s = request.path, _retry_after_s(headers, now)
    match status:
        case 400 | 405 | 422:
            said = redact(_said(body)) or f"HTTP {status}"
            return Failure(InvalidRequestError(said, status=status, path=path))
        case 401:
            return Failure(AuthenticationError("the API key was refused", status=status, path=path))
        case 402:
            return Failure(_tier_error(request, quota))
        case 404:
            return Failure(NotFoundError(f"no {request.subject or path}", status=status, path=path))
        case 429 if quota is not None and quota.remaining == 0:
            return Failure(month_spent(quota).at(path))
        case 429:  # only the quota headers prove that the month is over: the service, or a gateway, asks to wait
            hurried = UnavailableError("it asks for fewer requests at a time, HTTP 429", status=status, path=path)
            return Failure(hurried, retryable=wait_s is not None, retry_after_s=wait_s)
        case _ if status >= 500:
            failed = ServerFailedError(f"HTTP {status}", status=status, path=path)
            return Failure(failed, retryable=status in RETRIED_STATUSES, retry_after_s=wait_s)
        case _:
            return Failure(MalformedAnswerError(f"unexpected HTTP {status}", status=status, path=path))


def failed_exchange(request: Request, error: Exception) -> Failure:
    """The failure that an exchange without a whole answer is; says nothing that could hold a header."""
    match error:
        case DataServiceError():
            return Failure(error.at(request.path))
        case httpx.ConnectTimeout():
            return Failure(ConnectionFailedError("no connection in time", path=request.path), retryable=True)
        case TimeoutError() | httpx.TimeoutException():
            return Failure(DeadlineExceededError("no whole answer in time", path=request.path))
        case httpx.ConnectError() if UNTRUSTED in str(error):
            return Failure(ConnectionFailedError("its certificate is not trusted", path=request.path))
        case httpx.ConnectError():
            return Failure(ConnectionFailedError("no connection", path=request.path), retryable=True)
        case httpx.DecodingError():
            return Failure(MalformedAnswerError("an answer that cannot be unpacked", path=request.path))
        case httpx.TransportError() | OSError():
            return Failure(ConnectionFailedError("the connection broke", path=request.path), retryable=True)
        case _:
            return Failure(UnavailableError(type(error).__name__, path=request.path))


def month_spent(quota: Quota | None) -> QuotaExceededError:
    """The error of every request after the month's last one."""
    cap = quota.cap if quota else 0
    spent = "one request is" if cap == 1 else f"{cap:,} requests are" if cap else "requests are"
    return QuotaExceededError(f"the month's {spent} used up", status=429)


def _tier_error(request: Request, quota: Quota | None) -> TierError:
    needs = f"{'the wire' if request.endpoint is Endpoint.WIRE else request.path} needs a higher tier"
    if quota is None:
        return TierError(needs, status=402, path=request.path)
    return TierError(f"{needs}; the key's tier is {quota.tier}", status=402, path=request.path, tier=quota.tier)


def _said(body: bytes) -> str:
    """The service's own words: the error body, where there is one."""
    try:
        content = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    said = content.get("error") if isinstance(content, dict) else None
    return " ".join(said.split())[:MAX_TEXT] if isinstance(said, str) else ""


def _retry_after_s(headers: Mapping[str, str], now: float) -> float | None:
    """The seconds to wait by Retry-After: a number or a date; None where it is neither.

    A date is compared with the service's own clock, where the answer tells it.
    """
    text = headers.get("retry-after", "").strip()
    if text.isdecimal():
        return float(text)
    until = _moment(text)
    if until is None:
        return None
    told = _moment(headers.get("date", ""))
    return max(0.0, until - (now if told is None else told))


def _moment(text: str) -> float | None:
    """The time that an HTTP date tells, in seconds since the epoch; None for any other text."""
    try:
        moment = parsedate_to_datetime(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
