"""What an answer other than 200 means: one table from status to error, and from what broke on the way to error."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

import httpx
import msgspec

from dataservice.client.contract.body import is_pending
from dataservice.client.contract.forms import says_unknown
from dataservice.client.contract.quota import Quota, remaining_in
from dataservice.client.contract.requests import Endpoint, Request
from dataservice.client.network.connection_errors import (
    CertificateFault,
    NoTlsError,
    ProxyAwayError,
    RefusedError,
    UnknownHostError,
    UnknownProxyError,
    UntrustedError,
    WrongCertificateError,
)
from dataservice.client.pacing.pacer import believed, told_gap_s, told_wait_s
from dataservice.errors import (
    AuthenticationError,
    ConnectionFailedError,
    DataServiceError,
    DeadlineExceededError,
    InterceptedError,
    InvalidRequestError,
    MalformedAnswerError,
    NotFoundError,
    QuotaExceededError,
    RejectedError,
    ServerFailedError,
    TierError,
    UnavailableError,
)

REDIRECTS = frozenset({301, 302, 303, 307, 308})
RETRIED_STATUSES = frozenset({500, 502, 503, 504})
TRANSIENT = frozenset({408, 425})  # of the connection, not of what was asked
NEVER_IMPLEMENTED = frozenset({501, 505})  # asking again changes nothing
NETWORKS_OWN = frozenset({httpx.codes.PROXY_AUTHENTICATION_REQUIRED, httpx.codes.NETWORK_AUTHENTICATION_REQUIRED})
MAX_TEXT = 200  # of the service's own words in a message: a cell shows little more


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why one request gave no answer, and whether the same may succeed in a moment."""

    error: DataServiceError
    retryable: bool = False
    retry_after_s: float | None = None
    is_limited: bool = False
    """Whether the request came too soon: it waits for its turn again."""
    gap_s: float | None = None
    """How long after each other requests may come, where the service tells."""
    is_prepared: bool = False
    """Whether the answer is being prepared: only that one is waited for, and it is worth the whole deadline."""


ADVICE = "sign in to the network or its proxy, or correct the service's address"
"""What to do where something between here and the service answers in its place."""

CHECK_ADDRESS = "check the service's address, it ends before /v1"

_PAGE_KINDS = ("text/html", "application/xhtml+xml")
_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?>(?:<!--(?>.*?-->)\s*+)*+)<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
"""How a page begins. What was read is not read again in another way: a hostile page could make that take for ever."""

_SECONDS = re.compile(r"\d+(?:\.\d+)?", re.ASCII)

TOO_SLOW = "no whole answer in time: the service or the network is slow"

TRUST = "if your firm opens https on the way, name its authority's file in the setting ca_file"

WRONG_CERTIFICATES = {
    CertificateFault.EXPIRED: "its certificate has expired; check this machine's date, and tell whoever runs the "
    "service",
    CertificateFault.NOT_YET_VALID: "its certificate is not valid yet; check this machine's date",
    CertificateFault.OTHER_NAME: "its certificate is for another name; check the address",
}
"""What to do about a certificate for which another authority would not help."""


def failed_answer(
    request: Request,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    quota: Quota | None,
    redact: Callable[[str], str],
    now: float,
    doubtful_address: str = "",
    *,
    has_answered: bool = False,
) -> Failure:
    """The failure that an answer with a status other than 200 is; the service's own words pass through `redact`.

    At a `doubtful_address` nothing was found so far: a 404 may come from a server that does not know the service.
    """
    path, wait_s = request.path, _retry_after_s(headers, now)
    if status == httpx.codes.NOT_FOUND and request.subject and _is_page(headers, body):
        return Failure(_no_such_page(request, doubtful_address, has_answered=has_answered or quota is not None))
    if quota is None and (stranger := _stranger(status, headers, body)):
        return Failure(_strange(stranger, status, path, has_answered=has_answered))
    if (later := _may_come_later(status, headers, path, wait_s, now)) is not None:
        return later
    match status:
        case 400 | 405 | 416 | 422:
            return Failure(_refused(request, status, redact(_said(body)), doubtful_address))
        case 401:
            return Failure(_unauthorized(request, has_answered=has_answered))
        case 402:
            what = "the wire" if request.endpoint is Endpoint.WIRE else request.path
            return Failure(tier_error(what, quota, request.path))
        case 404:
            return Failure(_not_found(request, doubtful_address))
        case 429:
            return Failure(month_spent(quota).at(path))
        case _ if status in REDIRECTS and "location" in headers:
            return Failure(MalformedAnswerError(_redirected(status, headers), status=status, path=path))
        case _:
            return Failure(_unexpected(status, redact(_said(body)), path))


