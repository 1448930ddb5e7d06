"""One request to the service and its outcome: the only place where HTTP happens and where the key is used."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator
from importlib.metadata import PackageNotFoundError, version

import httpx

from dataservice.client.contract.quota import Quota, quota_in
from dataservice.client.contract.requests import Request
from dataservice.client.network.credentials import ApiKey
from dataservice.client.network.error_mapping import Failure, failed_answer, failed_exchange

CONNECTIONS = 16
"""Requests under way at a time: 200 series at 50 ms each take 0.6 s, and no service feels attacked."""

CONNECT_S = 4.0  # a host that is there accepts within one second even from the other side of the world

NOT_COUNTED = frozenset({httpx.codes.UNAUTHORIZED, httpx.codes.TOO_MANY_REQUESTS})

PRODUCT = "dataservice-addin"


class Exchange:
    """What one request led to: the body of a 200, or a failure; and the quota, where the answer told it."""

    __slots__ = ("failure", "outcome", "quota", "spent")

    def __init__(self, outcome: bytes | Failure, quota: Quota | None = None, *, spent: bool = False) -> None:
        self.outcome = outcome
        self.quota = quota
        self.spent = spent
        """Whether it counts against the month: every answer does, but not to a refused key or when all is spent."""


class Transport:
    """Sends requests with the key over at most `CONNECTIONS` connections (HTTP/2 where the service speaks it)."""

    def __init__(
        self, base_url: str, key: ApiKey | None, *, transport: httpx.AsyncBaseTransport | None, user_agent: str | None
    ) -> None:
        self._base_url = base_url
        self._redact = key.redacted if key else str
        self._auth = _Bearer(key) if key else None
        self._given = transport
        self._user_agent = user_agent or _product()
        self._http: httpx.AsyncClient | None = None

    async def send(self, request: Request, now: float, *, within_s: float) -> Exchange:
        """The outcome of one request; never raises, except `asyncio.CancelledError`."""
        client = self._client()
        timeout = httpx.Timeout(within_s, connect=min(CONNECT_S, within_s), pool=None)
        try:
            async with asyncio.timeout(within_s):
                response = await client.get(self._base_url + request.target, timeout=timeout)
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            return Exchange(failed_exchange(request, error))
        quota = quota_in(response.headers, now)
        if response.status_code == httpx.codes.OK:
            return Exchange(response.content, quota, spent=True)
        failure = failed_answer(request, response, quota, self._redact)
        return Exchange(failure, quota, spent=response.status_code not in NOT_COUNTED)

    async def aclose(self) -> None:
        """Close the connections."""
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    def _client(self) -> httpx.AsyncClient:
        if self._http is None:
            _keep_headers_out_of_logs()
            self._http = httpx.AsyncClient(
                transport=self._given,
                auth=self._auth,
                headers={"Accept": "application/json", "User-Agent": self._user_agent},
                http2=self._base_url.startswith("https:"),
                limits=httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS),
                follow_redirects=False,  # a redirect could carry the key to another host
            )
        return self._http


class _Bearer(httpx.Auth):
    """Puts the key on each request at the last moment, so that no object around holds it in a header."""

    def __init__(self, key: ApiKey) -> None:
        self._key = key

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self._key.reveal()}"
        yield request


def _product() -> str:
    """Name and version of this product; the name alone where it runs without being installed."""
    try:
        return f"{PRODUCT}/{version(PRODUCT)}"
    except PackageNotFoundError:
        return PRODUCT


def _keep_headers_out_of_logs() -> None:
    """HTTP/2's header compression logs, at DEBUG, the very bytes that hold the key: let it log no debug records."""
    logging.getLogger("hpack.hpack").setLevel(logging.INFO)
