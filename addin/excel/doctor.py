"""What keeps the add-in from working on this machine: every link from Excel to the service, looked at in turn."""

from __future__ import annotations

import datetime as dt
import os
import platform as system
import socket
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import version
from urllib.parse import urlsplit

import httpx

from addin.config.api_key import KeySource, find_key
from addin.config.connect import connected, key_store
from addin.config.settings import Settings, config_file
from addin.excel.manifest import local_url
from addin.tls.certificates import Certificates
from addin.tls.trust import distrust
from dataservice.errors import DataServiceError
from dataservice.stores import default_sqlite_path
from udfs.errors import reason

PATIENCE_S = 5.0
"""How long each link may take to answer."""


class State(StrEnum):
    """How a link is."""

    GOOD = "good"
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Finding:
    """One link: how it is, and what to do where it is not good."""

    topic: str
    state: State
    text: str
    advice: str = ""


async def examine(
    settings: Settings,
    own: Certificates,
    now: dt.datetime,
    *,
    distrust: Callable[[Certificates], str | None] = distrust,
) -> list[Finding]:
    """Everything between Excel and the service, in this order; asks the service for at most one request.

    `distrust` says why the system does not trust our certificates, None where it does.
    """
    findings = [_versions(), _address(settings), _key(settings), _cache(settings)]
    if settings.public_url is None:  # else the certificate is that of the public address
        findings += [*_certificate(own, now), *_trust(own, distrust)]
    async with httpx.AsyncClient(timeout=PATIENCE_S, verify=_trusting(own)) as http:
        findings.append(await _backend(settings, http))
    if settings.url:
        async with httpx.AsyncClient(timeout=PATIENCE_S) as http:
            findings.append(await _service(settings, http))
        if findings[-1].state is State.GOOD:
            findings.append(await _quota(settings))
    return findings


def _versions() -> Finding:
    text = f"addin {version('dataservice-addin')}, Python {system.python_version()}, {system.system()}"
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
    if not os.access(place, os.W_OK):
        return Finding(
            "cache", State.BROKEN, f"{folder} cannot be written", "choose another with DATA_SERVICE_CACHE_DIR"
        )
    return Finding("cache", State.GOOD, str(folder))


def _certificate(own: Certificates, now: dt.datetime) -> Iterator[Finding]:
    """The certificate for localhost, and who may read its key."""
    ends = own.ends()
    if ends is None:
        yield Finding("certificate", State.BROKEN, "there is none for localhost", "make one with: addin certs install")
        return
    days = (ends - now).days
    state = State.GOOD if days > 0 else State.BROKEN
    yield Finding("certificate", state, f"good for {days} days", "" if days > 0 else "restart: addin serve")
    if os.name == "posix":
        mode = own.leaf.private_key.stat().st_mode & 0o077 if own.leaf.private_key.exists() else 0
        if mode:
            advice = "make it anew: addin certs remove; addin certs install"
            yield Finding("private key", State.BROKEN, f"{own.leaf.private_key} is readable for others", advice)


def _trust(own: Certificates, distrust: Callable[[Certificates], str | None]) -> Iterator[Finding]:
    """Whether Excel and browsers accept the certificate; an untrusted one leaves the pane empty without a word."""
    if own.ends() is None:
        return
    reason = distrust(own)
    if reason is None:
        yield Finding("trust", State.GOOD, "the system trusts the certificate")
        return
    advice = "addin certs install --trust; then restart Excel and the browser"
    yield Finding("trust", State.WARNING, f"the system is not known to trust the certificate ({reason})", advice)


async def _backend(settings: Settings, http: httpx.AsyncClient) -> Finding:
    """Whether our backend answers where Excel asks for it."""
    address = local_url(settings)
    try:
        response = await http.get(f"{address}/health")
        if response.json() == {"ok": True}:
            return Finding("backend", State.GOOD, f"answers at {address}")
    except (httpx.HTTPError, ValueError):
        pass
    if not _listens(address):
        return Finding("backend", State.BROKEN, f"nothing answers at {address}", "start it with: addin serve")
    advice = "end what holds the port, or choose another one (DATA_SERVICE_PORT); then: addin serve"
    return Finding("backend", State.BROKEN, f"something else, or plain http, answers at {address}", advice)


async def _service(settings: Settings, http: httpx.AsyncClient) -> Finding:
    """Whether the service can be reached at all; its description costs no request and needs no key."""
    try:
        response = await http.get(f"{settings.base_url}/openapi.json")
    except httpx.HTTPError as error:
        text = f"{settings.base_url} does not answer ({type(error).__name__})"
        return Finding("service", State.BROKEN, text, "check the address, the network and its proxy")
    if response.status_code >= 500:
        return Finding("service", State.BROKEN, f"it answers with an error ({response.status_code})", "try again later")
    return Finding("service", State.GOOD, f"{settings.base_url} answers")


async def _quota(settings: Settings) -> Finding:
    """What the month has left; known from earlier answers, or else for one request."""
    try:
        async with connected(settings) as session:
            quota = await session.client.quota()
    except DataServiceError as error:
        return Finding("quota", State.BROKEN, reason(error, "This"), "see: addin key show")
    text = f"{quota.remaining:,} of {quota.cap:,} requests left this month ({quota.tier} tier)"
    if quota.remaining == 0:
        return Finding("quota", State.WARNING, text, "cells keep their last values until the new month")
    return Finding("quota", State.GOOD, text)


def _trusting(own: Certificates) -> ssl.SSLContext | bool:
    """Trust what the system trusts, and our own authority."""
    context = ssl.create_default_context()
    if own.authority.exists():
        context.load_verify_locations(own.authority)
    return context


def _listens(address: str) -> bool:
    parts = urlsplit(address)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 443), timeout=PATIENCE_S):
            return True
    except OSError:
        return False
