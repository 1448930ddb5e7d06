"""HTTP as every route speaks it: JSON responses, errors as `{"error": "…"}`, bounded bodies, a user's own key."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from addin.config.api_key import checked_key
from addin.config.settings import Settings
from addin.errors import SettingsError
from addin.protocol.batch import BadBatchError

KEY_HEADER = "x-data-service-key"


class JsonResponse(Response):
    """An answer in JSON that no cache may store."""

    media_type = "application/json"

    def __init__(self, content: object, status_code: int = 200) -> None:
        body = content if isinstance(content, bytes) else orjson.dumps(content)
        super().__init__(body, status_code, {"cache-control": "no-store"})


async def error_response(request: Request, error: Exception) -> Response:
    """What went wrong, in one sentence; an unexpected error shows only its type, never its text."""
    match error:
        case HTTPException(status_code=404 | 405):
            return _error(error.status_code, f"{request.method} {request.url.path[:100]} is not served here")
        case HTTPException():
            return _error(error.status_code, error.detail)
        case SettingsError() | BadBatchError():
            return _error(400, str(error))
        case _:
            return _error(500, f"the backend failed ({type(error).__name__}); please report this")


def _error(status: int, message: str) -> Response:
    return JsonResponse({"error": message}, status)


async def read_body(request: Request, settings: Settings) -> bytes:
    """The whole body; raises `HTTPException` 413 as soon as it is larger than allowed."""
    limit = settings.max_body_bytes
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise HTTPException(413, f"the request is larger than {limit:,} bytes (setting max_body_bytes)")
    return bytes(body)


async def read_members(request: Request, settings: Settings) -> dict[str, Any]:
    """The members of the JSON object in the body; raises `HTTPException` 400 for anything else."""
    try:
        content = orjson.loads(await read_body(request, settings))
    except orjson.JSONDecodeError:
        raise HTTPException(400, "the body is not JSON") from None
    if not isinstance(content, dict):
        raise HTTPException(400, "the body is not a JSON object")
    return content


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
