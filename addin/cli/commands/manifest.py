"""`addin manifest`: the file that tells Excel about the add-in."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from addin.errors import AddinError


def manifest(
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write it to this file.")] = None,
    base_url: Annotated[str | None, typer.Option(help="The backend's https address as users reach it.")] = None,
    check: Annotated[str | None, typer.Option(metavar="FILE", help="Check a manifest; - reads it from a pipe.")] = None,
) -> None:
    """Write the manifest that Excel loads, or check one.

    \b
    Examples:
      addin manifest -o manifest.xml
      addin manifest --base-url https://data.example.com -o manifest.xml
      addin manifest | addin manifest --check -
    """
    if check is not None:
        _check(check)
        return
    from addin.config.settings import load_settings
    from addin.excel import manifest as excel

    settings = load_settings()
    text = excel.manifest(base_url=base_url or excel.local_url(settings), namespace=settings.namespace)
    if output is None:
        typer.echo(text, nl=False)
        return
    output.write_text(text, encoding="utf-8")
    typer.echo(f"Written to {output}. Give it to Excel with: addin sideload", err=True)


def _check(file: str) -> None:
    from addin.excel.manifest_check import problems

    try:
        text = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise AddinError(f"{file} cannot be read: {error.strerror}") from None
    found = problems(text)
    for problem in found:
        typer.echo(problem)
    if found:
        raise typer.Exit(1)
    typer.echo("The manifest is good.")
