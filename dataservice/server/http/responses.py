"""Answers as JSON, and errors as `{"error": …}` (contract: Errors)."""

from typing import Any

import orjson
from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

ALLOWED_METHODS = "GET, HEAD, OPTIONS"


def json_answer(content: Any, status: int = 200) -> Response:
    """JSON with date-times in UTC, written `2024-02-29T12:30:00Z`."""
    body = orjson.dumps(content, option=orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC)
    return Response(body, status, media_type="application/json")


def error_answer(status: int, reason: str, headers: dict[str, str] | None = None) -> Response:
    """The error body of the contract."""
    answer = json_answer({"error": reason}, status)
    if status == 401:
        answer.headers["WWW-Authenticate"] = "Bearer"
    answer.headers.update(headers or {})
    return answer


def on_http_error(request: Request, error: Exception) -> Response:
    """Unknown paths, other methods than GET, and refusals by an endpoint."""
    if not isinstance(error, HTTPException):
        raise error
    if error.status_code != 405:
        reason = error.detail if error.detail != "Not Found" else f"there is nothing at {request.url.path}"
        return error_answer(error.status_code, reason)
    headers = {"Allow": ALLOWED_METHODS}
    if request.method == "OPTIONS":
        return Response(status_code=204, headers=headers)
    return error_answer(405, f"{request.method} is not possible here: the service is read with GET", headers)


def on_invalid_parameters(_request: Request, error: Exception) -> Response:
    """Malformed or out-of-range parameters: 400 naming each of them."""
    if not isinstance(error, RequestValidationError):
        raise error
    return error_answer(400, "; ".join(_complaint(problem) for problem in error.errors()))


def _complaint(problem: dict[str, Any]) -> str:
    name = problem["loc"][-1]
    reason = problem["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    given = str(problem.get("input", ""))[:80]
    reason = reason if reason.startswith("must be") else f"must be {reason}"
    return f"{name}: {reason}, not {given!r}"
