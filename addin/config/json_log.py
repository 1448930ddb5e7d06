"""The log as JSON: one object a line, with the id of the request that it is about, and never a key."""

from __future__ import annotations

import logging
from contextvars import ContextVar
from datetime import UTC, datetime

import orjson

from addin.config.api_key import redacted

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the request that this code works on; empty beside requests."""

FIELDS = "fields"
"""The name of what a record holds beside its message: `extra={FIELDS: {"status": 200}}`."""


class JsonFormatter(logging.Formatter):
    """A record as one JSON object: time, level, logger, message, request_id, the record's own fields, traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """The line for `record`."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redacted(record.getMessage()),
        }
        if request_id := REQUEST_ID.get():
            line["request_id"] = request_id
        line |= getattr(record, FIELDS, {})
        if record.exc_info:
            line["traceback"] = redacted(self.formatException(record.exc_info))
        return orjson.dumps(line, default=str).decode()


def log_as_json() -> None:
    """Write the log of this process as JSON from now on."""
    for handler in logging.getLogger().handlers:
        handler.setFormatter(JsonFormatter())
