"""The body of an answer together with its headers: some services say in a header that more follows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Self
from urllib.parse import parse_qsl, urlsplit

import msgspec

Params = tuple[tuple[str, str], ...]

_NEXT = re.compile(r'<([^<>]*)>\s*;[^,<]*\brel\s*=\s*"?next\b', re.IGNORECASE)

PENDING = frozenset({"pending", "preparing", "processing", "queued", "in_progress", "in progress", "not_ready"})
"""What `status` or `state` says where an answer is still being prepared."""

MOST_PENDING_BYTES = 1_000
"""Longer answers hold data, whatever they say of it."""


class Body(bytes):
    """The unpacked bytes of an answer, which know the headers that came with them."""

    headers: Mapping[str, str]
    status: int

    @classmethod
    def of(cls, content: bytes, headers: Mapping[str, str], status: int = 200) -> Self:
        """The bytes with these headers, and the status that they came with."""
        body = cls(content)
        body.headers = headers
        body.status = status
        return body


VERSIONS = ("x-service-version", "x-api-version", "api-version", "x-version")
"""Headers in which a service may say its version."""


def version_in(body: bytes) -> str:
    """The version that a service says in a header of an answer; empty where it does not."""
    headers = body.headers if isinstance(body, Body) else {}
    return next((headers[name].strip()[:40] for name in VERSIONS if name in headers), "")


def next_in_link(body: bytes) -> str | None:
    """The address of the next page in the Link header (RFC 8288) that came with a body."""
    found = _NEXT.search(body.headers.get("link", "")) if isinstance(body, Body) else None
    return found[1] if found else None


def params_of(address: str) -> Params:
    """The parameters in an address: of where a service says that its next page is, no more is believed."""
    try:
        return tuple(parse_qsl(urlsplit(address).query))
    except ValueError:
        return ()


def is_pending(body: bytes) -> bool:
    """Return whether an answer says in so many words that it is still being prepared, and holds nothing else.

    >>> is_pending(b'{"status": "pending", "data": null}'), is_pending(b'{"status": "pending", "slug": "x"}')
    (True, False)
    """
    if len(body) > MOST_PENDING_BYTES:
        return False
    try:
        content = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    if not isinstance(content, Mapping):
        return False
    inner = content.get("data")
    layers = [content, inner] if isinstance(inner, Mapping) else [content]
    is_said = any(str(layer.get(name)).strip().lower() in PENDING for layer in layers for name in ("status", "state"))
    holds_data = any(
        "slug" in layer or any(isinstance(told, list) and told for told in layer.values()) for layer in layers
    )
    return is_said and not holds_data
