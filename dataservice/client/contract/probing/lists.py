"""What the lists of a probe turned out to be: pages, orders, records of other types than the contract's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, get_type_hints

import msgspec

from dataservice.client.contract.completeness.evidence import NOTHING_SEEN
from dataservice.client.contract.completeness.following import Following, following
from dataservice.client.contract.probing.answers import SHOWN, envelope
from dataservice.client.contract.probing.looks import FEEDS, Looks, reading_field
from dataservice.client.contract.profile import Finding
from dataservice.client.contract.records import in_words, records_in
from dataservice.client.contract.requests import CATALOGUE_LIMIT, LIST_LIMIT
from dataservice.client.contract.results import published
from dataservice.errors import DataServiceError
from dataservice.models import READING_FIELDS, Index, Post, Record, Signal, WireItem

ENUMS = {
    "story_type": {"alert", "brief", "report", "explainer"},
    "kind": {
        *("news", "filing", "press_release", "data_release", "fund_flow", "analyst_rating", "social_post", "breaking"),
    },
}
"""The values that the contract lists."""

DATE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})")


def catalogue(looks: Looks) -> Iterator[Finding]:
    """The pages, the order and the records of the catalogue."""
    rows = looks.rows("catalogue")
    if rows is None:
        return
    yield envelope(looks, "catalogue")
    said = following(looks.beside("catalogue"), b"", len(rows))
    is_told = said.limit is not None and said.total is not None
    differs = not is_told or said.limit != CATALOGUE_LIMIT or looks.is_catalogue_cut() or said.more is not None
    told = f"{len(rows)} signals, limit {said.limit}, total {said.total}"
    does = "asks on until nothing new comes" if differs else "as documented"
    yield Finding("catalogue: pages", f"limit {CATALOGUE_LIMIT} and the total", told, does, differs=differs)
    again = {str(row.get("slug")) for row in rows} & {
        str(row.get("slug")) for row in looks.rows("more catalogue") or []
    }
    if again:
        told = f"{len(again)} signals of the first page came again on the second"
        does = "reads it twice, and asks names that it does not show for themselves"
        yield Finding("catalogue: order", "not shown; stable", told, does, differs=True)
    yield from _records(rows, Signal, "catalogue")


def indices(looks: Looks) -> Iterator[Finding]:
    """The pages and the records of the indices, and where their readings are."""
    rows = looks.rows("indices")
    if not rows:
        return
    yield envelope(looks, "indices")
    said = following(looks.beside("indices"), looks.answers["indices"], len(rows))
    is_paged = _says_anything(said) or bool(looks.goes_on("indices"))
    yield Finding("indices: pages", "all at once", "paged" if is_paged else "all at once", "asks on", differs=is_paged)
    yield from _records(rows, Index, "indices")
    yield _reading(looks, records_in(rows, Index)[0])


def _reading(looks: Looks, records: Sequence[Index]) -> Finding:
    names = sorted({name for record in records for name in READING_FIELDS if name in record.extra})
    latest = [record.extra.get("latest") for record in records]
    only = reading_field(looks)
    names = names or ([f"{only}, the only number"] if only else [])
    is_usual = names == ["latest"] and all(
        isinstance(each, Mapping) and isinstance(each.get("value"), int | float) for each in latest if each
    )
    told = " or ".join(names) or "none of the known names"
    told = f"{told}: {str(next(filter(None, latest), ''))[:SHOWN]}" if names == ["latest"] and not is_usual else told
    does = "as documented" if is_usual else "shows it where only one number may be it"
    return Finding("an index: reading", "not shown; latest", told, does, differs=not is_usual)


def feeds(looks: Looks) -> Iterator[Finding]:
    """The pages, the order and the records of posts and the wire."""
    kinds: tuple[tuple[str, type[Record]], ...] = (("wire", WireItem), ("almanac", Post))
    for name, kind in kinds:
        rows = looks.rows(name)
        if rows is None:
            continue
        yield envelope(looks, name)
        yield from _records(rows, kind, name)
        yield from _pages(looks, name, len(rows))
        yield from _order(rows, kind, name)
        if name == "almanac":
            yield Finding("almanac", "posts", f"{len(rows)} posts", "asks it for itself", differs=not rows)


def _pages(looks: Looks, name: str, rows: int) -> Iterator[Finding]:
    """Return how many records are on a page, what is said of others, and whether there are any."""
    goes_on, what = looks.goes_on(name, is_limited=True), "items" if name == "wire" else "posts"
    may_be_cut = looks.says_nothing(name) and NOTHING_SEEN.may_be_cut(FEEDS[name], rows, is_limited=True)
    is_cut = rows < LIST_LIMIT and may_be_cut and goes_on is not False
    told = f"{rows} of {LIST_LIMIT} asked for" + (", and others behind them" if goes_on else "")
    does = "asks for four pages at most" if goes_on else "takes it for a part" if is_cut else "as documented"
    yield Finding(f"{name}: most {what}", f"{LIST_LIMIT}", told, does, differs=is_cut)
    said = following(looks.beside(name), looks.answers[name], rows)
    if _says_anything(said):
        told = f"more: {said.more}, total: {said.total}, limit: {said.limit}"
        yield Finding(f"{name}: what follows", "not shown; nothing", told, "goes by it", differs=True)


def _says_anything(said: Following) -> bool:
    return said.more is not None or said.total is not None or said.limit is not None


def _order(rows: Sequence[Any], kind: type[Record], name: str) -> Iterator[Finding]:
    try:
        records, _ = records_in(rows, kind)
    except DataServiceError:
        return
    times = [time for record in records if (time := published(record)) is not None]
    if times != sorted(times, reverse=True):
        yield Finding(f"{name}: order", "not shown; newest first", "another", "sorts them", differs=True)
    names = {str(getattr(record, "slug", "") or getattr(record, "id", "")) for record in records}
    if len(names) < len(records):
        told = f"{len(records) - len(names)} of {len(records)} come twice"
        yield Finding(f"{name}: twins", "each once", told, "shows each once", differs=True)


def _records(rows: Sequence[Any], kind: type[Record], name: str) -> Iterator[Finding]:
    """Return what is not of the documented types; a record of which nothing can be made harms no other."""
    try:
        _, odd = records_in(rows, kind)
    except DataServiceError as error:
        odd = error.message
    odd = odd or next(filter(None, (_odd_field(row, kind) for row in rows if isinstance(row, Mapping))), "")
    if odd:
        does = "shows what it can read, and the odd fields as they are"
        yield Finding(f"{name}: records", "of the documented types", odd[: 2 * SHOWN], does, differs=True)


def _odd_field(row: Mapping[str, Any], kind: type[Record]) -> str:
    """The first field of a record that is not as the contract's table says; empty where none is."""
    for name, hint in _hints(kind).items():
        if name not in row:
            return f"{name} is missing"
        told = row[name]
        try:
            msgspec.convert(told, hint)
        except msgspec.ValidationError as error:
            return f"{name}: {in_words(error)}"
        if name == "published_at" and not DATE_TIME.fullmatch(told):
            return f"{name} is {told[:20]!r}, and no date-time"
        if told not in ENUMS.get(name, {told} if isinstance(told, str) else ()) and name in ENUMS:
            return f"{name} is {told[:20]!r}, which the contract does not list"
    return ""


@cache
def _hints(kind: type[Record]) -> Mapping[str, Any]:
    hints = get_type_hints(kind)
    return {name: hints[name] for name in kind.field_names()}
