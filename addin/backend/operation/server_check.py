"""What a server needs before users come: each thing tried, with what to do where it does not work."""

from __future__ import annotations

import asyncio
import datetime as dt
import http.client
import os
import shutil
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import httpx

from addin.backend.operation.public_certificate import PublicCertificate
from addin.backend.operation.set_up import unknown_variables
from addin.config.authorities import trusted
from addin.config.connect import cache_folder, open_ledger, open_store, store_place
from addin.config.secrets import secret_named, session_secrets
from addin.config.settings import Settings
from addin.errors import AddinError
from addin.findings import Finding, State
from dataservice.ledger import LedgerAwayError
from dataservice.stores import Entry

TRIED_S = 10.0
"""How long one thing may take."""

ANSWER_S = 2.0
"""A proxy that refuses an upload by its length does so at once."""

LEAST_DISK_BYTES = 500 * 2**20
CLOCK_S = 60.0
"""Machines whose clocks differ by more show ages and times that are wrong."""

CERTIFICATE_DAYS = 14
LARGEST_BODY_BYTES = 64 * 2**20
"""What the sheet may send; a proxy has to let it through."""


async def examine_server(settings: Settings, environ: Mapping[str, str], *, now: float) -> list[Finding]:
    """Try everything that is set up, all at once; `now` is in seconds since 1970. It costs no request of the month."""
    tried: dict[str, Callable[[], Awaitable[Finding]]] = {
        "variables": lambda: _variables(environ),
        "service": lambda: _service(settings, now),
        "store": lambda: _store(settings),
        "disk": lambda: _disk(settings),
    }
    if settings.oidc_issuer is not None:
        tried |= {"secrets": lambda: _secrets(settings), "ledger": lambda: _ledger(settings)}
        tried["provider"] = lambda: _provider(settings)
    if settings.public_url is not None:
        tried |= {"proxy": lambda: _proxy(settings), "certificate": lambda: _certificate(settings, now)}
    return list(await asyncio.gather(*(_tried(topic, look) for topic, look in tried.items())))


async def _tried(topic: str, look: Callable[[], Awaitable[Finding]]) -> Finding:
    try:
        async with asyncio.timeout(TRIED_S):
            return await look()
    except TimeoutError:
        return Finding(
            topic, State.BROKEN, f"no answer within {TRIED_S:g} s", "see whether it can be reached from here"
        )
    except (AddinError, LedgerAwayError, ValueError) as error:
        return Finding(topic, State.BROKEN, str(error), "mend the setting that is named")
    except Exception as error:  # noqa: BLE001 - each part fails in its own way, and the others are to be told all the same
        return Finding(
            topic, State.BROKEN, f"failed ({type(error).__name__})", "see whether it runs and can be reached"
        )


async def _variables(environ: Mapping[str, str]) -> Finding:
    unknown = unknown_variables(environ)
    if not unknown:
        return Finding("variables", State.GOOD, "every DATA_SERVICE_ variable is a setting")
    told = "; ".join(f"{name}: did you mean {meant}?" if meant else f"{name} is no setting" for name, meant in unknown)
    return Finding("variables", State.BROKEN, told, "correct or unset them; addin serve does not start with them")


async def _service(settings: Settings, now: float) -> Finding:
    address = settings.base_url
    async with httpx.AsyncClient(timeout=TRIED_S, verify=trusted(settings.ca_file)) as http:
        response = await http.get(f"{address}/v1/indices")  # without a key: refused, at no cost
    if response.is_server_error:
        return Finding("service", State.BROKEN, f"{address} answers {response.status_code}", "ask who runs it")
    date = response.headers.get("date")
    apart = abs(parsedate_to_datetime(date).timestamp() - now) if date else 0.0
    if apart > CLOCK_S:
        told = f"{address} answers; its clock and this machine's are {apart:,.0f} s apart"
        return Finding(
            "service", State.WARNING, told, "let this machine follow a time server (chrony, systemd-timesyncd)"
        )
    return Finding("service", State.GOOD, f"{address} answers, and the clocks agree")


async def _store(settings: Settings) -> Finding:
    store = open_store(settings)
    try:
        await store.add("ready", 0)
        await store.put("ready", Entry(b"check", time.time()))
        found = await store.get("ready")
    finally:
        await store.aclose()
    where = store_place(settings)
    if found is None:
        return Finding(
            "store", State.BROKEN, f"what is written to {where} cannot be read again", "see its log and its room"
        )
    return Finding("store", State.GOOD, f"{where} is written and read")


