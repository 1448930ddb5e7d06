"""What the service says about itself: /openapi.json, /.well-known/ai-plugin.json (contract: Other addresses)."""

from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.openapi.utils import get_openapi

from dataservice.server.http.auth_middleware import CAP_HEADER, REMAINING_HEADER, TIER_HEADER
from dataservice.server.http.responses import json_answer
from dataservice.server.records import ErrorBody

TITLE = "Data Service"
VERSION = "1.0.0"
SUMMARY = "Read-only data signals, composite indices, currents, research posts and the wire of primary sources."

ERRORS = {
    "400": "A parameter is malformed or out of range",
    "401": "The bearer token is missing or invalid",
    "402": "The endpoint needs the Pro tier or higher",
    "404": "There is no such signal",
    "429": "The monthly request cap is reached",
}

QUOTA_HEADERS: dict[str, Any] = {
    TIER_HEADER: {
        "description": "The tier of the calling key; empty without an accepted key",
        "required": True,
        "schema": {"type": "string", "enum": ["free", "pro", "enterprise", ""]},
    },
    CAP_HEADER: {
        "description": "The monthly request cap",
        "required": True,
        "schema": {"type": "integer", "minimum": 0},
    },
    REMAINING_HEADER: {
        "description": "Requests left this calendar month (UTC)",
        "required": True,
        "schema": {"type": "integer", "minimum": 0},
    },
}


def add_to(app: FastAPI) -> None:
    """Serve the two descriptions, which need no key."""

    @app.get("/openapi.json", include_in_schema=False)
    async def openapi(request: Request) -> Response:
        document = app.openapi_schema or _document(app)
        app.openapi_schema = document
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


def _document(app: FastAPI) -> dict[str, Any]:
    """FastAPI's own document, with the bearer scheme, every status and the three headers."""
    document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
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
    errors = {status: text for status, text in ERRORS.items() if _may_answer(status, path, operation)}
    return {
        "200": {**operation["responses"]["200"], "headers": QUOTA_HEADERS},
        **{
            status: {
                "description": text,
                "headers": QUOTA_HEADERS,
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}},
            }
            for status, text in errors.items()
        },
    }


def _may_answer(status: str, path: str, operation: dict[str, Any]) -> bool:
    match status:
        case "400":
            return any(parameter["in"] == "query" for parameter in operation.get("parameters", []))
        case "402":
            return path == "/v1/wire"
        case "404":
            return "{slug}" in path
        case _:
            return True
