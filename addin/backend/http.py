"""HTTP as every route speaks it: JSON responses, errors as `{"error": "…"}`, bounded bodies, a user's own key."""

from __future__ import annotations

import asyncio
import io
import ipaddress
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
import orjson
from msgspec import UNSET, UnsetType
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from addin.config.api_key import checked_key
from addin.config.settings import Settings
from addin.errors import SettingsError
from addin.protocol.limits import BadBatchError, BatchTooLargeError
from addin.protocol.messages import BUSY, Refusal, encode
from dataservice.ledger import LedgerAwayError

M = TypeVar("M", bound=msgspec.Struct)

RETRY_AFTER_S = 5
"""When a refused caller may try again: most batches are done by then."""

KEY_HEADER = "x-data-service-key"

MEMBERS_BYTES = 64 * 2**10
"""The largest body that is not a batch: a mode, or a key."""

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""The names by which a machine reaches itself."""


class BusyError(HTTPException):
    """Too much is under way: hosts send the same request again, within the time of their cells."""

    def __init__(self, detail: str, status_code: int = 503) -> None:
        super().__init__(status_code, detail, headers={"retry-after": str(RETRY_AFTER_S)})


class JsonResponse(Response):
    """An answer in JSON that no cache may store."""

    media_type = "application/json"

    def __init__(self, content: object, status_code: int = 200) -> None:
        body = content if isinstance(content, bytes) else _encoded(content)
        super().__init__(body, status_code, {"cache-control": "no-store"})


def _encoded(content: object) -> bytes:
    return encode(content) if isinstance(content, msgspec.Struct) else orjson.dumps(content)


async def error_response(request: Request, error: Exception) -> Response:
    """Return what went wrong, in one sentence; an unexpected error shows only its type, never its text."""
    match error:
        case HTTPException(status_code=404 | 405):
            return _error(error.status_code, f"{request.method} {request.url.path[:100]} is not served here")
        case BusyError():
            return _error(error.status_code, error.detail, error.headers, kind=BUSY)
        case HTTPException():
            return _error(error.status_code, error.detail, error.headers)
        case BatchTooLargeError():
            return _error(413, str(error))
        case SettingsError() | BadBatchError():
            return _error(400, str(error))
        case LedgerAwayError():
            return away_response(error)
        case ClientDisconnect():
            return _error(400, "the request broke off")  # nobody is there to read it
        case _:
            return _error(500, f"the backend failed ({type(error).__name__}); please report this")


def away_response(error: Exception, meanwhile: str = "nothing was changed") -> Response:
    """Return the answer while the ledger is away: nobody is let in whom it may have stopped, or told it is done."""
    told = f"what must not be lost cannot be stored or read now, and {meanwhile}: {error}; try again"
    return _error(503, told, {"retry-after": str(RETRY_AFTER_S)})


def _error(
    status: int, message: str, headers: Mapping[str, str] | None = None, *, kind: str | UnsetType = UNSET
) -> Response:
    response = JsonResponse(Refusal(message, kind), status)
    response.headers.update(headers or {})
    return response


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """The limits of a body: its size, with the words that say why, and the time it may take to arrive."""

    max_bytes: int
    reason: str
    timeout_s: float


async def read_body(
    request: Request, limits: BodyLimits, hold: Callable[[int], Awaitable[object]] | None = None
) -> bytes:
    """The whole body; `hold` is told of its bytes as they arrive, and waits or raises where there is no room for them.

    Raises `HTTPException`: 413 as soon as it is larger than allowed, 408 if it does not arrive in time.
    """
    too_large = HTTPException(413, f"the request is larger than {limits.max_bytes:,} bytes ({limits.reason})")
    if declared_bytes(request) > limits.max_bytes:
        raise too_large
    body, size = io.BytesIO(), 0  # which gives what it holds away without a copy
    try:
        async with asyncio.timeout(limits.timeout_s):
            async for chunk in request.stream():
                size += len(chunk)
                if size > limits.max_bytes:
                    raise too_large
                if hold is not None:
                    await hold(len(chunk))
                body.write(chunk)
    except TimeoutError:
        raise HTTPException(
            408, f"the request did not arrive within {limits.timeout_s:g} s (setting receive_timeout_s)"
        ) from None
    return body.getvalue()


def declared_bytes(request: Request) -> int:
    """The size of the body as its sender tells it; 0 if it does not."""
    text = request.headers.get("content-length", "")
    return int(text[:20]) if text.isdecimal() else 0


async def read_members(request: Request, settings: Settings) -> dict[str, Any]:
    """The members of the small JSON object in the body; raises `HTTPException` 400 for anything else."""
    limits = BodyLimits(MEMBERS_BYTES, "only batches of formulas may be larger", settings.receive_timeout_s)
    body = await read_body(request, limits)
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise HTTPException(400, "the body is not JSON") from None
    if not isinstance(content, dict):
        raise HTTPException(400, "the body is not a JSON object")
    return content


async def read_message(request: Request, settings: Settings, kind: type[M], form: str) -> M:
    """Return the message in the body; raises `HTTPException` 400, which shows its `form`, for anything else."""
    try:
        return msgspec.convert(await read_members(request, settings), kind)
    except msgspec.ValidationError:
        raise HTTPException(400, form) from None


def user_key(request: Request, settings: Settings) -> str | None:
    """The key that a user of a shared deployment sent; None for the backend's own key.

    Raises `HTTPException` or `SettingsError` if it must not be used: not allowed here, sent without TLS, or not a key.
    """
    text = request.headers.get(KEY_HEADER)
    if text is None:
        return None
    if not settings.per_user_keys:
        raise HTTPException(403, "this backend accepts no keys with requests (setting per_user_keys)")
    if request.url.scheme != "https":
        raise HTTPException(403, "a key is accepted over HTTPS only")
    return checked_key(text)


def address_of(request: Request) -> str:
    """The caller's address, as a trusted proxy tells it or as the connection shows it; IPv6 by its network of 64 bits.

    One machine has as many IPv6 addresses as it likes within its network, so they count as one.
    """
    text = request.client.host if request.client else ""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return text[:100]
    if isinstance(address, ipaddress.IPv6Address):
        mapped = address.ipv4_mapped
        return str(mapped) if mapped else str(ipaddress.ip_network((address, 64), strict=False))
    return text


def is_on_this_machine(request: Request) -> bool:
    """Return whether the request comes from this machine, to this machine, and through no proxy that says so."""
    address = address_of(request)
    local = address.startswith("127.") or (request.client is not None and request.client.host == "::1")
    forwarded = any(name in request.headers for name in ("forwarded", "x-forwarded-for", "via"))
    return local and not forwarded and request.url.hostname in LOOPBACK
