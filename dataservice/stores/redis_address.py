"""From an address to a Redis client: one server, Sentinels that know the present one, or a cluster; each also by TLS.

    redis://[user:password@]host:port/db        one server; rediss:// by TLS; unix:///path/to/socket
    redis+sentinel://host:port,host:port/service[/db]?sentinel_password=…
    redis+cluster://host:port,host:port         any nodes of the cluster

`rediss+sentinel://` and `rediss+cluster://` are the same by TLS.
"""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from redis.asyncio import Redis, RedisCluster
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.connection import RedisSSLContext, SSLConnection
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import MasterNotFoundError, Sentinel
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, NoPermissionError
from redis.exceptions import ConnectionError as LostConnectionError
from redis.exceptions import TimeoutError as LateError

TIMEOUT_S = 2.5
"""A server that stops for a second or two, to save or to fail over, is waited for: to go on alone costs requests."""

CONNECT_TIMEOUT_S = 1.0  # a server that is there accepts at once

SENTINEL_TIMEOUT_S = 0.5
"""A Sentinel that is gone must not hold up the question to the next one."""

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]]*)(:[0-9]{1,5})?", re.ASCII)

_LATE, _GONE = "it does not answer in time", "it cannot be reached, or ended the connection"
_PROBLEMS: tuple[tuple[type[BaseException], str], ...] = (
    (AuthenticationError, "it refuses the user or password in redis_url, or wants one"),
    (NoPermissionError, "the user in redis_url may not do what is needed there: read, write, run scripts"),
    (ssl.SSLCertVerificationError, "its certificate is of no authority that is trusted here; see the setting ca_file"),
    (ssl.SSLError, "it does not speak TLS, which redis_url asks for (rediss://)"),
    (MasterNotFoundError, "no Sentinel that answers knows a server for the service in redis_url"),
    (TimeoutError, _LATE),
    (LateError, _LATE),
    (ConnectionError, _GONE),
    (LostConnectionError, _GONE),
)

SENTINEL, CLUSTER = "sentinel", "cluster"
DEFAULT_PORTS = {SENTINEL: 26_379, CLUSTER: 6_379}


@dataclass(frozen=True, slots=True)
class Address:
    """Servers that are asked together, and how: `service` and `db` are for Sentinels, `password` is for the servers."""

    kind: str
    nodes: tuple[tuple[str, int], ...]
    is_tls: bool = False
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    service: str = ""
    db: int = 0
    sentinel_username: str | None = None
    sentinel_password: str | None = field(default=None, repr=False)

    @classmethod
    def parsed(cls, url: str) -> Address | None:
        """Return what a `…+sentinel://` or `…+cluster://` address says, None for other ones; raises `ValueError`.

        >>> Address.parsed("redis+sentinel://a:1,b/mymaster/2").nodes
        (('a', 1), ('b', 26379))
        """
        parts = urlsplit(url)
        scheme, _, kind = parts.scheme.partition("+")
        if not kind:
            return None
        if scheme not in ("redis", "rediss") or kind not in (SENTINEL, CLUSTER):
            raise ValueError(f"the scheme {parts.scheme}:// is unknown; there are redis, redis+sentinel, redis+cluster")
        user, _, hosts = parts.netloc.rpartition("@")
        username, _, password = user.partition(":")
        given = parse_qs(parts.query)
        unknown = given.keys() - {"sentinel_username", "sentinel_password"}
        if unknown:
            raise ValueError(f"the option {min(unknown)} is unknown")
        nodes = tuple(_node(text, DEFAULT_PORTS[kind]) for text in hosts.split(","))
        service, _, db = parts.path.strip("/").partition("/")
        if kind == CLUSTER and service not in ("", "0"):
            raise ValueError("a cluster has no databases: its address ends after the hosts")
        if kind == SENTINEL and not (service and (not db or db.isdigit())):
            raise ValueError(
                "the address must end with the service that the Sentinels watch: …/mymaster or …/mymaster/0"
            )
        return cls(
            kind,
            nodes,
            scheme == "rediss",
            unquote(username) or None,
            unquote(password) or None,
            unquote(service),
            int(db or 0),
            given.get("sentinel_username", [None])[0],
            given.get("sentinel_password", [None])[0],
        )


