"""Reading a request within limits, and finding out for whom it is."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.requests import Request

from addin.backend.refusals import Refusal
from addin.errors import SettingsError
from addin.keys import checked_key
from addin.settings import Settings

__all__ = ["KEY_HEADER", "read_body", "read_members", "user_key"]

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
