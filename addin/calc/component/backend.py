"""The backend over HTTP: reused connections, batches, and a pause after it could not be reached."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from typing import Any, Callable, NamedTuple, Sequence
from urllib.parse import urlsplit

from .calls import Call, json_of
from .protocol import Advice, M, Progress, Question, Refreshed, Reply, read

CONNECT_S = 2.0
"""On the same machine a connection succeeds or fails at once; Calc's window is blocked meanwhile."""

ANSWER_S = 60.0
"""Longer than the backend's own deadline for a batch, so that its last known values still arrive."""

AWAY = frozenset({502, 503, 504})
"""The statuses of a backend that restarts or has no room for now, and of a proxy that does not reach it."""

RESTART_PAUSES_S = (0.5, 1.0, 2.0, 4.0)
"""A backend that is away is asked again, if it was there a moment ago: a restart takes some seconds."""

JUST_NOW_S = 60.0
"""Whoever answered within this time may be restarting; else nobody has started it."""

ATTEMPTS = 2
"""How often a request is sent whose connection breaks."""

DOWN_S = 5.0
"""The pause after a backend could not be reached: ten thousand cells must not try one after the other."""

TOO_MUCH = frozenset({400, 413, 422})
"""The statuses with which one bad or huge call makes the backend refuse a whole batch."""


