"""What a backend that runs for weeks looks at between requests: its certificate, an update, and its own record."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

RENEW_EVERY = dt.timedelta(hours=1)
"""How often the certificate is looked at; it is renewed a month before its end."""

LOOK_FOR_UPDATES_EVERY = dt.timedelta(seconds=25)
"""How often the code on the disk is looked at: hundreds of files, which two looks in a row have to find the same."""

_log = logging.getLogger(__name__)


class Ending(StrEnum):
    """The reason why the backend ends by itself."""

    REMOVED = "removed"
    CHANGED = "changed"
    UPDATED = "updated"


class Maintenance:
    """Looks after a backend; `ending` says afterwards why it is to end, None while it goes on.

    `renew` renews the certificate if it is time, `has_update` tells of a new version that can be started, and `record`
    is the file of `addin autostart install`, None for a backend that was started by hand.
    """

    def __init__(
        self,
        *,
        record: Path | None,
        renew: Callable[[dt.datetime], object] | None,
        has_update: Callable[[], bool],
        now: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
    ) -> None:
        self._record = record
        self._recorded = _content(record)
        self._renew = renew
        self._has_update = has_update
        self._now = now
        self._renewed_at = self._looked_at = now()
        self.ending: Ending | None = None

    def goes_on(self) -> bool:
        """Look at everything once; False if the backend is to end."""
        self._renew_in_time()
        self.ending = self._reason()
        return self.ending is None

    def _reason(self) -> Ending | None:
        if self._record is not None and self._recorded != (content := _content(self._record)):
            return Ending.REMOVED if content is None else Ending.CHANGED
        now = self._now()
        if abs(now - self._looked_at) < LOOK_FOR_UPDATES_EVERY:
            return None
        self._looked_at = now
        return Ending.UPDATED if self._has_update() else None

    def _renew_in_time(self) -> None:
        now = self._now()
        if self._renew is None or abs(now - self._renewed_at) < RENEW_EVERY:
            return
        self._renewed_at = now
        try:
            self._renew(now)
        except OSError as error:
            _log.warning("the certificate could not be renewed: %s", error)


def _content(file: Path | None) -> bytes | None:
    try:
        return file.read_bytes() if file else None
    except OSError:
        return None
