"""The access log: one line for each request, without the keys that callers put into an address by mistake."""

from __future__ import annotations

import logging
import re
from typing import Any

from uvicorn.config import LOGGING_CONFIG

SECRET = re.compile(r"[0-9a-f]{40}", re.IGNORECASE)
"""The secret part of every key, also where what stands before it is written otherwise."""


class HideKeys(logging.Filter):
    """Lets every record pass, without keys."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Replace the secret part of every key in the arguments."""
        if isinstance(record.args, tuple):
            record.args = tuple(SECRET.sub("…", arg) if isinstance(arg, str) else arg for arg in record.args)
        return True


LOG_CONFIG: dict[str, Any] = {
    **LOGGING_CONFIG,
    "filters": {"hide_keys": {"()": HideKeys}},
    "handlers": {
        **LOGGING_CONFIG["handlers"],
        "access": {**LOGGING_CONFIG["handlers"]["access"], "filters": ["hide_keys"]},
    },
}
"""uvicorn's own, for every process that serves."""
