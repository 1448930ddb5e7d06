"""Answers that were given before, as the bytes that were sent: they hold until the next import."""

from dataclasses import dataclass
from typing import TypeAlias

from cachetools import LRUCache
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BYTES = 64 * 2**20
"""Room for 10,000 signals with a year of history."""

MAX_ANSWER_BYTES = 2**20

ANSWER_BYTES = 1_000  # of objects around a body

Question: TypeAlias = tuple[str, bytes, str, bool]


@dataclass(frozen=True, slots=True)
class Ready:
    """An answer with the status 200, and the version of the data that it shows."""

    data_version: int
    start: Message
    body: bytes


class ReadyAnswersMiddleware:
    """ASGI middleware: what was asked before and has not changed since is sent without being worked out again.

    `scope["data_version"]` tells which data the answer has to show; without it, and for other methods than GET,
    nothing is kept.
    """

    def __init__(self, app: ASGIApp, *, max_bytes: int = MAX_BYTES) -> None:
        self._app = app
        self._kept: LRUCache[Question, Ready] = LRUCache(max_bytes, getsizeof=_size)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer from here, or pass the request on and keep what it leads to."""
        version = scope.get("data_version")
        if version is None or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        packed = "gzip" in Headers(scope=scope).get("accept-encoding", "")
        question = (scope["path"], scope["query_string"], scope["caller"].tier, packed)
        ready = self._kept.get(question)
        if ready is not None and ready.data_version == version:
            await send(ready.start)
            await send({"type": "http.response.body", "body": ready.body})
            return
        start: Message = {}
        parts: list[bytes] = []

        async def send_and_keep(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            elif start.get("status") == 200:
                parts.append(message.get("body", b""))
                if not message.get("more_body"):
                    self._keep(question, Ready(version, {**start}, b"".join(parts)))
            await send(message)

        await self._app(scope, receive, send_and_keep)

    def _keep(self, question: Question, ready: Ready) -> None:
        self._kept.pop(question, None)
        if len(ready.body) <= MAX_ANSWER_BYTES:
            self._kept[question] = ready


def _size(ready: Ready) -> int:
    return len(ready.body) + ANSWER_BYTES
