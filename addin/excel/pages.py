"""The pages and files that Excel asks the backend for."""

from __future__ import annotations

from starlette.routing import BaseRoute

from addin.settings import Settings

__all__ = ["routes"]


def routes(settings: Settings) -> list[BaseRoute]:  # noqa: ARG001 - pages will need the namespace and the address
    """The routes of Excel's pages, included by the backend's application."""
    return []