def _may_come_later(
    status: int, headers: Mapping[str, str], path: str, wait_s: float | None, now: float
) -> Failure | None:
    """The failure of what may be answered later: it is being prepared, came too soon, or the service failed.

    Only the quota headers prove that the month is over: else the service, or a gateway, asks to wait.
    """
    if status == httpx.codes.ACCEPTED:
        return _prepared(status, path, wait_s)
    if status == httpx.codes.TOO_MANY_REQUESTS and remaining_in(headers) != 0:
        hurried = UnavailableError("it asks for fewer requests at a time, HTTP 429", status=status, path=path)
        wait_s = told_wait_s(headers, now) if wait_s is None else wait_s
        return Failure(hurried, retry_after_s=wait_s, is_limited=True, gap_s=told_gap_s(headers))
    if status >= 500 and status not in NEVER_IMPLEMENTED:
        failed = ServerFailedError(f"HTTP {status}", status=status, path=path)
        return Failure(failed, retryable=status in RETRIED_STATUSES, retry_after_s=wait_s)
    return None


def _prepared(status: int, path: str, wait_s: float | None) -> Failure:
    error = UnavailableError(f"it still prepares the answer, HTTP {status}", status=status, path=path)
    return Failure(error, retryable=True, retry_after_s=wait_s, is_prepared=True)


def _unauthorized(request: Request, *, has_answered: bool) -> RejectedError:
    """The error of a 401: of the key, or of this one thing where the key opens others."""
    if has_answered:
        told = f"HTTP 401 for {request.subject or request.path}: the key does not open it"
        return RejectedError(told, status=401, path=request.path)
    return AuthenticationError("the API key was refused", status=401, path=request.path)


def _refused(request: Request, status: int, said: str, doubtful_address: str) -> DataServiceError:
    """The error of a refused parameter; a name that there is none of may be refused so, too."""
    if request.subject and says_unknown(said):
        return _not_found(request, doubtful_address)
    return InvalidRequestError(said or f"HTTP {status}", status=status, path=request.path)


def failure_in_place(
    request: Request, headers: Mapping[str, str], body: bytes, now: float, *, has_answered: bool = False
) -> Failure | None:
    """The failure that an answer 200 is; else None.

    It is a web page, such as that to sign in to a network; or says in so many words that it is still being prepared.
    """
    if _is_page(headers, body):
        problem = "a web page came instead of data"
        return Failure(_strange(problem, httpx.codes.OK, request.path, has_answered=has_answered))
    return _prepared(httpx.codes.OK, request.path, _retry_after_s(headers, now)) if is_pending(body) else None


def _strange(problem: str, status: int, path: str, *, has_answered: bool) -> MalformedAnswerError:
    """The error of what is no answer of the service: only where nothing was ever answered it is the network's."""
    if has_answered and status not in NETWORKS_OWN:
        return MalformedAnswerError(problem, status=status, path=path)
    return InterceptedError(f"{problem}; {ADVICE}", status=status, path=path)


def _stranger(status: int, headers: Mapping[str, str], body: bytes) -> str:
    """Return what something between here and the service answered in its place: no quota, and no JSON; else empty."""
    match status:
        case httpx.codes.PROXY_AUTHENTICATION_REQUIRED:
            return "a proxy asks for a name and a password, HTTP 407"
        case httpx.codes.NETWORK_AUTHENTICATION_REQUIRED:
            return "the network asks to sign in, HTTP 511"
        case _ if status in REDIRECTS and "location" in headers:
            return _redirected(status, headers)
        case _ if status < 500 and status != httpx.codes.TOO_MANY_REQUESTS and _is_page(headers, body):
            return f"a web page came instead of data, HTTP {status}"
    return ""


def _is_page(headers: Mapping[str, str], body: bytes) -> bool:
    if body[:1] in (b"{", b"["):
        return False  # as nearly all begin
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return (kind in _PAGE_KINDS and body.lstrip()[:1] not in (b"{", b"[")) or _PAGE.match(body) is not None


def _redirected(status: int, headers: Mapping[str, str]) -> str:
    return f"it redirects to {_host(headers['location'])}, HTTP {status}"


def _host(location: str) -> str:
    """Return where an answer leads: of another host no path, and never a query, which may be secret."""
    try:
        url = httpx.URL(location)
        return url.host or (url.path[:MAX_TEXT] if url.path.isprintable() else "") or "another path"
    except httpx.InvalidURL:
        return "another address"


def failed_exchange(request: Request, error: Exception) -> Failure:
    """The failure that an exchange without a whole answer is; says nothing that could hold a header."""
    match error:
        case DataServiceError():
            return Failure(error.at(request.path))
        case httpx.ProxyError() | httpx.ConnectError() | httpx.ConnectTimeout() | httpx.UnsupportedProtocol():
            problem, retryable = _no_connection(error)
            needs_repair = not retryable or isinstance(error, UnknownHostError)
            failed = ConnectionFailedError(problem, path=request.path, needs_repair=needs_repair)
            return Failure(failed, retryable=retryable)
        case TimeoutError() | httpx.TimeoutException():
            return Failure(DeadlineExceededError(TOO_SLOW, path=request.path))
        case httpx.DecodingError():
            return Failure(MalformedAnswerError("an answer that cannot be unpacked", path=request.path))
        case httpx.TransportError() | OSError():
            return Failure(ConnectionFailedError("the connection broke", path=request.path), retryable=True)
        case _:
            return Failure(UnavailableError(type(error).__name__, path=request.path))


