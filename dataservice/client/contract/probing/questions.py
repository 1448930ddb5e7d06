"""What each open question of the contract turned out to be, from the answers of a probe: pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any

import numpy as np

from dataservice.client.contract.body import next_in_link
from dataservice.client.contract.completeness.following import following
from dataservice.client.contract.completeness.thinning import PART_DAYS
from dataservice.client.contract.forms import TIMES, VALUES, field_of
from dataservice.client.contract.probing.answers import READ, SHOWN, detail, envelope, letters, unreadable
from dataservice.client.contract.probing.lists import catalogue, feeds, indices
from dataservice.client.contract.probing.looks import Looks
from dataservice.client.contract.profile import Finding
from dataservice.client.contract.quota import quota_in
from dataservice.client.contract.requests import HISTORY_LIMIT, OBSERVATIONS_LIMIT
from dataservice.client.contract.windows import day_after
from dataservice.errors import DataServiceError
from dataservice.observations import Observations

HEADERS = ("x-service-tier", "x-service-ratelimit-cap", "x-service-ratelimit-remaining")
PUBLISHED = "1.0.0"
"""The version that the published description carries (contract: "Versioning")."""

PAGING = frozenset({"limit", "offset", "page", "cursor", "after", "per_page", "page_size", "page_token"})
UNJUDGED = frozenset(
    {"unknown", "far dates", "rest", "description", "more indices", "more wire", "more almanac", "more catalogue"}
)
"""Answers of another status say nothing by themselves."""

FAR_BESIDE = timedelta(days=2)
"""Rows so long before or behind a window are none of it, in whichever zone; one may be that of a period."""


def findings(looks: Looks) -> list[Finding]:
    """A line for each question that the answers settle."""
    return [finding for judge in JUDGES for finding in _found(judge, looks)]


def _found(judge: Callable[[Looks], Iterator[Finding]], looks: Looks) -> Iterator[Finding]:
    """Return what one judge finds; what it cannot read is a finding, too."""
    try:
        yield from judge(looks)
    except DataServiceError as error:
        yield Finding("an answer", "as documented", error.message[:SHOWN], "shows the error", differs=True)


def _refused(looks: Looks) -> Iterator[Finding]:
    for name, body in looks.answers.items():
        if name in UNJUDGED or body.status == 200 or (name == "wire" and body.status == 402):
            continue
        moved = f" to {body.headers['location'][:SHOWN]}" if "location" in body.headers else ""
        does = "shows the error and goes on with what it knows"
        if name == "paths":
            yield Finding("paths", "as documented", f"{body.status}{moved}", "asks with a slash behind", differs=True)
            continue
        yield Finding(f"the answer about {name}", "200", f"{body.status}{moved}", does, differs=True)


def _headers(looks: Looks) -> Iterator[Finding]:
    body = next(iter(looks.answers.values()))
    told = [str(body.headers.get(name, "")) for name in HEADERS]
    is_plain = all(told) and all(text.isdecimal() for text in told[1:]) and " " not in told[0] and told[1] != "0"
    is_read = quota_in(body.headers, 0.0) is not None
    does = READ if is_read else "shows no quota"
    yield Finding("quota headers", "three plain values", " | ".join(told) or "none", does, differs=not is_plain)
    day = looks.restarts_on
    begins = "not seen yet" if day is None else f"on day {day}"
    does = "looks each day whether it has begun anew"
    yield Finding("the quota's period begins", "not shown; on day 1", begins, does, differs=(day or 1) > 1 + 1)
    others = [name for name in body.headers if name.startswith(("ratelimit", "x-ratelimit"))]
    limits = ", ".join(f"{name}: {body.headers[name]}" for name in others)[:SHOWN] or "none"
    yield Finding(
        "limits in other headers", "not shown; none", limits, "minds those by the second", differs=bool(others)
    )
    packing = body.headers.get("content-encoding", "none")
    yield Finding("packing", "not shown", packing, "unpacks it")


def _form(looks: Looks) -> Iterator[Finding]:
    rows = looks.rows("all")
    if not rows:
        return
    yield envelope(looks, "all")
    if looks.rows("window") and looks.stands_in("window") != looks.stands_in("all"):
        yield envelope(looks, "window")
    if nulls := sum(row is None for row in rows):
        told = f"{nulls} of {len(rows)} are null"
        yield Finding("observation: rows", "records", told, "leaves them out", differs=True)
    rows = [row for row in rows if row is not None]
    if not rows:
        return
    first = rows[0]
    if isinstance(first, Mapping):
        try:
            fields = field_of(first, TIMES, "the time"), field_of(first, VALUES, "the value")
            time, value = first[fields[0]], first[fields[1]]
        except DataServiceError as error:
            yield Finding("observation: fields", "observed_at and value", str(error)[:SHOWN], "shows it", differs=True)
            return
        names, more = " and ".join(fields), [str(name) for name in first if name not in fields]
        names += f", also {', '.join(more[:3])}" if more else ""
    else:
        names, (time, value) = "a pair", (first if isinstance(first, list) and len(first) == 2 else (first, None))
    if (order := looks.order("all")) != "oldest first":
        yield Finding("observations: order", "oldest first", order, "sorts them", differs=True)
    is_usual = names == "observed_at and value"
    yield Finding("observation: fields", "observed_at and value", names, READ, differs=not is_usual)
    is_time = isinstance(time, str) and len(time) == len("2024-01-01T00:00:00Z") and time.endswith("Z")
    is_read = looks.series("all") is not None
    yield Finding("observation: time", "date-time in UTC", str(time)[:SHOWN], _does(is_read), differs=not is_time)
    values = [columns[1] if isinstance(columns, list) else columns.get(_value_name(first)) for columns in rows]
    odd = next((each for each in values if not isinstance(each, int | float) or isinstance(each, bool)), None)
    has_odd = odd is not None or any(each is None for each in values)
    told = str(odd)[:SHOWN] if odd is not None else "null" if has_odd else str(value)[:SHOWN]
    yield Finding("observation: value", "a number", told, _does(is_read), differs=has_odd)


def _value_name(row: Any) -> str:
    return field_of(row, VALUES, "the value") if isinstance(row, Mapping) else ""


def _does(is_read: bool) -> str:
    return READ if is_read else "shows the error"


def _longest(looks: Looks) -> Iterator[Finding]:
    """Return whether the window of everything is refused, however its ends are written, where a short one is not."""
    refused, short = looks.answers.get("all"), looks.answers.get("window")
    if refused is not None and refused.status == 400 and short is not None and short.status == 200:
        told = f"long ones are refused: {bytes(refused).decode(errors='replace')}"[:SHOWN]
        yield Finding("windows: longest", "any length", told, "asks for them in parts", differs=True)


def _paging(looks: Looks) -> Iterator[Finding]:
    first, rest = looks.rows("all"), looks.rows("rest")
    if first is None:
        return
    body = looks.answers["all"]
    said = following(looks.beside("all"), body, len(first))
    names = [str(name) for name in looks.beside("all") if not isinstance(looks.content("all")[name], list)]
    how = "the Link header" if next_in_link(body) else ", ".join(names) or "nothing"
    is_usual = names == ["pagination"] and said.total is not None and said.limit is not None
    does = "as documented" if is_usual else "goes by it, and asks on where nothing shows the end"
    yield Finding("observations: what follows", "not shown; pagination", how, does, differs=not is_usual)
    last = looks.answers.get("rest")
    if last is not None and last.status >= 400:
        yield Finding("second page", "200", str(last.status), "keeps the first and says so", differs=True)
    new = len(rest or []) > 1
    is_page = new or bool(said.more) or (said.total or 0) > len(first)
    if is_page:
        size = len(first)
        differs = size != OBSERVATIONS_LIMIT
        yield Finding("observations: page", f"{OBSERVATIONS_LIMIT}", str(size), "asks for the next", differs=differs)
    if older := looks.older():
        rows = looks.newest_rows()
        told = f"cut to the newest {rows or f'{len(first)} rows'}, {older} lie before"
        yield Finding("windows", "whole", told, "asks for what lies before", differs=True)
    whole, recent = looks.series("all"), looks.series("detail")
    if whole is not None and recent is not None and len(whole) and len(recent) and recent.first_day < whole.first_day:
        told = f"from {whole.first_day} on, the recent history from {recent.first_day} on"
        yield Finding("windows: oldest", "everything", told, "takes what either shows", differs=True)
    shown = [each for each in (whole, recent, looks.series("rest")) if each is not None and len(each)]
    newest = max((each.last_day for each in shown), default=looks.today)
    is_ahead = any(len(each.between(day_after(looks.today))) > 1 for each in shown)
    if is_ahead or newest > max(looks.today, looks.latest_day() or looks.today):
        yield Finding("days to come", "none", f"to {newest}", "shows them as they are", differs=True)
    if new and said.total is not None and said.total <= len(first):
        told = f"{said.total}, and others follow"
        yield Finding("observations: total", "not shown; of the window", told, "does not believe it", differs=True)


def _bounds(looks: Looks) -> Iterator[Finding]:
    start, end = looks.bounds.get("window", (None, None))
    found = looks.series("window")
    if found is None or start is None or end is None or not len(found):
        return
    beside = found.between(None, start - FAR_BESIDE), found.between(end + FAR_BESIDE)
    if any(len(each) > 1 for each in beside):
        told = f"{found.first_day} to {found.last_day}, asked {start} to {end}"
        does = "cuts them; what may be a copy of other days is an error"
        yield Finding("windows: days", "those asked for", told, does, differs=True)
    else:
        yield from _ends(looks, starts=found.first_day <= start, ends=found.last_day >= end)
    refused, whole = looks.answers.get("far dates"), looks.answers.get("all")
    if refused is not None and whole is not None and whole.status == 200:  # else something else was refused
        yield Finding("far dates", "accepted", str(refused.status), "asks from 1900 to 2099", differs=True)


def _ends(looks: Looks, *, starts: bool, ends: bool) -> Iterator[Finding]:
    does = "asks for a day more, and cuts"
    yield Finding("start", "included", "included" if starts else "excluded", does, differs=not starts)
    if looks.keeps_last() is False:
        does_then = "asks on behind a window, and takes lists for parts"
        yield Finding("the last row of an answer", "there", "left out", does_then, differs=True)
    else:
        yield Finding("end", "included", "included" if ends else "excluded", does, differs=not ends)


def _defaults(looks: Looks) -> Iterator[Finding]:
    whole, given = looks.series("all"), looks.series("without dates")
    if whole is not None and given is not None and len(whole) and len(given):
        is_whole = given.first_day <= whole.first_day
        told = "everything" if is_whole else f"from {given.first_day} on"
        yield Finding("without start", "everything", told, "always sends it", differs=not is_whole)
    tail, recent, newest = looks.tail(), looks.series("detail"), looks.newest()
    if tail is None or newest is None:
        return
    if "without end" in looks.answers and len(tail) >= len(looks.rows("all") or []) > 1:
        return  # it is no more than a page
    gap = (newest - tail.last_day).days
    is_cut = gap > 4 + _step_days(recent)
    yield Finding(
        "without end",
        "everything",
        f"to {tail.last_day}" if is_cut else "everything",
        "always sends it",
        differs=is_cut,
    )
    if not is_cut:
        where = "the detail" if gap > 0 else "the window" if gap < 0 else "both"
        yield Finding("the newest observation", "in both", where, "takes it from either", differs=gap != 0)


def _step_days(series: Observations | None) -> int:
    if series is None or len(series) < 2:
        return 1
    return int(np.median(np.diff(series.times.astype("datetime64[D]")).astype(int)))


def _agreement(looks: Looks) -> Iterator[Finding]:
    """Return whether the detail and a window tell the same observations in the same way."""
    recent, window = looks.recent(), looks.tail()
    if recent is None or window is None or not len(recent) or not len(window):
        return
    first, last = max(recent.first_day, window.first_day), min(recent.last_day, window.last_day)
    one, other = recent.between(first, last), window.between(first, last)
    missing = np.isnan(other.values).sum() - np.isnan(one.values).sum()
    one, other = _valued(one), _valued(other)
    does = "takes it for one observation"
    if len(one) != len(other):
        told = f"{len(one)} and {len(other)} rows from {first} to {last}"
        if looks.has_thin_details():
            does = "takes only the newest of a recent history"
        elif looks.has_thin_windows():
            does = f"asks for parts of at most {PART_DAYS} days"
        yield Finding("detail and window", "agree", told, does, differs=True)
        return
    if missing:
        yield Finding("rows without a value", "in both", "in one of them", does, differs=True)
    if not (one.times == other.times).all():
        told = f"{one.times[-1]} and {other.times[-1]}"
        yield Finding("detail and window: times", "agree", told, does, differs=True)
    differ = one.values != other.values
    if differ.any():
        told = f"{one.values[differ][-1]:.15g} and {other.values[differ][-1]:.15g}, {int(differ.sum())} differ"
        yield Finding("detail and window: values", "agree", told, does, differs=True)


def _valued(series: Observations) -> Observations:
    has_value = ~np.isnan(series.values)
    return Observations(series.times[has_value], series.values[has_value])


def _history(looks: Looks) -> Iterator[Finding]:
    recent = looks.series("detail")
    if recent is None:
        return
    count = len(recent)
    if not count:
        yield Finding("history", f"{HISTORY_LIMIT} observations", "none", "reads windows", differs=True)
        return
    latest, whole = looks.latest_day(), looks.series("all")
    if latest is not None and latest > recent.last_day:
        told = f"to {recent.last_day}, latest of {latest}"
        yield Finding("history: its newest", "the latest", told, "takes the latest from where it stands", differs=True)
    lies_before = whole is not None and len(whole) > 0 and whole.first_day < recent.first_day - timedelta(days=7)
    span = (recent.last_day - recent.first_day).days
    if count == HISTORY_LIMIT:
        told = "observations"
    elif not lies_before:
        told = f"not seen: the series has {count}"
    elif span in range(HISTORY_LIMIT - 5, HISTORY_LIMIT + 2):
        told = f"days: {count} in {span}"
    else:
        told = f"{count} of {HISTORY_LIMIT}"
    differs = told not in ("observations", f"not seen: the series has {count}")
    yield Finding("history", "not shown; observations", told, "takes it for no more than it shows", differs=differs)


def _unknown(looks: Looks) -> Iterator[Finding]:
    body = looks.answers.get("unknown")
    if body is None:
        return
    kind = body.headers.get("content-type", "no type").partition(";")[0]
    told = f"{body.status}, {kind}" if body else f"{body.status}, empty"
    is_usual = body.status == 404 and kind == "application/json" and bool(body)
    yield Finding("an unknown signal", "404 with an error", told, "says that there is none", differs=not is_usual)


def _description(looks: Looks) -> Iterator[Finding]:
    body = looks.answers.get("description")
    if body is None:
        return
    content = looks.content("description")
    if body.status != 200 or not isinstance(content, Mapping):
        yield Finding("openapi.json", "published", f"none: {body.status}")
        return
    version = content.get("info", {}).get("version") if isinstance(content.get("info"), Mapping) else None
    told = str(version)[:SHOWN]
    yield Finding("openapi.json: version", PUBLISHED, told, "goes by what was seen", differs=told != PUBLISHED)
    paging = sorted(PAGING & set(parameters_of(content, "/observations")))
    yield Finding("openapi.json: paging", "not shown", ", ".join(paging) or "none", "goes by what was seen")


def parameters_of(description: Mapping[str, Any], path_end: str) -> list[str]:
    """The names of the parameters that a description tells of the path that ends so."""
    paths = description.get("paths")
    for path, told in paths.items() if isinstance(paths, Mapping) else ():
        if (
            str(path).rstrip("/").endswith(path_end)
            and isinstance(told, Mapping)
            and isinstance(told.get("get"), Mapping)
        ):
            given = told["get"].get("parameters")
            return [str(each.get("name")) for each in given or () if isinstance(each, Mapping)]
    return []


JUDGES: tuple[Callable[[Looks], Iterator[Finding]], ...] = (
    *(
        _refused,
        unreadable,
        letters,
        _headers,
        catalogue,
        detail,
        _form,
        _longest,
        _paging,
        _bounds,
        _defaults,
        _agreement,
    ),
    *(_history, _unknown, indices, feeds, _description),
)
"""In the order in which the findings are shown."""