class BackendError(Exception):
    """The backend did not answer; the message says why and what to do."""

    def __init__(self, message: str, status: int = 0, *, is_away: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.is_away = is_away
        """Whether nobody answered, so that the same call may be answered later."""


class Address(NamedTuple):
    """The backend's address, and the certificate authority that vouches for it (https with a local one)."""

    url: str
    ca_file: str | None = None

    def without_tls(self) -> Address | None:
        """The same place on this machine over plain HTTP (`addin serve --http`); None for other machines."""
        parts = urlsplit(self.url)
        is_here = parts.hostname in ("localhost", "127.0.0.1", "::1")
        return Address(f"http://{parts.netloc}") if is_here and parts.scheme == "https" else None

    def connect(self) -> http.client.HTTPConnection:
        """A connection, not yet open; raises `ValueError` for an address that is none."""
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{self.url!r} is not an address such as http://127.0.0.1:8765")
        if parts.scheme == "http":
            return http.client.HTTPConnection(parts.hostname, parts.port, timeout=CONNECT_S)
        context = ssl.create_default_context(cafile=self.ca_file)
        return http.client.HTTPSConnection(parts.hostname, parts.port, timeout=CONNECT_S, context=context)


class BackendClient:
    """`addin serve` as the component sees it."""

    def __init__(
        self, address: Address, clock: Callable[[], float], sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.address = address
        self._clock = clock
        self._sleep = sleep
        self._down_until = 0.0
        self._down_because = ""
        self._answered_at = float("-inf")
        self._idle: list[http.client.HTTPConnection] = []
        self.requests = 0
        """The requests to the service that the backend spent on calls from here."""
        self.progress: Progress | None = None
        """How far the backend was with its last answer; None when all was there."""
        self.generation = 0
        """The newest that the backend told: it grows whenever all that was kept of its answers is to be forgotten."""
        self.question: Question | None = None
        """The backend's question whether so many requests may be sent, while it is open."""

    def answers(self, calls: Sequence[Call]) -> list[dict[str, Any]]:
        """The answers of `calls` in order, however long they take; raises `BackendError` if there are none."""
        found: dict[int, dict[str, Any]] = {}
        places = list(range(len(calls)))
        while places:
            replies = self.answers_so_far([calls[place] for place in places])
            found.update((place, reply) for place, reply in zip(places, replies) if not is_pending(reply))
            places = [place for place in places if place not in found]
        return [found[place] for place in range(len(calls))]

    def answers_so_far(self, calls: Sequence[Call], *, asks: bool = False) -> list[dict[str, Any]]:
        """What is there of the answers within about two seconds; the others are pending, and to be asked for again.

        A refused batch is halved until only the bad calls fail. `asks` if the user is shown the backend's question.
        """
        try:
            return self._batch(calls, "&asks=menu" if asks else "")
        except BackendError as error:
            if error.status not in TOO_MUCH:
                raise
            if len(calls) == 1:
                return [{"error": "#VALUE!", "message": str(error), "fresh_s": 0.0}]
        half = len(calls) // 2
        return self.answers_so_far(calls[:half], asks=asks) + self.answers_so_far(calls[half:], asks=asks)

    def drop(self, calls: Sequence[Call]) -> None:
        """Let the backend fetch nothing more for these calls."""
        self._request("POST", "/functions/drop", {"calls": [json_of(call) for call in calls]})

    def answer_question(self, number: int, *, load: bool) -> None:
        """Tell the backend whether what it asks about may be sent; another window may have answered it already."""
        self._request("POST", "/functions/consent", {"question": number, "load": load})
        self.question = None

    def refresh(self, mode: str) -> None:
        """Ask the backend for new values at the next batch: `stale` or `force`."""
        self._down_until = 0.0
        refreshed = self._read(Refreshed, self._request("POST", "/refresh", {"mode": mode}))
        self.generation = max(self.generation, refreshed.generation)

    def advice(self, formula: str) -> str | None:
        """Return what to change in a formula that cannot be read, or None where nothing is known."""
        return self._read(Advice, self._request("POST", "/functions/advice", {"formula": formula})).advice

    def is_there(self) -> bool:
        """Return whether the backend answers."""
        self._down_until = 0.0
        try:
            self._request("GET", "/health")
        except BackendError:
            return False
        return True

    def status(self) -> dict[str, Any]:
        """The backend's state."""
        self._down_until = 0.0
        return self._request("GET", "/status")

    def _batch(self, calls: Sequence[Call], asks: str) -> list[dict[str, Any]]:
        path = f"/functions/call?pending=yes{asks}"
        reply = self._read(Reply, self._request("POST", path, {"calls": [json_of(call) for call in calls]}))
        if not isinstance(reply.answers, list) or len(reply.answers) != len(calls):
            raise BackendError(f"what answers at {self.address.url} is not the add-in's backend")
        self.requests += reply.requests
        self.generation = max(self.generation, reply.generation)
        self.progress, self.question = reply.progress, reply.question
        return reply.answers

    def _read(self, kind: type[M], members: dict[str, Any]) -> M:
        try:
            return read(kind, members)
        except ValueError:
            raise BackendError(f"what answers at {self.address.url} is not the add-in's backend") from None

    def _request(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        if self._clock() < self._down_until:
            raise BackendError(self._down_because, is_away=True)
        try:
            status, content = self._exchange_again(method, path, body)
            reply = json.loads(content) if status not in AWAY else _members(content)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._down_until = self._clock() + DOWN_S
            self._down_because = self._why(error)
            raise BackendError(self._down_because, is_away=True) from error
        if status != 200 or not isinstance(reply, dict):
            reason = reply.get("error") if isinstance(reply, dict) else None
            refusal = f"the backend refused: {reason or f'status {status}'}"
            raise BackendError(refusal, status, is_away=status in AWAY)
        return reply

    def _exchange_again(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        """The same as `_exchange`; a backend that is away though it was there just now is asked until it is back."""
        for pause_s in RESTART_PAUSES_S:
            try:
                status, content = self._exchange(method, path, body)
            except ConnectionError:
                if self._clock() - self._answered_at > JUST_NOW_S:
                    raise
            else:
                self._answered_at = self._clock()
                if status not in AWAY:
                    return status, content
            self._sleep(pause_s)
        self._answered_at = float("-inf")  # nobody waits a second time
        return self._exchange(method, path, body)

    def _exchange(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        """The status and the content; an idle connection that the backend has closed is replaced.

        If a connection breaks, the request is sent once more: where one of several workers has died, another answers.
        """
        attempts = 0
        content = None if body is None else json.dumps(body, allow_nan=False).encode("ascii")
        headers = {"Accept": "application/json"} if content is None else {"Content-Type": "application/json"}
        while True:
            connection, is_reused = self._connection()
            try:
                connection.request(method, path, content, headers)
                response = connection.getresponse()
                answer = response.status, response.read()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                attempts += not is_reused
                if attempts == ATTEMPTS or not isinstance(error, (ConnectionError, http.client.IncompleteRead)):
                    raise
            else:
                self._idle.append(connection)
                return answer

    def _connection(self) -> tuple[http.client.HTTPConnection, bool]:
        """A connection that is free, and whether it was used before."""
        try:
            return self._idle.pop(), True
        except IndexError:
            connection = self.address.connect()
        try:
            connection.connect()
        except OSError as error:
            connection.close()
            plain = self.address.without_tls()
            if plain is None or not _speaks_plain_http(error):
                raise
            self.address = plain
            return self._connection()
        connection.sock.settimeout(ANSWER_S)
        return connection, False

    def close(self) -> None:
        """Close all idle connections."""
        while self._idle:
            self._idle.pop().close()

    def _why(self, error: Exception) -> str:
        url = self.address.url
        if isinstance(error, ssl.SSLCertVerificationError):
            return f"the certificate at {url} is not trusted ({error.verify_message}); build the extension again"
        if isinstance(error, json.JSONDecodeError):
            return f"what answers at {url} is not the add-in's backend"
        if isinstance(error, ConnectionRefusedError):
            command = "addin serve --http" if url.startswith("http:") else "addin serve"
            return f"the add-in's backend does not run at {url}; start it with: {command}"
        return f"the add-in's backend at {url} did not answer ({error or type(error).__name__})"


def _members(content: bytes) -> Any:
    """Return what a refusal says, where it says it in JSON; a proxy sends a page."""
    try:
        return json.loads(content)
    except ValueError:
        return None


def is_pending(reply: Any) -> bool:
    """Return whether an answer is still to come."""
    return isinstance(reply, dict) and reply.get("pending") is True


def _speaks_plain_http(error: OSError) -> bool:
    """Return whether a TLS handshake failed because the other side does not know TLS."""
    reasons = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNEXPECTED_EOF")
    return isinstance(error, ssl.SSLError) and error.reason in reasons
