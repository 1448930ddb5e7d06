"""Why the add-in does not work on this machine: checks every link from Excel to the service in turn."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import platform as system
import socket
import ssl
from collections.abc import Callable, Iterator
from typing import TypeAlias
from urllib.parse import urlsplit
from urllib.request import getproxies

import httpx

from addin.config.api_key import KeySource, find_key
from addin.config.authorities import trusted
from addin.config.connect import connected, key_store, open_store, store_place
from addin.config.settings import Settings, config_file
from addin.errors import SettingsError
from addin.excel.manifest import local_url
from addin.findings import Finding, State
from addin.tls.certificates import Certificates
from addin.tls.trust import distrust
from dataservice.client.network.error_mapping import ADVICE as INTERCEPTED_ADVICE
from dataservice.errors import DataServiceError
from dataservice.stores import StoreAwayError, default_sqlite_path
from dataservice.version import product_version
from udfs.errors import reason

TIMEOUT_S = 5.0
"""The time in which each link must answer."""

Distrust: TypeAlias = Callable[[Certificates], str | None]

LOCAL_NETWORK = (
    "Excel on the web: allow local network access when Chrome or Edge ask (142 and later); "
    "firms by the policy LocalNetworkAccessAllowedForUrls"
)


async def examine(
    settings: Settings, own: Certificates, now: dt.datetime, *, distrust: Distrust = distrust
) -> list[Finding]:
    """Check everything between Excel and the service in this order; spends at most one request.

    `distrust` returns why the system does not trust our certificates, or None if it does.
    """
    findings = [_versions(), _address(settings), _key(settings), _cache(settings), *await _redis(settings)]
    # No proxy leads to this machine.
    async with httpx.AsyncClient(timeout=TIMEOUT_S, verify=_trusting(own), trust_env=False) as http:
        backend = await _backend(settings, http)
    if settings.public_url is None:  # else the certificate is that of the public address
        findings += _certificate(own, now, distrust, is_plain=backend.state is State.WARNING)
    findings.append(backend)
    if settings.public_url is None:
        findings.append(Finding("web", State.GOOD, LOCAL_NETWORK))
    if settings.url:
        findings.append(await _service(settings))
        if findings[-1].state is State.GOOD:
            findings.append(await _quota(settings))
    return findings


def _versions() -> Finding:
    text = f"addin {product_version()}, Python {system.python_version()}, {system.system()}"
    return Finding("versions", State.GOOD, text)


def _address(settings: Settings) -> Finding:
    if settings.url:
        return Finding("address", State.GOOD, settings.url)
    advice = f'set DATA_SERVICE_URL, or write url = "https://…" into {config_file()}'
    return Finding("address", State.BROKEN, "no address of the Data Service is set", advice)


def _key(settings: Settings) -> Finding:
    key = find_key(key_store(settings))
    if key is None:
        return Finding("key", State.BROKEN, "no API key is set", "keep one with: addin key set")
    state = State.WARNING if key.source in (KeySource.FILE, KeySource.CONFIG) else State.GOOD
    advice = "a keychain would keep it safer than a file" if state is State.WARNING else ""
    return Finding("key", state, f"ends in {key.id}, from the {key.source}", advice)


def _cache(settings: Settings) -> Finding:
    folder = settings.cache_dir or default_sqlite_path().parent
    place = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    if os.access(place, os.W_OK):
        return Finding("cache", State.GOOD, str(folder))
    return Finding("cache", State.BROKEN, f"{folder} cannot be written", "choose another with DATA_SERVICE_CACHE_DIR")


async def _redis(settings: Settings) -> list[Finding]:
    """Return whether the Redis that is set answers; nothing where none is. No password is told."""
    if not settings.is_store_shared:
        return []
    place = store_place(settings)
    advice = "until it answers, a copy in the cache folder stands in; check redis_url and ca_file"
    try:
        store = open_store(settings)
    except SettingsError as error:
        return [Finding("redis", State.BROKEN, str(error), "check redis_url and ca_file")]
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await store.add("ready", 0)
    except TimeoutError:
        return [Finding("redis", State.BROKEN, f"{place}: no answer within {TIMEOUT_S:g} s", advice)]
    except StoreAwayError as error:
        return [Finding("redis", State.BROKEN, f"{place}: {error}", advice)]
    finally:
        await store.aclose()
    return [Finding("redis", State.GOOD, place)]


def _certificate(own: Certificates, now: dt.datetime, distrust: Distrust, *, is_plain: bool) -> Iterator[Finding]:
    """The certificate for localhost, whether others can read its key, and whether the system trusts it.

    With a certificate that Excel and browsers do not trust, the pane stays empty. A backend over plain HTTP needs none.
    """
    ends = own.ends()
    if ends is None and is_plain:
        advice = "for Excel, make one with: addin certs install"
        yield Finding("certificate", State.WARNING, "there is none for localhost; Calc needs none", advice)
        return
    if ends is None:
        yield Finding("certificate", State.BROKEN, "there is none for localhost", "make one with: addin certs install")
        return
    days = (ends - now).days
    state = State.GOOD if days > 0 else State.BROKEN
    yield Finding("certificate", state, f"good for {days} days", "" if days > 0 else "restart: addin serve")
    key = own.leaf.private_key
    if os.name == "posix" and key.exists() and key.stat().st_mode & 0o077:
        advice = "make a new one: addin certs remove; addin certs install"
        yield Finding("private key", State.BROKEN, f"{key} is readable by others", advice)
    reason = distrust(own)
    if reason is None:
        yield Finding("trust", State.GOOD, "the system trusts the certificate")
        return
    advice = "addin certs install --trust; then restart Excel and the browser"
    yield Finding("trust", State.WARNING, f"the system is not known to trust the certificate ({reason})", advice)


async def _backend(settings: Settings, http: httpx.AsyncClient) -> Finding:
    """Return whether our backend answers at the address that Excel uses."""
    address = local_url(settings)
    if await _is_backend(address, http):
        return Finding("backend", State.GOOD, f"answers at {address}")
    plain = address.replace("https:", "http:", 1)
    if await _is_backend(plain, http):
        text = f"answers at {plain}, as addin serve --http does: Calc reaches it, Excel does not"
        return Finding("backend", State.WARNING, text, "for Excel, start it with: addin serve")
    if not _listens(address):
        return Finding("backend", State.BROKEN, f"nothing answers at {address}", "start it with: addin serve")
    advice = "end the program that uses the port, or choose another port (DATA_SERVICE_PORT); then: addin serve"
    return Finding("backend", State.BROKEN, f"something else answers at {address}", advice)


async def _is_backend(address: str, http: httpx.AsyncClient) -> bool:
    try:
        response = await http.get(f"{address}/health")
        return bool(response.json() == {"ok": True})
    except (httpx.HTTPError, ValueError):
        return False


async def _service(settings: Settings) -> Finding:
    """Return whether the service answers; its description costs no request and needs no key."""
    try:
        http = httpx.AsyncClient(timeout=TIMEOUT_S, verify=trusted(settings.ca_file))
    except (ImportError, ValueError, httpx.InvalidURL):  # a kind of proxy that needs a further package, or is none
        text = f"its proxy cannot be used ({_proxies()})"
        return Finding("service", State.BROKEN, text, "give the proxy as http://host:port")
    try:
        async with http:
            response = await http.get(f"{settings.base_url}/openapi.json")
    except httpx.HTTPError as error:
        if _is_untrusted(error):
            advice = "if your firm's proxy opens https, name its authority's file in the setting ca_file"
            return Finding("service", State.BROKEN, f"the certificate of {settings.base_url} is not trusted", advice)
        text = f"{settings.base_url} does not answer ({type(error).__name__})"
        return Finding("service", State.BROKEN, text, f"check the address, the network and its proxy ({_proxies()})")
    if response.is_redirect or "html" in response.headers.get("content-type", ""):
        text = f"{settings.base_url} answers with a web page or a redirect ({response.status_code})"
        return Finding("service", State.BROKEN, text, INTERCEPTED_ADVICE)
    if response.status_code >= 500:
        return Finding("service", State.BROKEN, f"it answers with an error ({response.status_code})", "try again later")
    return Finding("service", State.GOOD, f"{settings.base_url} answers")


def _is_untrusted(error: BaseException | None) -> bool:
    """Return whether a certificate was refused, by the error itself or one that it was raised for."""
    while error is not None and not isinstance(error, ssl.SSLCertVerificationError):
        error = error.__cause__ or error.__context__
    return error is not None


async def _quota(settings: Settings) -> Finding:
    """The requests left this month, from earlier answers or with one request."""
    try:
        async with connected(settings) as session:
            quota = await session.client.quota()
    except DataServiceError as error:
        return Finding("quota", State.BROKEN, reason(error, "This"), "see: addin key show")
    text = f"{quota.remaining:,} of {quota.cap:,} requests left this month ({quota.tier} tier)"
    if quota.remaining == 0:
        return Finding("quota", State.WARNING, text, "cells keep their last values until the new month")
    return Finding("quota", State.GOOD, text)


def _proxies() -> str:
    """The proxies in the environment, without what stands in front of their hosts: that may be a password."""
    found = {name: address for name, address in getproxies().items() if name in ("https", "http", "all")}
    shown = [f"{name}: {urlsplit(address).netloc.rpartition('@')[2]}" for name, address in sorted(found.items())]
    return ", ".join(shown) or "none is set"


def _trusting(own: Certificates) -> ssl.SSLContext | bool:
    """A context that trusts the system's authorities and our own."""
    context = ssl.create_default_context()
    if own.authority.exists():
        context.load_verify_locations(own.authority)
    return context


def _listens(address: str) -> bool:
    parts = urlsplit(address)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 443), timeout=TIMEOUT_S):
            return True
    except OSError:
        return False
