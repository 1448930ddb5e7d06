"""Requests that were really sent, with what came back; and which of them an answer rests on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from addin.workbook.audit.trusted import iso
from dataservice.client import Resource
from dataservice.client.contract import HistoryResource, SignalResource, first_request

ARRIVES_WITHIN_S = 60.0
"""An answer is decoded and kept so soon after its last byte, even where thousands arrive together."""

CLOCKS_DIFFER_S = 1.0
_OK = 200
_LATER_PAGES = ("offset", "cursor", "page", "after", "next")
"""The parameters by which a request asks for a further page."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request that was sent, and what came back for it; times are in seconds since the epoch, by this machine."""

    address: str
    """Path and parameters; no host, and never a key."""
    sent_at: float
    received_at: float
    status: int
    date: str
    """What the service said the time was."""
    sha256: str
    """Of the bytes of the body, as they were received."""
    headers: dict[str, str] = field(default_factory=dict, hash=False)

    @property
    def path(self) -> str:
        """The address without its parameters."""
        return urlsplit(self.address).path

    def line(self) -> dict[str, Any]:
        """Return what a signed line says of it."""
        return {
            "address": self.address,
            "sent_at": iso(self.sent_at),
            "date": self.date,
            "status": self.status,
            "sha256": self.sha256,
        }


@dataclass(frozen=True, slots=True)
class Behind:
    """The requests that an answer rests on, and whether there are more that nobody recorded."""

    exchanges: Sequence[Exchange]
    is_whole: bool


def exchanges_behind(resource: Resource[Any], fetched_at: float, known: Iterable[Exchange]) -> Behind:
    """The requests among the `known` ones, in their order, on which the answer that arrived at `fetched_at` rests."""
    paths = {first_request(resource).path}
    if isinstance(resource, HistoryResource):
        paths.add(first_request(SignalResource(resource.slug)).path)
    found = [each for each in known if each.path in paths and each.status == _OK]
    if isinstance(resource, HistoryResource):
        return Behind(found, any(_reaches_back(each, resource) for each in found))
    before = [each for each in found if each.received_at <= fetched_at + CLOCKS_DIFFER_S]
    last = len(before) - 1
    if last < 0 or fetched_at - before[last].received_at > ARRIVES_WITHIN_S:
        return Behind((), is_whole=False)
    first = last
    while first > 0 and _is_later_page(before[first]):
        first -= 1
    return Behind(before[first:], not _is_later_page(before[first]))


def _is_later_page(exchange: Exchange) -> bool:
    asked = parse_qs(urlsplit(exchange.address).query)
    return any(name in asked and asked[name] != ["0"] for name in _LATER_PAGES)


def _reaches_back(exchange: Exchange, resource: HistoryResource) -> bool:
    """Return whether a request for observations began where the history begins."""
    if not exchange.path.endswith("/observations"):
        return False
    start = parse_qs(urlsplit(exchange.address).query).get("start")
    return start is None or (resource.start is not None and start[0][:10] <= resource.start.isoformat())
