"""What the user reads: after a refresh, about the state of everything, and about one cell."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Any, Sequence

from .calls import Call, function_id
from .protocol import Progress
from .response_cache import CachedAnswer


def filled(what: str, spent: int, status: dict[str, Any], fitted: int, problems: Sequence[str]) -> str:
    """What was done ("Refreshed"), the requests it spent, what is left by the backend's state, and the problems."""
    quota = status.get("quota") or {}
    left = f", {quota['remaining']:,} left this month" if quota.get("remaining") is not None else ""
    sentences = [f"{what}: {spent:,} {'request' if spent == 1 else 'requests'} spent{left}."]
    if fitted:
        sentences.append(f"{fitted} {'table' if fitted == 1 else 'tables'} got another size.")
    return "\n".join([" ".join(sentences), *_listed(problems)])


def loading(progress: Progress) -> str:
    """Return how far loading is, as the backend told it, and what limits it.

    >>> loading(Progress(2473, 10000, 19.6))
    'Loading 2,473 of 10,000, about 20 s'
    """
    text = f"Loading {progress.done:,} of {progress.of:,}"
    if progress.pace:
        return f"{text}: {progress.pace}"
    left_s = progress.left_s
    if left_s is None:
        return text
    return f"{text}, about {max(1, round(left_s))} s" if left_s < 90 else f"{text}, about {round(left_s / 60)} min"


_QUOTED = re.compile(r'("(?:[^"]|"")*")')

EPOCH = date(1899, 12, 30)
"""Serial 0 of a spreadsheet."""

OF_SIGNALS = {"SIGNAL", "SIGNAL_HISTORY", "SPARK"}
"""Functions whose first argument names signals."""

NAMED = 8
"""How many cells with errors are named: more do not fit into a message box."""


def state(url: str, status: dict[str, Any], problems: Sequence[str], cells: Sequence[str] = ()) -> str:
    """The state of the backend, the key and the quota, which cells show errors, and why."""
    key = status.get("key") or {}
    lines = [
        f"Backend: running at {url}, version {status.get('version', '?')}",
        f"Service: {status.get('service') or 'none set'}",
        f"API key: {'set (' + str(key.get('source')) + ')' if key.get('set') else 'none; set one with: addin key set'}",
    ]
    quota = status.get("quota") or {}
    if quota.get("remaining") is not None and quota.get("cap") is not None:
        lines.append(f"Requests: {quota['remaining']:,} of {quota['cap']:,} left this month ({quota.get('tier')} tier)")
    if cells:
        more = f" and {len(cells) - NAMED:,} more" if len(cells) > NAMED else ""
        lines.append(f"Cells with errors: {', '.join(cells[:NAMED])}{more}; Explain Cell says why")
    return "\n".join([*lines, *_listed(problems)])


def explained(
    cell: str, namespace: str, calls: Sequence[tuple[Call, CachedAnswer | None]], revised: Sequence[str] = ()
) -> str:
    """Return what the calls in one cell returned, and which values of their signals were `revised`."""
    if not calls:
        return f"{cell} calls none of the {namespace} functions."
    outcomes = [f"{namespace}.{_shown(call)}: {_outcome(cached)}" for call, cached in calls]
    return "\n".join([cell, *outcomes, *(f"Revised: {revision}" for revision in revised)])


def with_commas(formula: str) -> str:
    """A formula as users of other programs type it: Calc separates arguments by semicolons.

    >>> with_commas('=SIGNAL("a;b";2)')
    '=SIGNAL("a;b",2)'
    """
    return "".join(part if part.startswith('"') else part.replace(";", ",") for part in _QUOTED.split(formula))


def signals_in(calls: Sequence[Call]) -> list[str]:
    """The signals that calls name as text, each once.

    >>> signals_in([("SIGNAL_HISTORY", "us-cpi, wb.gold", "-1Y"), ("SIGNAL", "us-cpi"), ("INDEX", "risk-dial")])
    ['us-cpi', 'wb.gold']
    """
    named = [call[1] for call in calls if function_id(call) in OF_SIGNALS and len(call) > 1]
    slugs = [slug.strip() for text in named if isinstance(text, str) for slug in text.split(",")]
    return list(dict.fromkeys(slug for slug in slugs if slug))[:NAMED]


def revised_in(slug: str, answer: dict[str, Any]) -> str | None:
    """The revision of a signal that was seen last, in words, of what REVISIONS answered, or None."""
    rows = list(zip(*(column["values"] for column in answer.get("columns", ()))))
    found = [row for row in rows if row[1] is not None]  # without a value before, the observation was new
    if not found:
        return None
    observed_at, before, value, first_seen, not_before = max(reversed(found), key=lambda row: row[3])
    change = "vanished" if value is None else f"→ {value:,.10g} ({value - before:+,.6g})"
    seen = f"seen {_day(first_seen)}, not before {_day(not_before)}"
    return f"{slug} of {_day(observed_at)}: {before:,.10g} {change}, {seen}"


def _day(serial: float) -> str:
    return str(EPOCH + timedelta(days=int(serial)))


def in_one_line(text: str) -> str:
    """A report for the bar above the cells, which has one line: the first problem, and how many more there are."""
    first, *rest = [line for line in text.split("\n") if line]
    if not rest:
        return first
    reasons = [line.strip(" •") for line in rest[1:]]
    more = f" (and {len(reasons) - 1} more: see Status)" if len(reasons) > 1 else ""
    return f"{first} {rest[0]} {reasons[0]}{more}"


def _outcome(cached: CachedAnswer | None) -> str:
    if cached is None:
        return "not asked yet"
    if cached.message:
        return cached.message
    if isinstance(cached.value, tuple):
        return f"a table of {len(cached.value):,} rows and {len(cached.value[0]):,} columns"
    return str(cached.value) if cached.value != "" else "empty"


def _shown(call: Call) -> str:
    """The call as it would be typed, ranges by their size."""
    return f"{function_id(call)}({', '.join(_argument(argument) for argument in call[1:])})"


def _argument(argument: Any) -> str:
    if isinstance(argument, tuple):
        return f"{len(argument)} × {len(argument[0])} cells"
    if isinstance(argument, str):
        return f'"{argument if len(argument) <= 60 else argument[:59] + "…"}"'
    return "" if argument is None else f"{argument:g}"


def _listed(problems: Sequence[str]) -> list[str]:
    return ["", "Problems:", *(f" • {problem}" for problem in problems)] if problems else []
