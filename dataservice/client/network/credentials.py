"""Where the service is and with which key: checked once, when the client is made, and never shown."""

from __future__ import annotations

import hashlib
import ipaddress
from typing import NoReturn
from urllib.parse import urlsplit


class ApiKey:
    """An API key that no repr, log or error can show; only `reveal` gives it out, to the transport."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        text = text.strip()
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


def service_url(text: str, *, allow_plain_http: bool = False) -> str:
    """The base URL in `text` without a closing slash or `/v1`.

    Raises `ValueError` for anything but https, or plain http to this very machine: a bearer key must not travel in
    clear text. `allow_plain_http` lifts that for networks that are protected otherwise.
    """
    base_url = text.strip().rstrip("/").removesuffix("/v1").rstrip("/")
    try:
        parts = urlsplit(base_url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ValueError("the service address is not a URL") from None
    if parts.scheme not in {"https", "http"} or not host or any(c.isspace() for c in base_url):
        raise ValueError(f"the service address must look like https://host, not {_without_secrets(text)!r}")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("the service address must hold no user, password, query or fragment")
    if parts.scheme == "http" and not (allow_plain_http or _is_loopback(host)):
        raise ValueError(f"http://{host} would send the API key in clear text: use https, or allow_plain_http=True")
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