def client_for(url: str, ca_file: Path | None = None) -> Redis | RedisCluster:
    """A client for the address, not connected yet; `ca_file` holds authorities (PEM) that TLS trusts as well.

    Raises `ValueError` for an address that cannot be one.
    """
    _check_form(url)
    address = Address.parsed(url)
    if address is None:
        trusted: dict[str, Any] = {"ssl_ca_certs": str(ca_file)} if ca_file and url.startswith("rediss:") else {}
        server: Redis = Redis.from_url(url, **_patience(), **trusted)
        server.connection_pool.connection_class = _sharing_context(server.connection_pool.connection_class)
        return server
    given: dict[str, Any] = {"username": address.username, "password": address.password, **_patience()}
    tls: dict[str, Any] = {"ssl": True, "ssl_ca_certs": str(ca_file) if ca_file else None} if address.is_tls else {}
    if address.kind == CLUSTER:
        given.pop("retry")  # a cluster has rules of its own: it learns who took over
        cluster = RedisCluster(
            startup_nodes=[ClusterNode(*node) for node in address.nodes],
            require_full_coverage=False,  # the slots that are there are answered
            **given,
            **tls,
        )
        if address.is_tls:
            cluster.connection_kwargs["connection_class"] = sharing = _sharing_context(SSLConnection)
            for node in cluster.startup_nodes:  # nodes that are found later begin with what the cluster keeps
                node.connection_class = sharing
        return cluster
    asking: dict[str, Any] = {"socket_timeout": SENTINEL_TIMEOUT_S, "socket_connect_timeout": SENTINEL_TIMEOUT_S, **tls}
    asking["retry"] = Retry(NoBackoff(), 0)  # the next Sentinel is asked instead
    asking |= {"username": address.sentinel_username, "password": address.sentinel_password}
    sentinel = Sentinel(  # type: ignore[no-untyped-call]
        address.nodes, sentinel_kwargs=asking, db=address.db, **given, **tls
    )
    master: Redis = sentinel.master_for(address.service)
    master.connection_pool.connection_class = _sharing_context(master.connection_pool.connection_class)
    return master


async def close(client: Redis | RedisCluster) -> None:
    """Close the connections to the servers, and to the Sentinels if there are any."""
    pool = getattr(client, "connection_pool", None)
    await client.aclose()
    for sentinel in getattr(getattr(pool, "sentinel_manager", None), "sentinels", ()):
        await sentinel.aclose()


def problem(error: BaseException) -> str:
    """Return what an administrator can do about an error of a server: one sentence without any part of the address.

    >>> problem(TimeoutError())
    'it does not answer in time'
    """
    chain: list[BaseException] = [error]
    while (before := chain[-1].__cause__ or chain[-1].__context__) is not None and before not in chain:
        chain.append(before)
    for each in chain:
        for kind, sentence in _PROBLEMS:
            if isinstance(each, kind):
                return sentence
    return f"it fails ({type(error).__name__})"


def _check_form(url: str) -> None:
    """Raise `ValueError` where a sign in the password ends the host: part of it would be taken for the address."""
    parts = urlsplit(url)
    hosts = parts.netloc.rpartition("@")[2].split(",")
    ends_early = bool(parts.fragment) or "@" in parts.path + parts.query.partition("=")[0]
    if parts.scheme != "unix" and (ends_early or not all(_HOST.fullmatch(host) for host in hosts)):
        raise ValueError(
            "it names no host and port in their place; in a password write / ? # @ : as %2F %3F %23 %40 %3A"
        )


def _sharing_context(kind: Any) -> Any:
    """A kind of connection like `kind`, of which all share the TLS context of the first.

    To read the authorities takes a fortieth of a second each time: thirty connections that are opened together would
    keep their process for a second, and time out.
    """
    if not issubclass(kind, SSLConnection):
        return kind
    first: list[RedisSSLContext] = []

    class Sharing(kind):  # type: ignore[misc]  # known only now: of one server, or of one that Sentinels watch
        ssl_context: RedisSSLContext

        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            if not first:
                first.append(self.ssl_context)
            self.ssl_context = first[0]

    return Sharing


def _patience() -> dict[str, Any]:
    retry = Retry(NoBackoff(), 1, supported_errors=(LostConnectionError,))  # one that the server closed
    return {"socket_timeout": TIMEOUT_S, "socket_connect_timeout": CONNECT_TIMEOUT_S, "retry": retry}


def _node(text: str, default_port: int) -> tuple[str, int]:
    parts = urlsplit(f"//{text}")
    if not parts.hostname:
        raise ValueError("the address names no host")
    return parts.hostname, parts.port or default_port