def _no_connection(error: httpx.TransportError) -> tuple[str, bool]:
    """Return why there is no connection and what to do about it, and whether there may be one in a moment."""
    match error:
        case httpx.UnsupportedProtocol():
            return "its address is none of http or https; correct it", False
        case UnknownHostError():
            return _unknown_name(error), True
        case RefusedError():
            return "nobody listens at its address; check the port, or wait until it runs again", True
        case httpx.ConnectTimeout():
            return "no connection in time; check the network: a firewall may be in the way", True
        case ProxyAwayError():
            return f"no proxy answers at {error}; correct HTTPS_PROXY or the system's proxy", False
        case httpx.ProxyError():
            refusal = str(error)[:3]
            return f"the proxy refused to connect{f', HTTP {refusal}' if refusal.isdecimal() else ''}; {ADVICE}", False
        case WrongCertificateError():
            return WRONG_CERTIFICATES[error.fault], False
        case UntrustedError():
            return f"its certificate is not trusted; {TRUST}", False
        case NoTlsError():
            return "it does not speak https at this address; check the address", False
        case _:
            return "no connection; check the address and the network", True


def _unknown_name(error: UnknownHostError) -> str:
    if isinstance(error, UnknownProxyError):
        found = f"the name of the proxy {error} is unknown (DNS)"
        return f"{found}; correct HTTPS_PROXY or the system's proxy, and check the network"
    return "the name of its address is unknown (DNS); check the address and the network"


def month_spent(quota: Quota | None) -> QuotaExceededError:
    """The error of every request after the month's last one."""
    cap = quota.cap if quota else 0
    spent = "one request is" if cap == 1 else f"{cap:,} requests are" if cap else "requests are"
    restart = f"; the last month began on day {quota.restarts_on} (UTC)" if quota and quota.restarts_on else ""
    return QuotaExceededError(f"the month's {spent} used up{restart}", status=429)


def _unexpected(status: int, said: str, path: str) -> DataServiceError:
    """The error of a status that the contract does not name: a refusal where it says so, such as 403."""
    problem = f"HTTP {status}{': ' if said else ''}{said}"
    if status >= 400 and status not in TRANSIENT:
        return RejectedError(problem, status=status, path=path)
    return MalformedAnswerError(f"unexpected {problem}", status=status, path=path)


def _no_such_page(request: Request, doubtful_address: str, *, has_answered: bool) -> DataServiceError:
    """The error of a web page in the place of one signal: of the service's own server, if the service ever answered.

    A server answers so to a name that it cannot have, such as one with a slash: that says nothing of other names.
    """
    if has_answered or doubtful_address:
        return _not_found(request, doubtful_address)
    problem = f"no {request.subject}: a web page came, HTTP 404, and no answer so far; {CHECK_ADDRESS}"
    return MalformedAnswerError(problem, status=404, path=request.path)


def _not_found(request: Request, doubtful_address: str) -> DataServiceError:
    what = f"no {request.subject or request.path}"
    if doubtful_address:
        problem = f"{what} at {doubtful_address}, nor anything else so far; {CHECK_ADDRESS}"
        return MalformedAnswerError(problem, status=404, path=request.path)
    return NotFoundError(what, status=404, path=request.path)


def tier_error(what: str, quota: Quota | None, path: str = Endpoint.WIRE) -> TierError:
    """The error of `what` the key's tier does not open."""
    needs = f"{what} needs a higher tier"
    if quota is None:
        return TierError(needs, status=402, path=path)
    return TierError(f"{needs}; the key's tier is {quota.tier}", status=402, path=path, tier=quota.tier)


def _said(body: bytes) -> str:
    """The service's own words: the error body, where there is one."""
    try:
        content = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    said = content.get("error") if isinstance(content, dict) else None
    return " ".join(said.split())[:MAX_TEXT] if isinstance(said, str) else ""


def _retry_after_s(headers: Mapping[str, str], now: float) -> float | None:
    """The seconds to wait by Retry-After: a number or a date; None where it is neither, or of longer than a day.

    A date is compared with the service's own clock, where the answer tells it.
    """
    text = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(text):
        wait_s = float(text)
    elif (until := _moment(text)) is not None:
        told = _moment(headers.get("date", ""))
        wait_s = max(0.0, until - (now if told is None else told))
    else:
        return None
    return believed(wait_s)


def _moment(text: str) -> float | None:
    """The time that an HTTP date tells, in seconds since the epoch; None for any other text."""
    try:
        moment = parsedate_to_datetime(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
