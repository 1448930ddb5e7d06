"""The backend that every host talks to: an ASGI application over one client, one cache and the function library."""

from addin.backend.app import create_app

__all__ = ["create_app"]
