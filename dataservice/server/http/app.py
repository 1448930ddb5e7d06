"""The ASGI application: gate, endpoints and descriptions over one store."""

import os

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware

from dataservice.server.db.repository import Store
from dataservice.server.http import openapi
from dataservice.server.http.auth_middleware import AuthMiddleware
from dataservice.server.http.responses import on_http_error, on_invalid_parameters
from dataservice.server.http.routes import router

DATABASE_VARIABLE = "DATA_SERVICE_DB"

# Below this a compressed answer saves no packet; level 1 halves a page of observations at a tenth of the usual time.
GZIP_FROM_BYTES = 4_096
GZIP_LEVEL = 1


def create_app(store: Store) -> FastAPI:
    """The whole contract over a store, as an ASGI application for uvicorn or any other server."""
    app = FastAPI(
        title=openapi.TITLE,
        version=openapi.VERSION,
        description=openapi.SUMMARY,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.store = store
    app.include_router(router)
    openapi.add_to(app)
    app.add_exception_handler(HTTPException, on_http_error)
    app.add_exception_handler(RequestValidationError, on_invalid_parameters)
    app.add_middleware(GZipMiddleware, minimum_size=GZIP_FROM_BYTES, compresslevel=GZIP_LEVEL)
    app.add_middleware(AuthMiddleware, store=store)
    return app


def app_from_environment() -> FastAPI:
    """The application on the database named by `DATA_SERVICE_DB`: how worker processes find it."""
    return create_app(Store(os.environ[DATABASE_VARIABLE]))
