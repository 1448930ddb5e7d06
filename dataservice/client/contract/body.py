"""The body of an answer together with its headers: some services say in a header that more follows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Self
from urllib.parse import parse_qsl, urlsplit

Params = tuple[tuple[str, str], ...]

_NEXT = re.compile(r'<([^<>]*)>\s*;[^,<]*\brel\s*=\s*"?next\b', re.IGNORECASE)


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
