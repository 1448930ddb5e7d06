"""What an operator wants to find again in the log: who did what, and when something began and ended."""

from __future__ import annotations

import logging
from typing import Literal

import orjson

from addin.config.json_log import FIELDS

Event = Literal[
    "sign_in",
    "sessions_ended",
    "person_erased",
    "key_stored",
    "key_forgotten",
    "purged",
    "outage_begun",
    "outage_ended",
    "draining",
]

_log = logging.getLogger("addin.events")
_log.setLevel(logging.INFO)


def tell(event: Event, **fields: object) -> None:
    """Write one line: the event and its fields as one JSON object, also where the log is no JSON."""
    told = {"event": event, **fields}
    _log.info("%s", orjson.dumps(told, default=str).decode(), extra={FIELDS: told})
