"""What all requests of one backend share."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, cast

from starlette.requests import Request

from addin.backend.tenants import Tenants
from addin.config.api_key import ApiKey, KeyStore
from addin.config.settings import Settings
from dataservice.client import AsyncClient

ASKED_WITHIN_S = 3_600.0
"""A workbook that has asked nothing for an hour is closed or forgotten: nothing more is spent on it."""


class Asked:
    """The calls that hosts made of late."""

    def __init__(self) -> None:
        self._at: dict[bytes, float] = {}

    def note(self, calls: Iterable[bytes], now: float) -> None:
        """Take down that `calls` were asked for at `now`."""
        self._at.update(dict.fromkeys(calls, now))

    def lately(self, now: float) -> list[bytes]:
        """The calls asked for within the last hour; older ones are forgotten."""
        self._at = {call: at for call, at in self._at.items() if now - at <= ASKED_WITHIN_S}
        return list(self._at)


@dataclass(slots=True, eq=False)
class Backend:
    """The settings, the key with the place where it is kept, and the accounts of one running backend."""

    settings: Settings
    keys: KeyStore
    key: ApiKey | None
    accounts: Tenants
    requests_total: int = 0
    """Requests spent on formulas since the start."""
    started_at: float = field(default_factory=time.time)
    asked: Asked = field(default_factory=Asked)
    """What was asked of the backend's own account, for the background refresh."""

    @classmethod
    def of(cls, request: Request) -> Backend:
        """The backend that a request arrived at."""
        return cast("Backend", request.app.state.backend)

    def key_members(self) -> dict[str, Any]:
        """What may be told of the key: whether there is one, where it is kept, and its last four characters."""
        if self.key is None:
            return {"set": False, "source": "none", "id": None}
        return {"set": True, "source": str(self.key.source), "id": self.key.id}


def quota_members(client: AsyncClient) -> dict[str, Any] | None:
    """The quota as hosts show it, None while nothing is known of it."""
    quota = client.quota_now
    if quota is None:
        return None
    return {name: value for name, value in asdict(quota).items() if name != "seen_at"}
