"""`addin serve`: the backend for Excel and Calc."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

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
    from addin.backend import create_app
    from addin.backend.serving import listen
    from addin.backend.serving import serve as serve_app
    from addin.config.settings import load_settings

    settings = load_settings()
    app = create_app(settings)
    certificate = None if http else _certificate()
    listener = listen(host or settings.host, settings.port if port is None else port, certificate)
    typer.echo(f"Answering {settings.namespace} functions at {listener.url} from {settings.base_url}")
    if app.state.backend.key is None:
        typer.echo("No API key is set yet: cells will say so. Keep one with: addin key set", err=True)
    typer.echo("Ctrl-C ends it.")
    serve_app(app, listener)
    typer.echo("Stopped.")


def _certificate() -> Certificate:
    from datetime import UTC, datetime

    from addin.tls.certificates import certificates

    return certificates().ensure(datetime.now(UTC))
