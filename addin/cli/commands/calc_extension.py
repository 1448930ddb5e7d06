"""`addin calc-extension`: write the extension for LibreOffice Calc."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from addin.config.settings import load_settings
from addin.errors import AddinError
from dataservice.terminal import echo


def calc_extension(
    output: Annotated[Path, typer.Argument(metavar="OUT.oxt", help="The file to write.")] = Path("dataservice.oxt"),
    url: Annotated[str | None, typer.Option(help="The backend's address; else the one of `addin serve` here.")] = None,
    http: Annotated[bool, typer.Option("--http", help="The backend is started with: addin serve --http")] = False,
    ca: Annotated[Path | None, typer.Option(help="The certificate authority (PEM) of an https backend.")] = None,
) -> None:
    """Write the extension for LibreOffice Calc: functions, a menu and a toolbar.

    \b
    Examples:
      addin calc-extension dataservice.oxt
      addin calc-extension --http dataservice.oxt
      addin calc-extension --url https://data.example.com --ca authority.pem
    """
    from addin.calc.extension import Extension, oxt
    from addin.cli.output import check_ending, write_file

    check_ending(output, ".oxt")
    settings = load_settings()
    address = url or settings.public_url or f"{'http' if http else 'https'}://localhost:{settings.port}"
    authority = _read(ca) if ca else _own_authority() if _is_served_here(address) else None
    extension = Extension(namespace=settings.namespace, url=address.rstrip("/"), ca=authority)
    write_file(output, oxt(extension))
    echo(f"{output} is written; open it with LibreOffice, and start the backend it asks ({address}).")


def _is_served_here(address: str) -> bool:
    """Return whether `addin serve` on this machine answers there, with the certificate it made itself."""
    parts = urlsplit(address)
    return parts.scheme == "https" and parts.hostname in ("localhost", "127.0.0.1", "::1")


def _own_authority() -> bytes:
    from addin.tls.certificates import certificates

    own = certificates()
    own.ensure(datetime.now(UTC))
    return own.authority.read_bytes()


def _read(file: Path) -> bytes:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise AddinError(f"{file} cannot be read: {error.strerror}") from None
    if b"BEGIN CERTIFICATE" not in content:
        raise AddinError(f"{file} holds no certificate in PEM form")
    return content
