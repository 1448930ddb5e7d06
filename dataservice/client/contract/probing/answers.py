"""Whether the answers of a probe can be read at all, and what they are written in: pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from dataservice.client.contract import decode
from dataservice.client.contract.forms import TIMES, columns_of
from dataservice.client.contract.probing.looks import Looks
from dataservice.client.contract.profile import Finding
from dataservice.errors import DataServiceError

SHOWN = 60
READ = "reads it all the same"

READERS: Mapping[str, Callable[[bytes], Any]] = {
    "catalogue": decode.catalogue_page,
    "detail": decode.signal_detail,
    "all": decode.observations_page,
    "window": decode.observations_page,
    "indices": decode.indices_page,
    "wire": decode.wire_page,
    "almanac": decode.posts_page,
}
"""By look, what reads its answer for a cell."""

PLAIN = frozenset({"", "application/json", "application/json; charset=utf-8"})


def unreadable(looks: Looks) -> Iterator[Finding]:
    """The answers that no cell can be made of."""
    for name, read in READERS.items():
        body = looks.answers.get(name)
        if body is None or body.status != 200:
            continue
        try:
            decode.readable(read)(body)
        except DataServiceError as error:
            told = f"{error.message}; {body[:SHOWN].decode(errors='replace')}"[: 2 * SHOWN]
            yield Finding(f"{name}: read", "as documented", told, "shows the error", differs=True)


def letters(looks: Looks) -> Iterator[Finding]:
    """The type and the character set of the answers, and NaN, which is no JSON."""
    kinds = {body.headers.get("content-type", "") for body in looks.answers.values() if body.status == 200}
    odd = next((kind for kind in sorted(kinds) if kind.lower().replace("; ", ";") not in _PLAIN), "")
    yield Finding("content type", "application/json", odd or "application/json", READ, differs=bool(odd))
    bodies = {name: bytes(looks.answers[name]) for name in READERS.keys() & looks.answers.keys()}
    spoilt = next((name for name, body in bodies.items() if "\ufffd".encode() in body or b"\0" in body[:4]), "")
    if spoilt:
        told = f"{spoilt} is not in UTF-8"
        yield Finding("letters", "UTF-8", told, "shows those that it cannot read as such", differs=True)
    for name, body in bodies.items():
        if b"NaN" in body and not _is_json(body):
            yield Finding(f"{name}: JSON", "JSON", "NaN, which is none", "takes it for no value", differs=True)
        if _is_in_capitals(body):
            yield Finding(f"{name}: names", "observed_at", "ObservedAt", READ, differs=True)


_PLAIN = frozenset(kind.replace("; ", ";") for kind in PLAIN)


def _is_json(body: bytes) -> bool:
    try:
        msgspec.json.decode(body)
    except msgspec.MsgspecError:
        return False
    return True


def _is_in_capitals(body: bytes) -> bool:
    try:
        content = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return isinstance(content, dict) and bool(content) and all(name[:1].isupper() for name in content)


def envelope(looks: Looks, name: str) -> Finding:
    """Return what the records of an answer stand in."""
    where = looks.stands_in(name)
    return Finding(f"{name}: stands in", "data", where, READ, differs=where != "data")


def detail(looks: Looks) -> Iterator[Finding]:
    """Yield how a signal, its latest observation and its recent history are told."""
    content, fields = looks.content("detail"), looks.detail()
    if not fields:
        return
    where = "data" if isinstance(content, Mapping) and isinstance(content.get("data"), Mapping) else "elsewhere"
    yield Finding("signal: stands in", "data", where, READ, differs=where != "data")
    slug = str(fields.get("slug"))
    does = "takes it where its record or the catalogue proves that it is the same"
    yield Finding("signal: slug", looks.slug, slug[:SHOWN], does, differs=slug != looks.slug)
    latest = fields.get("latest")
    is_usual = isinstance(latest, Mapping) and bool(latest) and latest.get("value", 0.0) is not None
    told = "an observation" if is_usual else "absent" if latest is None else str(latest)[:SHOWN]
    yield Finding("latest", "an observation", told, "takes the newest of the history", differs=not is_usual)
    if (two := looks.two_latest()) is not None:
        told = f"{two[0]:.15g}, and {two[1]:.15g} in the history"
        yield Finding("latest: value", "that of the history", told, "shows what one answer says last", differs=True)
    history = fields.get("history")
    if history is not None and not isinstance(history, list):
        yield Finding("recent history: stands in", "a list", str(history)[:SHOWN], READ, differs=True)
    series = looks.series("detail")
    if series is not None and isinstance(history, list) and len(series) > 1:
        times = columns_of(history, looks.day_first)[0]
        order = "newest first" if times[0] > times[-1] else "oldest first"
        differs = order != "oldest first"
        yield Finding("recent history: order", "not shown; oldest first", order, "sorts it", differs=differs)
    if isinstance(latest, Mapping) and not any(name in latest for name in TIMES) and latest:
        yield Finding("latest: time", "observed_at", ", ".join(latest)[:SHOWN], "shows the error", differs=True)
