"""`addin calc-extension`: write the extension for LibreOffice Calc."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from addin.errors import AddinError

__all__ = ["calc_extension"]


def calc_extension(
    output: Annotated[Path, typer.Argument(metavar="OUT.oxt", help="The file to write.")] = Path("dataservice.oxt"),
    url: Annotated[str | None, typer.Option(help="The backend's address; else the one of `addin serve` here.")] = None,
    http: Annotated[bool, typer.Option("--http", help="The backend is started with: addin serve --http")] = False,
    ca: Annotated[Path | None, typer.Option(help="The certificate authority (PEM) of an https backend.")] = None,
) -> None:
    """Write the extension for LibreOffice Calc: functions, a menu and a toolbar.

    Example: addin calc-extension dataservice.oxt, then Tools ▸ Extensions ▸ Add in Calc
    """
    from addin.calc.extension import Extension, oxt
    from addin.settings import load_settings

    settings = load_settings()
    address = url or settings.public_url or f"{'http' if http else 'https'}://localhost:{settings.port}"
    extension = Extension(namespace=settings.namespace, url=address.rstrip("/"), ca=_read(ca) if ca else None)
    try:
        output.write_bytes(oxt(extension))
    except OSError as error:
        raise AddinError(f"{output} cannot be written: {error.strerror}") from None
    typer.echo(f"{output} is written; open it with LibreOffice, and start the backend it asks ({address}).")


def _read(file: Path) -> bytes:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise AddinError(f"{file} cannot be read: {error.strerror}") from None
    if b"BEGIN CERTIFICATE" not in content:
        raise AddinError(f"{file} holds no certificate in PEM form")
    return content
