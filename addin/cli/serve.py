"""`addin serve`: the backend for Excel and Calc."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from addin.config.settings import Settings, load_settings
from dataservice.cli.printing import echo

if TYPE_CHECKING:
    from addin.tls.certificates import Certificate


def serve(
    port: Annotated[int | None, typer.Option(min=0, max=65_535, help="The port; 0 takes a free one.")] = None,
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    http: Annotated[bool, typer.Option("--http", help="Plain HTTP, enough for Calc; Excel needs HTTPS.")] = False,
) -> None:
    """Answer the formulas of Excel and Calc until Ctrl-C.

    \b
    Examples:
      addin serve
      addin serve --port 8766
      addin serve --http
    """
    from addin.backend import create_app, serving

    settings = load_settings()
    app = create_app(settings)
    certificate = None if http else _certificate()
    listener = serving.listen(
        host or settings.host,
        settings.port if port is None else port,
        certificate,
        max_connections=settings.max_connections,
        receive_timeout_s=settings.receive_timeout_s,
    )
    echo(f"Answering {settings.namespace} functions at {listener.url} from {settings.base_url}")
    for line in deployment(settings):
        echo(line)
    if app.state.backend.key is None and not settings.per_user_keys:
        echo("No API key is set yet: cells will say so. Keep one with: addin key set", err=True)
    echo("Ctrl-C ends it.")
    serving.serve(app, listener)
    echo("Stopped.")


def _certificate() -> Certificate:
    from addin.tls.certificates import certificates  # cryptography takes long to load

    return certificates().ensure(datetime.now(UTC))


def deployment(settings: Settings) -> list[str]:
    """What the administrator of a shared backend wants to see confirmed; no line shows a password.

    >>> deployment(Settings(public_url="https://addin.example", redis_url="redis://:secret@cache.example:6379/0"))
    ['Users reach it at https://addin.example', 'Answers are shared through Redis at cache.example:6379']
    """
    lines = []
    if settings.public_url:
        lines.append(f"Users reach it at {settings.public_url}")
    if settings.redis_url:
        address = urlsplit(settings.redis_url).netloc.rpartition("@")[2]
        lines.append(f"Answers are shared through Redis at {address or 'a local socket'}")
    if settings.per_user_keys:
        lines.append("Each user sends an own API key, over HTTPS")
    return lines
