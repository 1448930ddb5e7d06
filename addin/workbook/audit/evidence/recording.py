"""Connections that note what they send and receive, and a log that outlives the run."""

from __future__ import annotations

import hashlib
import ssl
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import httpx
import msgspec
import orjson

from addin.config.settings import write_private
from addin.errors import AddinError
from addin.workbook.audit.evidence.exchanges import Behind, Exchange, exchanges_behind
from dataservice.client import Resource
from dataservice.client.network.connections import Arrival, Connections, SendWatch

KEPT_S = 40 * 86_400.0
"""How long the log knows a request: answers in the cache are hardly older."""

_TOLD = ("content-type", "content-encoding", "date")
"""The headers that are kept of an answer, and all about the quota."""


class Recording:
    """The requests of this run, and of earlier ones as far as a log knows; with `bodies`, answers are kept there."""

    def __init__(self, *, bodies: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        self.sent: list[Exchange] = []
        self.clock = clock
        self._log: Path | None = None
        self._bodies = bodies
        self._earlier: list[Exchange] = []

    def remember(self, log: Path) -> None:
        """Know what a log holds of earlier runs, and keep this one's in it."""
        self._log, self._earlier = log, _read(log, self.clock())

    def note(self, exchange: Exchange, body: bytes) -> None:
        """Note an exchange; its body is kept under its digest."""
        self.sent.append(exchange)
        if self._bodies is not None:
            file = self._bodies / exchange.sha256
            if not file.exists():
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(body)

    def behind(self, resource: Resource[Any], fetched_at: float) -> Behind:
        """The requests on which an answer rests."""
        return exchanges_behind(resource, fetched_at, [*self._earlier, *self.sent])

    def save(self) -> None:
        """Keep what was sent for later runs, which may be answered from the cache."""
        if self._log is not None and self.sent:
            lines = [orjson.dumps(asdict(each)) for each in [*self._earlier, *self.sent]]
            with suppress(OSError):  # then later lines say that the request was not recorded
                write_private(self._log, b"\n".join(lines) + b"\n")


def log_of(cache: Path, scope: str) -> Path:
    """Return where the requests of one key are noted; `scope` is the hash by which the cache names the key."""
    return cache / "requests" / f"{hashlib.sha256(scope.encode()).hexdigest()[:24]}.jsonl"


def _read(log: Path, now: float) -> list[Exchange]:
    try:
        lines = log.read_bytes().splitlines()
        found = [msgspec.convert(orjson.loads(line), Exchange) for line in lines]
    except FileNotFoundError:
        return []
    except (OSError, ValueError):
        return []  # nothing is claimed of requests that cannot be read
    return [each for each in found if each.received_at > now - KEPT_S]


class RecordedConnections(Connections):
    """Connections to the service that note each exchange in a recording once its answer is received whole."""

    def __init__(
        self, base_url: str, at_most: int, recording: Recording, *, verify: ssl.SSLContext | bool = True
    ) -> None:
        super().__init__(base_url, at_most, verify=verify)
        self._recording = recording

    async def get(
        self, target: str, headers: Sequence[tuple[str, str]], *, watch: SendWatch | None, connect_s: float
    ) -> Arrival:
        """As `Connections`."""
        sent_at = self._recording.clock()
        arrival = await super().get(target, headers, watch=watch, connect_s=connect_s)
        kept = {
            name: value
            for name, value in arrival.headers.items()
            if name in _TOLD or "ratelimit" in name or "quota" in name
        }

        parts: list[bytes] = []

        async def noted() -> bytes:
            """The body handed on as it comes, and noted at its end."""
            parts.append(await arrival.more())
            if not parts[-1]:
                body = b"".join(parts)
                digest, now = hashlib.sha256(body).hexdigest(), self._recording.clock()
                told = Exchange(target, sent_at, now, arrival.status, kept.get("date", ""), digest, kept)
                self._recording.note(told, body)
            return parts[-1]

        return replace(arrival, more=noted)


class ReplayedConnections(httpx.AsyncBaseTransport):
    """Answers each request as it was answered when it was recorded, and no other; nothing is sent."""

    def __init__(self, exchanges: list[Exchange], body_of: Callable[[str], bytes]) -> None:
        self._left: dict[str, list[Exchange]] = {}
        for each in exchanges:
            self._left.setdefault(each.address, []).append(each)
        self._body_of = body_of
        self.missing: list[str] = []
        """What was asked for, but never recorded."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The recorded answer; the last one of a request that was sent several times is given again."""
        address = request.url.raw_path.decode("ascii")
        known = self._left.get(address)
        if not known:
            self.missing.append(address)
            return httpx.Response(404, content=b'{"error": {"code": "not_recorded"}}')
        exchange = known.pop(0) if len(known) > 1 else known[0]
        return httpx.Response(exchange.status, headers=exchange.headers, content=self._body_of(exchange.sha256))


class EvidenceError(AddinError):
    """A folder of evidence cannot be read, or is not that of the lines."""
