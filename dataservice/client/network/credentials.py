"""What a client is made with, checked once: where the service is, with which key (never shown), and its limits."""

from __future__ import annotations

import hashlib
import ipaddress
import os
import re
import secrets
from typing import NoReturn
from urllib.parse import urlsplit

from dataservice.errors import MissingAddressError
from dataservice.key_text import KEY, bare_key, quoted
from dataservice.stores import Store

URL_VARIABLE = "DATA_SERVICE_URL"
KEY_VARIABLE = "DATA_SERVICE_API_KEY"

_OF_THE_SERVICE = re.compile(
    r"(?<=[^:/])(?:/+v1(?:/+(?:signals|indices|currents|codex|almanac|wire)(?:/.*)?)?|/+openapi\.json|/+\.well-known/.*)+/*$",
    re.IGNORECASE | re.DOTALL,
)
"""What the service itself has behind its address: people copy the address of a request, too."""

_PROCESS_SALT = secrets.token_bytes(16)


class ClearTextError(ValueError):
    """The address is plain http to another machine."""


class ApiKey:
    """An API key that no repr, log or error can show; only `reveal` returns it, to the transport."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        text = bare_key(text) if isinstance(text, str) else ""
        if not text or not text.isascii() or not text.isprintable() or " " in text:
            raise ValueError("an API key is one word of printable ASCII characters; the one given is not")
        self._text = text

    def __repr__(self) -> str:
        return "ApiKey(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an API key is not pickled: it would be stored")

    def reveal(self) -> str:
        """The key itself, for the Authorization header only."""
        return self._text

    def redacted(self, text: str) -> str:
        """`text` without the key, should the service repeat it."""
        return text.replace(self._text, "…")

    def fingerprint(self, salt: bytes, base_url: str) -> str:
        """A name for this key at this service (32 hexadecimal characters) that does not give the key away."""
        named = f"{base_url}\0{self._text}".encode()
        return hashlib.blake2b(named, key=salt[:64], digest_size=16).hexdigest()

    def derived(self, salt: bytes, base_url: str, nbytes: int) -> bytes:
        """Secret bytes that only who has this key can make, other ones for each service and salt (HKDF, SHA-256)."""
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        made = HKDF(SHA256(), nbytes, salt, info=f"dataservice store\0{base_url}".encode())
        return made.derive(self._text.encode())


def sealed_for(key: ApiKey | None, base_url: str, store: Store) -> Store:
    """`store`; one beyond this machine is sealed, so that only who has `key` reads what is kept there for it."""
    if key is None or not store.is_remote:
        return store
    from dataservice.stores.seal import KEY_BYTES  # cryptography takes a while to import
    from dataservice.stores.sealed import SealedStore

    return SealedStore(store, lambda salt: key.derived(salt, base_url, KEY_BYTES))


def configured_key(given: str | None) -> ApiKey | None:
    """The key that was given, or else the one in the environment; None for an empty one."""
    text = os.environ.get(KEY_VARIABLE, "") if given is None else given
    return None if isinstance(text, str) and not bare_key(text) else ApiKey(text)


def key_id(key: ApiKey | None, base_url: str) -> str:
    """A name for `key` in this process, never the key; empty without one."""
    return "" if key is None else key.fingerprint(_PROCESS_SALT, base_url)[:12]


def configured_url(given: str | None, *, allow_plain_http: bool = False) -> str:
    """The base URL that was given, or else the one in the environment, checked as `service_url` does.

    Raises `MissingAddressError` where there is none.
    The message for plain http names `allow_plain_http`, which those who call from Python can give.
    """
    text = given or os.environ.get(URL_VARIABLE, "")
    if not text.strip():
        raise MissingAddressError(f"no address of the service is configured; give base_url or set {URL_VARIABLE}")
    try:
        return service_url(text, allow_plain_http=allow_plain_http)
    except ClearTextError as error:
        raise ClearTextError(f"{error}, or allow_plain_http=True where the network is protected otherwise") from None


def check_limits(deadline_s: float, **limits: int) -> None:
    """Raise `ValueError` for a deadline that is not in the future, and for a limit below 1."""
    if not _is_number(deadline_s) or not deadline_s > 0:
        raise ValueError(f"deadline_s must be more than 0 seconds, not {quoted(deadline_s)}")
    for name, limit in limits.items():
        if not _is_number(limit) or not limit >= 1:
            raise ValueError(f"{name} must be 1 or more, not {quoted(limit)}")


def _is_number(given: object) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool)


def service_url(text: str, *, allow_plain_http: bool = False) -> str:
    """The base URL in `text` without a closing slash, `/v1` or the path of an endpoint.

    Raises `ValueError` for anything but https, or plain http to this very machine: a bearer key must not travel in
    clear text. `allow_plain_http` lifts that for networks that are protected otherwise.
    """
    base_url = _OF_THE_SERVICE.sub("", text.strip()).rstrip("/")
    try:
        parts = urlsplit(base_url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ValueError("the service address is not a URL") from None
    if parts.scheme not in {"https", "http"} or not host or any(c.isspace() for c in base_url):
        raise ValueError(f"the service address must look like https://host, not {quoted(_without_secrets(text))}")
    if "@" in parts.netloc or parts.query or parts.fragment or KEY.search(base_url):
        raise ValueError("the service address must hold no user, password, query, fragment or API key")
    if parts.scheme == "http" and not (allow_plain_http or _is_loopback(host)):
        raise ClearTextError(f"http://{host} would send the API key in clear text: use https")
    return base_url


def _without_secrets(text: str) -> str:
    return text.rpartition("@")[2].partition("?")[0].partition("#")[0]


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
