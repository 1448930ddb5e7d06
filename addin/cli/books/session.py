"""What the commands about workbooks begin with: a session, and who signs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from addin.config.settings import Settings
from dataservice.stores import default_sqlite_path

if TYPE_CHECKING:
    from addin.workbook.audit.signing import BookSigner
    from addin.workbook.audit.stamp import TimeStamper
    from udfs import Session


class SigningFiles(NamedTuple):
    """The places of signed lines and of what the service answered; None for what is not wanted."""

    audit: Path | None = None
    evidence: Path | None = None


@asynccontextmanager
async def run_session(
    settings: Settings, files: SigningFiles | None = None
) -> AsyncIterator[tuple[Session, BookSigner | None]]:
    """A session for one run, and who signs what it writes: what it was answered once holds to its end.

    With `audit` it tells its answers and notes its requests. With `evidence` everything is asked anew, and what comes
    back is kept in that folder. Raises `AuditError` for a file that cannot be used.
    """
    from addin.config.connect import connected
    from addin.workbook.many.within_run import WithinRun
    from udfs import Session

    audit, evidence = files or SigningFiles()
    if audit is None:
        async with connected(settings) as session:
            yield Session(session.client, reader=WithinRun(session.client)), None
        return
    from addin.workbook.audit.evidence.crate import BODIES
    from addin.workbook.audit.evidence.recording import RecordedConnections, Recording, log_of
    from addin.workbook.audit.signing import BookSigner

    recording = Recording(bodies=evidence / BODIES if evidence is not None else None)
    signing = BookSigner(
        audit,
        namespace=settings.namespace,
        service=settings.url,
        recording=recording,
        evidence=evidence,
        stamper=time_stamper(settings),
    )

    def recorded(base_url: str, at_most: int, verify: Any) -> RecordedConnections:
        return RecordedConnections(base_url, at_most, recording, verify=verify)

    async with connected(settings, transport_of=recorded, is_kept=evidence is None) as session:
        if evidence is None and (scope := await session.client.scope()):
            recording.remember(log_of(settings.cache_dir or default_sqlite_path().parent, scope))
        try:
            yield Session(session.client, reader=WithinRun(session.client), traced=True), signing
        finally:
            recording.save()


def time_stamper(settings: Settings) -> TimeStamper | None:
    """Return who asks for time stamps, or None without an authority; raises `AddinError` for one that is unusable."""
    from addin.config.authorities import trusted
    from addin.errors import SettingsError
    from addin.workbook.audit.stamp import TimeStamper

    if settings.stamp_url is None:
        return None
    if settings.stamp_ca_file is None:
        raise SettingsError("stamp_url needs stamp_ca_file, the certificates by which its time stamps are checked")
    return TimeStamper(settings.stamp_url, settings.stamp_ca_file, verify=trusted(settings.ca_file))
