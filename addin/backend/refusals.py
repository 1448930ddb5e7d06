"""A refused request: a status and one sentence, as `{"error": "..."}`."""

from __future__ import annotations

import orjson
from starlette.requests import Request
from starlette.responses import Response

__all__ = ["JsonResponse", "Refusal", "refused"]


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