async def _ledger(settings: Settings) -> Finding:
    ledger = open_ledger(settings)
    try:
        await ledger.add("ready", 1)
    finally:
        await ledger.aclose()
    return Finding("ledger", State.GOOD, "people, stops and keys can be written down durably")


async def _secrets(settings: Settings) -> Finding:
    if not secret_named("oidc_client_secret"):
        advice = "set DATA_SERVICE_OIDC_CLIENT_SECRET, unless the provider knows a public client"
        return Finding("secrets", State.WARNING, "no password for the provider is set", advice)
    if settings.is_store_shared and not secret_named("session_secret"):
        advice = "set DATA_SERVICE_SESSION_SECRET to the same 32 random characters or more on every machine"
        return Finding("secrets", State.WARNING, "sessions hold on this machine only", advice)
    session_secrets()
    return Finding("secrets", State.GOOD, "they are there, and long enough")


async def _provider(settings: Settings) -> Finding:
    from addin.backend.sign_in.provider import Provider

    provider = Provider(settings.oidc_issuer or "", settings.oidc_client_id, "", trusted(settings.ca_file))
    await provider.check()
    return Finding("provider", State.GOOD, f"{settings.oidc_issuer} tells its addresses")


async def _disk(settings: Settings) -> Finding:
    folder = cache_folder(settings)
    place = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(place).free
    if not os.access(place, os.W_OK):
        return Finding("disk", State.BROKEN, f"{place} cannot be written", "choose another with DATA_SERVICE_CACHE_DIR")
    if free < LEAST_DISK_BYTES:
        return Finding("disk", State.WARNING, f"{free / 1e6:,.0f} MB are free at {place}", "make room, 500 MB or more")
    return Finding("disk", State.GOOD, f"{free / 1e9:,.1f} GB are free at {place}")


async def _proxy(settings: Settings) -> Finding:
    """Check that the public address leads here, and lets large books through; a refusal by length costs no upload."""
    url = (settings.public_url or "").rstrip("/")
    async with httpx.AsyncClient(timeout=TRIED_S, verify=trusted(settings.ca_file)) as client:
        alive = await client.get(f"{url}/live")
        if alive.status_code != httpx.codes.OK:
            advice = "start the backend, and let the proxy send this address to it"
            return Finding("proxy", State.WARNING, f"{url}/live answers {alive.status_code}", advice)
    status, kind = await asyncio.to_thread(_head_of_upload, url, settings)
    if status == httpx.codes.REQUEST_ENTITY_TOO_LARGE and "json" not in kind:
        return Finding("proxy", State.WARNING, "the proxy refuses books of 64 MiB", "nginx: client_max_body_size 64m;")
    return Finding("proxy", State.GOOD, f"{url} leads to a backend")


def _head_of_upload(url: str, settings: Settings) -> tuple[int, str]:
    """Return what is answered to the head alone of a large upload: status and type; 0 where its body is waited for."""
    parts, verify = urlsplit(url), trusted(settings.ca_file)
    context = verify if isinstance(verify, ssl.SSLContext) else None
    connection = (
        http.client.HTTPSConnection(parts.netloc, timeout=ANSWER_S, context=context)
        if parts.scheme == "https"
        else http.client.HTTPConnection(parts.netloc, timeout=ANSWER_S)
    )
    try:
        connection.putrequest("POST", "/functions/call")
        connection.putheader("content-type", "application/json")
        connection.putheader("content-length", str(LARGEST_BODY_BYTES))
        connection.endheaders()
        response = connection.getresponse()
        return response.status, response.getheader("content-type") or ""
    except TimeoutError:
        return 0, ""
    finally:
        connection.close()


async def _certificate(settings: Settings, now: float) -> Finding:
    if not (settings.public_url or "").startswith("https:"):
        told = "public_url is no https address: keys and sessions are accepted over https only"
        return Finding("certificate", State.WARNING, told, "put a proxy with TLS before the backend")
    ends = await PublicCertificate(settings.public_url).ends_at()
    if ends is None:
        advice = "see that the proxy runs, and that this machine can reach the public address"
        return Finding("certificate", State.WARNING, "the certificate of public_url cannot be read", advice)
    day, left = dt.datetime.fromtimestamp(ends, dt.UTC).date(), (ends - now) / 86_400
    if left < CERTIFICATE_DAYS:
        state = State.BROKEN if left < 0 else State.WARNING
        return Finding("certificate", state, f"it ends on {day}", "renew it, and let the proxy read it anew")
    return Finding("certificate", State.GOOD, f"it is good until {day}")
