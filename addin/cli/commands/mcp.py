"""`addin mcp`: the MCP server for agents."""

from __future__ import annotations

from typing import Annotated

import typer

from addin.config.settings import Settings, load_settings
from addin.errors import AddinError
from dataservice.extras import install_command
from dataservice.terminal import echo

PORT = 8766
"""One beside the backend's, so that both run at the same time."""


def mcp(
    http: Annotated[
        bool, typer.Option("--http", help="Serve HTTP on this machine instead of stdin and stdout.")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port for --http; 0 takes a free one.")] = PORT,
) -> None:
    """Serve agents over MCP: seven tools that read, one that tells costs, with the key, cache and quota of the cells.

    An MCP client starts it by itself: give it the command `addin` with the argument `mcp`.

    \b
    Examples:
      addin mcp
      addin mcp --http
    """
    try:
        import addin.mcp.server as server
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise AddinError(f"the MCP server needs one more package: {install_command('mcp')}") from None
    settings = load_settings()
    settings.base_url  # noqa: B018 - reports now what is missing, not when a client asks
    if http:
        _serve_http(settings, port)
    else:
        server.serve_stdio(settings)


def _serve_http(settings: Settings, port: int) -> None:
    from addin.backend.serving import Stopping, listen, serve
    from addin.mcp.over_http import http_app, own_token, token_file

    app = http_app(settings, own_token())
    listener = listen(
        "127.0.0.1",
        port,
        max_connections=settings.max_connections,
        receive_timeout_s=settings.receive_timeout_s,
    )
    proof = "its user's key of the service" if settings.per_user_keys else f"the token in {token_file()}"
    echo(
        f"Answering MCP at {listener.url}/mcp from {settings.base_url}\n"
        f"A client sends the header Authorization: Bearer with {proof}.\nCtrl-C ends it."
    )
    serve(app, listener, stopping=Stopping(grace_s=settings.stop_timeout_s))
    echo("Stopped.")
