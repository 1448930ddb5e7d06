"""What a monitor is told beside counts: what works, what is left, and when the certificate ends."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from addin.backend.operation.metrics import WorkerMeasures
from addin.backend.operation.service_watch import is_away
from addin.config.consent import spendable

if TYPE_CHECKING:
    from addin.backend.state import BackendState


async def facts_of(backend: BackendState, workers: Sequence[WorkerMeasures]) -> dict[str, float]:
    """The gauges that are known now, by name; of the service, what any of the workers has learned last."""
    settings = backend.settings
    readiness = await backend.readiness.now()
    facts = {f"{part}_up": float(state == "ok") for part, state in readiness.parts.items()}
    learned = [each.service for each in workers]
    if any(each.is_away for each in learned):
        facts["service_up"] = float(not is_away(learned))
    facts["started_seconds"] = backend.started_at
    facts["workers_wanted"] = settings.workers
    with suppress(OSError):
        facts["disk_free_bytes"] = shutil.disk_usage(backend.cache_folder).free
    if (quota := await backend.own_quota()) is not None:
        left = spendable(quota, settings) or 0
        facts |= {"quota_remaining": quota.remaining, "quota_cap": quota.cap, "budget_remaining": left}
    if (ends := await backend.certificate.ends_at()) is not None:
        facts["certificate_end_seconds"] = ends
    return facts
