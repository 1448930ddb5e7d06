"""`addin freeze --audit`: a copy whose numbers are signed, with their sources on a sheet of their own."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import typer

from addin.config.settings import load_settings
from dataservice.cli.printing import echo

SHOWN_CELLS = 3
"""How many cells without a source are named."""


def freeze_signed(book: Path, output: Path, audit: Path, *, namespace: str) -> None:
    """Write a frozen copy, sign its numbers, and say which of them have no known source."""
    from addin.cli.output import counted
    from addin.workbook.audit.frozen import sign_copy
    from addin.workbook.audit.signing import BookSigner
    from addin.workbook.freeze import freeze_book, refuse_itself

    refuse_itself(book, output)
    signer = BookSigner(audit, namespace=namespace, service=load_settings().url)
    with TemporaryDirectory() as folder:
        frozen = Path(folder) / f"frozen{book.suffix}"
        freeze_book(book, frozen, namespace=namespace)
        signed = sign_copy(book, frozen, output, signer, namespace=namespace)
    echo(f"{output}: {counted(signed.numbers, 'formula')} became values, signed in {audit}; the copy needs no add-in")
    if signed.unknown:
        named = ", ".join(signed.unknown[:SHOWN_CELLS]) + (" …" if len(signed.unknown) > SHOWN_CELLS else "")
        echo(
            f"  source not known: {counted(len(signed.unknown), 'formula')} ({named}); "
            f"refresh the book first: addin refresh {book} --audit {audit}",
            err=True,
        )
        raise typer.Exit(3)
