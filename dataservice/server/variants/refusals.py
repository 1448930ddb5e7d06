"""What a variant of the service refuses, prepares first, or tells by another name and in another character set."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dataservice.server.variants.pages import Reply

CLOSED = "/v1/signals/us-cpi"
"""The signal that a key does not open, where there is one."""


class Refusals:
    """The answers of one service in the order in which they are asked for."""

    def __init__(self, variant: Mapping[str, str]) -> None:
        self._variant = variant
        self._prepared: set[str] = set()

    def told(self, path: str, query: str, reply: Reply) -> Reply:
        """The same reply, or what comes in its place."""
        status = self._variant["one-signal"]
        if status != "open" and (path == CLOSED or path.startswith(f"{CLOSED}/")):
            return Reply(int(status), {"error": "this key does not open it"}, {})
        if self._variant["prepared"] == "202" and path.endswith("/observations") and query not in self._prepared:
            self._prepared.add(query)
            return Reply(202, {"status": "preparing"}, {"Retry-After": "1"})
        if self._variant["alias"] == "prefixed" and reply.status == 200 and isinstance(reply.body, dict):
            return replace(reply, body=_prefixed(reply.body)) if _is_detail(path) else reply
        return reply


def _is_detail(path: str) -> bool:
    return path.startswith("/v1/signals/") and not path.endswith("/observations")


def _prefixed(body: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {**told, "slug": f"src:{told['slug']}"} if isinstance(told, dict) and "slug" in told else told
        for name, told in body.items()
    }


def written(body: Any, charset: str) -> tuple[bytes, str]:
    """The bytes of a body, and its Content-Type."""
    if charset == "utf-8":
        return json.dumps(body).encode(), "application/json"
    text = json.dumps(body, ensure_ascii=False).replace('"name": "', '"name": "é ')
    return text.encode(charset), f"application/json; charset={charset}"
