"""What the commands about workbooks begin with: a session, and who signs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from addin.config.settings import Settings

if TYPE_CHECKING:
    from addin.workbook.audit.signing import BookSigner
    from udfs import Session


@asynccontextmanager
async def run_session(settings: Settings, *, traced: bool = False) -> AsyncIterator[Session]:
    """A session for one run: what it was answered once holds to its end; with `traced`, it tells its answers."""
    from addin.config.connect import connected
    from addin.workbook.many.within_run import WithinRun
    from udfs import Session

    async with connected(settings) as session:
        yield Session(session.client, reader=WithinRun(session.client), traced=traced)


def signer(audit: Path | None, settings: Settings) -> BookSigner | None:
    """Who signs what is written, if it is to be signed; raises `AuditError` for a file that cannot be used."""
    if audit is None:
        return None
    from addin.workbook.audit.signing import BookSigner

    return BookSigner(audit, namespace=settings.namespace, service=settings.url)
