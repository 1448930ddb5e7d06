"""A refused request: a status and one sentence, as `{"error": "..."}`."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from addin.config.api_key import checked_key
from addin.config.settings import Settings
from addin.errors import SettingsError


class Refusal(Exception):  # noqa: N818 - it is the answer to a wrong request, not a failure of ours
    """The request is not served; `status` and the message go to the caller."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class JsonResponse(Response):
    """An answer in JSON that no cache may keep."""

    media_type = "application/json"

    def __init__(self, content: object, status_code: int = 200) -> None:
        body = content if isinstance(content, bytes) else orjson.dumps(content)
        super().__init__(body, status_code, {"cache-control": "no-store"})


async def refused(_: Request, error: Exception) -> Response:
    """The answer to a refused request; anything but a `Refusal` tells its kind only, never its text."""
    if isinstance(error, Refusal):
        return JsonResponse({"error": str(error)}, error.status)
    return JsonResponse({"error": f"the backend failed ({type(error).__name__}); please report this"}, 500)


KEY_HEADER = "x-data-service-key"


async def read_body(request: Request, settings: Settings) -> bytes:
    """The whole body; raises `Refusal` 413 as soon as it is larger than allowed."""
    limit = settings.max_body_bytes
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise Refusal(413, f"the request is larger than {limit:,} bytes (setting max_body_bytes)")
        chunks.append(chunk)
    return b"".join(chunks)


async def read_members(request: Request, settings: Settings) -> dict[str, Any]:
    """The members of the JSON object in the body; raises `Refusal` 400 for anything else."""
    try:
        content = orjson.loads(await read_body(request, settings))
    except orjson.JSONDecodeError:
        raise Refusal(400, "the body is not JSON") from None
    if not isinstance(content, dict):
        raise Refusal(400, "the body is not a JSON object")
    return content


def user_key(request: Request, settings: Settings) -> str | None:
    """The key that a user of a shared deployment sent; None for the backend's own account.

    Raises `Refusal` where such a key came that must not be used: not allowed here, without TLS, or no key at all.
    """
    text = request.headers.get(KEY_HEADER)
    if text is None:
        return None
    if not settings.per_user_keys:
        raise Refusal(403, "this backend takes no keys with requests (setting per_user_keys)")
    if request.url.scheme != "https":
        raise Refusal(403, "a key is taken over HTTPS only")
    try:
        return checked_key(text)
    except SettingsError as error:
        raise Refusal(400, str(error)) from None
