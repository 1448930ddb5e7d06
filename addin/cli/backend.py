"""A backend that is ready to serve, as the commands start it: the application, its port, and its certificate."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from starlette.applications import Starlette

from addin.backend import create_app, serving
from addin.backend.serving import Listener
from addin.config.settings import Settings
from addin.errors import SettingsError
from addin.excel import pages
from dataservice.version import product_version

if TYPE_CHECKING:
    from starlette.routing import BaseRoute


@dataclass(frozen=True, slots=True)
class ReadyBackend:
    """An application, the port it listens on, and what renews its certificate; None over plain HTTP."""

    app: Starlette
    listener: Listener
    version: str
    renew: Callable[[dt.datetime], object] | None


def new_backend(
    settings: Settings, *, host: str | None = None, port: int | None = None, http: bool = False, workers: int = 1
) -> ReadyBackend:
    """Bind the port of the settings or the one given, for so many workers; raises `AddinError` if that cannot be."""
    app = create_app(settings, pages=served_pages(settings))
    renew, certificate = None, None
    if not http:
        from addin.tls.certificates import certificates  # cryptography takes long to load

        renew = certificates().ensure
        certificate = renew(dt.datetime.now(dt.UTC))
    listener = serving.listen(
        host or settings.host,
        settings.port if port is None else port,
        certificate,
        max_connections=ceil(settings.max_connections / workers),
        receive_timeout_s=settings.receive_timeout_s,
        is_private=settings.is_private,
    )
    return ReadyBackend(app, listener, product_version(), renew)


def served_pages(settings: Settings) -> Sequence[BaseRoute]:
    """Excel's pages, and the sheet where a setting says so; raises `SettingsError` if it is not here."""
    excel = pages.routes(settings)
    if not settings.serve_sheet:
        return excel
    from addin.sheet.component import ADVICE
    from addin.sheet.routes import routes

    if not (found := routes(settings)):
        raise SettingsError(f"serve_sheet is set, but the sheet's component is not here; get it with: {ADVICE}")
    return [*excel, *found]
