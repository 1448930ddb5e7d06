"""`addin serve`: the backend for Excel and Calc."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from addin.config.settings import load_settings
from dataservice.cli.printing import echo


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
    from addin.tls.certificates import certificates

    settings = load_settings()
    app = create_app(settings)
    certificate = None if http else certificates().ensure(datetime.now(UTC))
    listener = serving.listen(host or settings.host, settings.port if port is None else port, certificate)
    echo(f"Answering {settings.namespace} functions at {listener.url} from {settings.base_url}")
    if app.state.backend.key is None:
        echo("No API key is set yet: cells will say so. Keep one with: addin key set", err=True)
    echo("Ctrl-C ends it.")
    serving.serve(app, listener)
    echo("Stopped.")
