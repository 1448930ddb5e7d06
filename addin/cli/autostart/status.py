"""Whether the backend starts at login and runs now: for `addin autostart status`, and as a link for the doctor."""

from __future__ import annotations

import datetime as dt
import ssl
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from addin.autostart import machine
from addin.autostart.log_file import log_file
from addin.autostart.record import Record, read_record, record_file
from addin.cli.autostart.removal import entries_here
from addin.config.api_key import find_key
from addin.config.connect import key_store
from addin.config.settings import Settings, load_settings
from addin.errors import AddinError
from addin.excel.manifest import local_url
from addin.findings import Finding, State
from addin.tls.certificates import certificates
from dataservice.version import product_version

TIMEOUT_S = 3.0
LAST_LINES = 3
"""Lines of the log that say why a backend does not answer."""

INSTALL = "addin autostart install"


@dataclass(frozen=True, slots=True)
class Answering:
    """The program that answers at the backend's address: its version and start, None where it does not tell them."""

    url: str
    version: str | None = None
    since: dt.datetime | None = None


def autostart_link(settings: Settings) -> Finding:
    """Return whether the backend starts at login, and with what is here now."""
    entries = entries_here()
    try:
        record = read_record(record_file())
    except AddinError as error:
        return Finding("autostart", State.BROKEN, str(error), f"write it again: {INSTALL}")
    if not entries and record is None:
        return Finding("autostart", State.GOOD, f"not set up; to start the backend at login: {INSTALL}")
    if not entries or record is None:
        missing = "what starts it at login" if not entries else str(record_file())
        return Finding("autostart", State.BROKEN, f"{missing} is gone", f"write it again: {INSTALL}")
    if not Path(record.command[0]).exists():
        return Finding("autostart", State.BROKEN, f"it starts {record.command[0]}, which is gone", f"again: {INSTALL}")
    made = machine.entry_here(entries[0].form, record.command)
    if machine.found(made) != made.text:
        return Finding("autostart", State.WARNING, f"{made.place} was changed by hand", f"for our own: {INSTALL}")
    if not has_key_at_login(settings):
        return Finding("autostart", State.WARNING, "at login it finds no API key", "keep one with: addin key set")
    return Finding("autostart", State.GOOD, f"the backend starts at login: {made.place}")


def has_key_at_login(settings: Settings) -> bool:
    """Return whether a key is stored: one in this terminal's environment is gone at the next login."""
    return find_key(key_store(settings), environ={}) is not None


def answering(settings: Settings, *, http: bool) -> Answering | None:
    """Return what answers where this machine's programs look for the backend; None if nothing of ours does."""
    url = local_url(settings)
    url = url.replace("https:", "http:", 1) if http else url
    own = certificates()
    context = ssl.create_default_context(cafile=own.authority if own.authority.exists() else None)
    try:
        with httpx.Client(verify=context, timeout=TIMEOUT_S, trust_env=False) as client:
            if client.get(f"{url}/health").json() != {"ok": True}:
                return None
            told = client.get(f"{url}/status")
            return _told(url, told.json() if told.is_success else {})
    except (httpx.HTTPError, ValueError):
        return None


def wait_for_backend(within_s: float) -> str | None:
    """The address at which the backend answers within some seconds; None if it does not."""
    settings, record = load_settings(), read_record(record_file())
    until = time.monotonic() + within_s
    while record is not None and time.monotonic() < until:
        if found := answering(settings, http=record.http):
            return found.url
        time.sleep(0.2)
    return None


def wait_for_end(settings: Settings, *, http: bool, within_s: float) -> None:
    """Wait until nothing of ours answers, at most some seconds."""
    until = time.monotonic() + within_s
    while time.monotonic() < until and answering(settings, http=http):
        time.sleep(0.2)


def print_status(*, as_json: bool) -> bool:
    """Print the state; whether the backend is set up and sound."""
    settings = load_settings()
    link, record = autostart_link(settings), _record()
    runs = answering(settings, http=record.http if record else False)
    findings = [link, _running(runs, is_set_up=record is not None)]
    if record is not None:
        kept = ", ".join(record.environ) or "nothing"
        told = Finding("settings", State.GOOD, f"kept from the terminal of the installation: {kept}")
        findings += [_certificate(http=record.http), told, _log_line(runs)]
    if as_json:
        from addin.cli.output import print_json

        print_json(findings)
    else:
        from addin.cli.findings import print_findings

        print_findings(findings)
    return record is not None and all(found.state is not State.BROKEN for found in findings)


def _record() -> Record | None:
    try:
        return read_record(record_file())
    except AddinError:
        return None


def _told(url: str, status: Any) -> Answering:
    began = status.get("started_at")
    since = dt.datetime.fromtimestamp(began, dt.UTC) if isinstance(began, int | float) else None
    return Answering(url, status.get("version"), since)


def _running(runs: Answering | None, *, is_set_up: bool) -> Finding:
    if runs is None:
        if not is_set_up:
            return Finding("backend", State.GOOD, "does not run now")
        advice = f"the end of its log, below, may say why; then start it again: {INSTALL}"
        return Finding("backend", State.BROKEN, "does not answer", advice)
    since = f", since {runs.since.astimezone():%Y-%m-%d %H:%M}" if runs.since else ""
    text = f"answers at {runs.url}{f', version {runs.version}' if runs.version else ''}{since}"
    if runs.version not in (None, product_version()):
        text += f"; installed is {product_version()}"
        advice = "it restarts within a minute; one that was started by hand: Ctrl-C, then addin serve"
        return Finding("backend", State.WARNING, text, advice)
    return Finding("backend", State.GOOD, text)


def _certificate(*, http: bool) -> Finding:
    ends = certificates().ends()
    if http:
        return Finding("certificate", State.GOOD, "none is needed: plain HTTP, for Calc")
    if ends is None:
        return Finding("certificate", State.WARNING, "there is none yet", "for Excel: addin certs install")
    days = (ends - dt.datetime.now(dt.UTC)).days
    return Finding("certificate", State.GOOD, f"good until {ends:%Y-%m-%d} ({days} days); renewed a month before")


def _log_line(runs: Answering | None) -> Finding:
    file = log_file()
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return Finding("log", State.GOOD, f"{file} (nothing yet)")
    last = "".join(f"\n{line}" for line in lines[-LAST_LINES:]) if runs is None else ""
    return Finding("log", State.GOOD, f"{file}{last}")
