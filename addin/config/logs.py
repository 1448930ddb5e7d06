"""Logging without secrets: whatever looks like an API key is blotted out before any handler sees it."""

from __future__ import annotations

import logging
import re

_KEY = re.compile(r"\b([A-Za-z][A-Za-z0-9]*)_[0-9a-fA-F]{40}")
"""The contract's form of a key: a prefix, an underscore, 40 hexadecimal digits ("Authentication")."""

_BEARER = re.compile(r"(bearer\s+)\S+", re.IGNORECASE)


def redacted(text: str) -> str:
    """The text with every API key replaced by its prefix and three dots.

    >>> redacted("asked with ds_" + "0" * 40)
    'asked with ds_…'
    """
    return _BEARER.sub(r"\1…", _KEY.sub(r"\1_…", text))


class Redaction(logging.Formatter):
    """A formatter that blots keys out of the finished line, arguments and tracebacks included."""

    def format(self, record: logging.LogRecord) -> str:
        """The line for `record`."""
        return redacted(super().format(record))


def configure_logging(*, verbose: bool) -> None:
    """Log to stderr: warnings only, or with `verbose` everything of ours and every request to the service."""
    handler = logging.StreamHandler()
    handler.setFormatter(Redaction("%(asctime)s %(levelname)s %(name)s: %(message)s", "%H:%M:%S"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in ("addin", "udfs", "dataservice"):
        logging.getLogger(name).setLevel(logging.DEBUG if verbose else logging.WARNING)
