"""The ASGI application over one store, and what it says about itself (contract: Other addresses)."""

from functools import cache
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware

from dataservice.server.db.repository import Store
from dataservice.server.http.auth_middleware import CAP_HEADER, REMAINING_HEADER, TIER_HEADER, AuthMiddleware
from dataservice.server.http.ready_answers import ReadyAnswersMiddleware
from dataservice.server.http.responses import json_answer, on_http_error, on_invalid_parameters
from dataservice.server.http.routes import router
from dataservice.server.records import ErrorBody

TITLE = "Data Service"
VERSION = "1.0.0"
SUMMARY = "Read-only data signals, composite indices, currents, research posts and the wire of primary sources."

GZIP_FROM_BYTES = 4_096
"""Below this a compressed answer saves no packet."""

GZIP_LEVEL = 1
"""Halves a page of observations at a tenth of the usual time."""

ERRORS = {
    "400": "A parameter is malformed or out of range",
    "401": "The bearer token is missing or invalid",
    "402": "The endpoint needs the Pro tier or higher",
    "404": "There is no such signal",
    "429": "The monthly request cap is reached",
}

QUOTA_HEADERS: dict[str, Any] = {
    name: {"description": description, "required": True, "schema": schema}
    for name, description, schema in (
        (
            TIER_HEADER,
            "The tier of the calling key; empty without an accepted key",
            {"type": "string", "enum": ["free", "pro", "enterprise", ""]},
        ),
        (CAP_HEADER, "The monthly request cap", {"type": "integer", "minimum": 0}),
        (REMAINING_HEADER, "Requests left this calendar month (UTC)", {"type": "integer", "minimum": 0}),
    )
}


def create_app(store: Store) -> FastAPI:
    """The whole contract over a store, as an ASGI application for uvicorn or any other server."""
    app = FastAPI(
        title=TITLE,
        version=VERSION,
        description=SUMMARY,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        # Not `include_router`, which works out every route again at the first request: see `_document`.
        routes=router.routes,
    )
    app.state.store = store
    _add_descriptions(app)
    app.add_exception_handler(HTTPException, on_http_error)
    app.add_exception_handler(RequestValidationError, on_invalid_parameters)
    app.add_middleware(GZipMiddleware, minimum_size=GZIP_FROM_BYTES, compresslevel=GZIP_LEVEL)
    app.add_middleware(ReadyAnswersMiddleware)
    app.add_middleware(AuthMiddleware, store=store)
    return app


def _add_descriptions(app: FastAPI) -> None:
    """Serve the two descriptions, which need no key."""
    document = _document()

    @app.get("/openapi.json", include_in_schema=False)
    async def openapi(request: Request) -> Response:
        return json_answer({**document, "servers": [{"url": _base_url(request)}]})

    @app.get("/.well-known/ai-plugin.json", include_in_schema=False)
    async def plugin(request: Request) -> Response:
        return json_answer(_plugin_manifest(_base_url(request)))


def _base_url(request: Request) -> str:
    return str(request.base_url).rstrip("/")


def _plugin_manifest(base_url: str) -> dict[str, Any]:
    return {
        "schema_version": "v1",
        "name_for_human": TITLE,
        "name_for_model": "data_service",
        "description_for_human": SUMMARY,
        "description_for_model": f"{SUMMARY} Every request costs one of the key's monthly requests.",
        "auth": {"type": "user_http", "authorization_type": "bearer"},
        "api": {"type": "openapi", "url": f"{base_url}/openapi.json"},
    }


@cache
def _document() -> dict[str, Any]:
    """FastAPI's own document, with the bearer scheme, every status and the three headers.

    Made before the first request: FastAPI changes the warning filters of the process for that time, so servers in
    two threads would disturb each other.
    """
    document = get_openapi(title=TITLE, version=VERSION, description=SUMMARY, routes=router.routes)
    schemas = document["components"]["schemas"]
    schemas.pop("HTTPValidationError", None)
    schemas.pop("ValidationError", None)
    schemas["ErrorBody"] = ErrorBody.model_json_schema()
    document["components"]["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{"bearer": []}]
    for path, operations in document["paths"].items():
        operations["get"]["responses"] = _responses(path, operations["get"])
        for parameter in operations["get"].get("parameters", []):
            parameter["schema"] = _without_null(parameter["schema"])
    return document


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter is sent or left out: it cannot be null, though FastAPI says so of every optional one."""
    choices = [choice for choice in schema.get("anyOf", []) if choice != {"type": "null"}]
    rest = {name: value for name, value in schema.items() if name not in {"anyOf", "title", "description"}}
    return {**rest, **choices[0]} if len(choices) == 1 else {**rest, **({"anyOf": choices} if choices else {})}


def _responses(path: str, operation: dict[str, Any]) -> dict[str, Any]:
    may_answer = {
        "400": any(parameter["in"] == "query" for parameter in operation.get("parameters", [])),
        "402": path == "/v1/wire",
        "404": "{slug}" in path,
    }
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}}
    return {
        "200": {**operation["responses"]["200"], "headers": QUOTA_HEADERS},
        **{
            status: {"description": text, "headers": QUOTA_HEADERS, "content": content}
            for status, text in ERRORS.items()
            if may_answer.get(status, True)
        },
    }
