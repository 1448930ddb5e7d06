"""SIGNAL and SIGNALS: the value of a signal, now or on a day, or any of its fields; and the catalogue of signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Annotated, Any

from dataservice.client import Answer, SignalDetail, SignalResource
from dataservice.client.contract import CATALOGUE_AGE_S
from dataservice.errors import DataServiceError
from dataservice.models import Signal
from udfs.arguments.dates import Day
from udfs.arguments.kinds import Choice, Count, Text, shown
from udfs.arguments.options import Options
from udfs.cells import Table
from udfs.engine.decorator import udf
from udfs.engine.effects import EVER, MORE, FastPath, Question, ask, asked_at_hand, gather, have
from udfs.errors import ArgumentError, NoDataError
from udfs.records.fields import Fields
from udfs.records.lookup import by_slug, corrected, in_group, ranked
from udfs.records.resolve import CATALOGUE, asked_under, fresh_detail, need_catalogue, need_detail
from udfs.timeseries.by_day import Observed, by_day
from udfs.timeseries.loader import (
    last_known_in_history,
    latest,
    observed_in_history,
    rhythm_at_hand,
    rhythm_of_signal,
)
from udfs.timeseries.rhythm import Rhythm
from udfs.timeseries.vintages import PRESENT, VINTAGE_OPTIONS, Vintage, observed_as_of, observed_of

SIGNAL_FIELDS = Fields(
    Signal,
    (
        Choice("value", "the latest value"),
        Choice("observed_at", "the day or time of the value"),
        Choice("name", "the signal's name"),
        Choice("unit", "the unit of the values"),
        Choice("category", "what the signal is about"),
        Choice("signal_type", "the kind of series"),
        Choice("source", "where the data comes from"),
        Choice("description", "what is measured, and how"),
        Choice("shortcode", "the short name"),
        Choice("is_premium", "TRUE for a premium signal"),
        Choice("previous", "the previous value"),
        Choice("change", "value minus previous"),
        Choice("pct_change", "change as a fraction of previous"),
        Choice("rhythm", "how observations follow each other, told by their dates: weekly on Friday"),
        Choice("age", "seconds since the answer arrived"),
        Choice("state", "fresh, or stale for a last known value"),
    ),
)

SIGNAL_COLUMNS = Fields(
    Signal,
    (
        Choice("slug", "the signal's name in formulas"),
        Choice("shortcode", "a short name that formulas also accept"),
        Choice("name", "the signal's name"),
        Choice("category", "what the signal is about"),
        Choice("signal_type", "the kind of series"),
        Choice("source", "where the data comes from"),
        Choice("description", "what is measured, and how"),
        Choice("unit", "the unit of the values"),
        Choice("is_premium", "TRUE for a premium signal"),
    ),
)

RHYTHM = Choice("rhythm", "how observations follow each other, of signals that were looked at here")
CATALOGUE_COLUMNS = replace(SIGNAL_COLUMNS, choices=(*SIGNAL_COLUMNS.choices, RHYTHM))
"""What the catalogue tells of a signal, and what is known here beside it."""

DEFAULT_COLUMNS = "slug, shortcode, name, category, unit, source"

NEEDS_PREVIOUS = {"previous", "change", "pct_change"}
OBSERVED = {"value", "observed_at", *NEEDS_PREVIOUS}
"""Fields of an observation; all others are the signal's own, or tell of the answer."""

OWN = frozenset(Signal.field_names())
"""Fields of the contract; a signal may have others."""

SLUG = Text(
    help="slug or shortcode of a signal, or a range of them; =DS.SIGNALS() lists all", example="us-cpi", vectorized=True
)

FIELD = SIGNAL_FIELDS.one("the field to show, also any other field by name; a range of fields spills", "unit")

SEARCH = Text(help="what to look for, in your own words: a name, a subject, a source, a category", example="oil price")

CATEGORY = Text(help="only signals of this category", example="commodities")

AT = Day(
    help="show the value on or before this day or time: a date, or text such as 2024-12-31, -1Y, or PYE for the end of "
    "last year",
    example="2024-12-31",
    vectorized=True,
    timed=True,
)

OPTIONS = Options(help="text such as asof=2026-06-30, or err=blank", example="asof=2026-06-30", options=VINTAGE_OPTIONS)


def _asked_first(slug: str, _field: str, _at: date | None, options: object) -> Sequence[Question]:
    return () if options else asked_under(slug)


def _told_by(answer: Answer[SignalDetail], _slug: str, field: str, at: date | None, options: object) -> Any:
    """Return what the answer about a signal tells by itself; `MORE` where that is not enough."""
    name, detail = field.casefold(), answer.value
    if name in OWN:
        return getattr(detail.signal, name)
    if name not in OBSERVED or options:
        return MORE
    if at is not None:
        return _on_day(detail, at, name)
    if name == "value" and detail.latest is not None:
        return detail.latest.value
    if name in NEEDS_PREVIOUS and detail.latest is not None and not len(detail.history):
        return MORE  # its recent history does not count: a window tells
    return _field_of(latest(detail), name, detail)


def _on_day(detail: SignalDetail, day: date, name: str) -> Any:
    """A field of the last observation up to `day`; `MORE` where the recent history does not reach."""
    near = by_day(detail)
    places = near.last(day, 2 if name in NEEDS_PREVIOUS else 1)
    if not places:
        return MORE
    if name == "value":
        return near.value(places[0])
    return _field_of(near.observed(places[0], places[1:]), name, detail)


def _field_of(found: Observed, name: str, of: SignalDetail | str) -> Any:
    """A field of an observation of a signal, which is given by its slug or as it is."""
    if name in NEEDS_PREVIOUS and found.before is None:
        slug = of if isinstance(of, str) else of.signal.slug
        raise NoDataError(f"{slug} has no value before the one of {found.moment}")
    return found.field(name)


@udf(
    group="Signals",
    at_once=FastPath(_asked_first, _told_by),
    examples=(
        '=DS.SIGNAL("us-cpi")',
        '=DS.SIGNAL("WTI", "observed_at")',
        '=DS.SIGNAL("eia.wti.spot", "value", DATE(2026, 6, 30))',
        "=DS.SIGNAL(A2:A13, B1:E1)",
    ),
)
async def SIGNAL(  # noqa: N802 - the id that workbooks store
    slug: Annotated[str, SLUG],
    field: Annotated[str, FIELD] = "value",
    at: Annotated[date | None, AT] = None,
    options: Annotated[Mapping[str, Any] | None, OPTIONS] = None,
    *,
    now: float,
    today: date,
) -> Any:
    """The latest value of a signal, its value on a day, or one of its fields.

    With `at`, the value is the last observation on or before that day (UTC). `observed_at`, `previous`, `change` and
    `pct_change` belong to that observation; the other fields do not depend on `at`. `pct_change` is a fraction (0.02
    is 2 %), and blank if the previous value is not positive. `previous` is the previous observation with a value.

    All cells about one signal share one request, which also loads its recent history; a catalogue at hand tells name,
    unit and the like at no cost. An earlier day costs one more, which loads some years around it, and so does the value
    before, or the rhythm, where the history may lack rows. An unknown name is `#N/A`, as is a day before the first.

    With the option `asof`, the observation and the one before it are shown as they were known here at the end of that
    day, at no cost; what nobody had looked at by then is `#N/A` with the day of the first look. `vintage=first` shows
    the values that were seen first.
    """
    name = field if field in OBSERVED else _name_of(field, today)
    vintage = Vintage.given(options, today) if options else PRESENT
    if vintage.as_of is not None and name in OBSERVED:
        found = await observed_as_of(slug, at, vintage, with_previous=name in NEEDS_PREVIOUS)
        return _field_of(found, name, slug)
    try:
        answer = await fresh_detail(slug)
        if answer is None and (told := await _told_beside(slug, name, at, today, vintage)) is not MORE:
            return told
        answer = answer or await need_detail(slug)
    except DataServiceError:
        if (told := await _told_beside(slug, name, at, today, vintage, is_last_known=True)) is MORE:
            raise
        return told
    detail = answer.value
    if (told := _told_by(answer, slug, field, at, options)) is not MORE:
        return told
    if name in OBSERVED:
        found = await observed_of(detail, at, today, vintage, with_previous=name in NEEDS_PREVIOUS)
        return _field_of(found, name, detail)
    if name == "rhythm":
        return str(await rhythm_of_signal(detail, today))
    if name == "age":
        return answer.age_s(now)
    if name == "state":
        return "fresh" if answer.stale_because is None else "stale"
    return SIGNAL_FIELDS.value(detail.signal, SIGNAL_FIELDS.find(field, [detail.signal]))


def _name_of(field: str, today: date) -> str:
    """The field in lower case; raises `ArgumentError` for a day in its place, before a request is spent on it."""
    name = field.casefold()
    if name in OBSERVED or name in OWN:
        return name
    try:
        AT.read(float(field) if field.isdecimal() else field, "at", today)
    except ArgumentError:
        return name
    message = f'there is no field {shown(field)}; a day is the third argument, at, after a field such as "value"'
    raise ArgumentError(message).about("field")


async def _told_beside(
    slug: str, name: str, at: date | None, today: date, vintage: Vintage, *, is_last_known: bool = False
) -> Any:
    """What a catalogue or a history at hand tells of a signal, in place of its detail; `MORE` where neither does.

    Where no detail can be had, their last known state is enough, however old.
    """
    if name in OWN:
        listed = await have(CATALOGUE, max_age_s=EVER if is_last_known else CATALOGUE_AGE_S)
        signal = listed.value.find(slug) if listed else None
        told = None if signal is None else getattr(signal, name)
        return MORE if told is None else told
    if name not in OBSERVED or vintage != PRESENT:
        return MORE
    look = last_known_in_history if is_last_known else partial(observed_in_history, may_wait=True)
    found = await look(slug, at, today, with_previous=name in NEEDS_PREVIOUS)
    return MORE if found is None else _field_of(found, name, slug)


@udf(
    group="Signals",
    shape="table",
    examples=("=DS.SIGNALS()", '=DS.SIGNALS("oil price")', '=DS.SIGNALS("usd","fx","slug, name",10)'),
)
async def SIGNALS(  # noqa: N802 - the id that workbooks store
    search: Annotated[str | None, SEARCH] = None,
    category: Annotated[str | None, CATEGORY] = None,
    fields: Annotated[Sequence[str], CATALOGUE_COLUMNS.columns("slug, name")] = DEFAULT_COLUMNS,
    limit: Annotated[int | None, Count(help="the maximum number of signals", example="20")] = None,
) -> Table:
    """The catalogue of signals, or the signals that match a search, best match first.

    Without a search, signals are sorted by slug. A search meets synonyms, plurals and sources (`BLS`); where no signal
    holds all its words, those that hold most are shown, at least half. Searching is local and free: the catalogue costs
    one request for every 500 signals, once a day. A search without a match is `#N/A`. The column `rhythm` is blank for
    signals that nobody has looked at here: the catalogue does not tell it, and it is never asked for.
    """
    signals = by_slug(await need_catalogue())
    listed = in_group(signals, category, lambda signal: signal.category, "category")
    found = ranked(search, listed) if search else listed
    if search and not found:
        guess = corrected(search, listed)
        error = NoDataError(f"no signal matches {shown(search)}" + (f"; did you mean {guess}?" if guess else ""))
        error.instead = guess
        raise error
    columns, rows = CATALOGUE_COLUMNS.select(fields, signals), found[:limit]
    rhythms = await _rhythms(rows) if RHYTHM.value in columns else {}
    known = replace(CATALOGUE_COLUMNS, derived={RHYTHM.value: lambda signal: rhythms.get(signal.slug)})
    return known.table(columns, rows)


async def _rhythms(signals: Sequence[Signal]) -> dict[str, str]:
    """The rhythms of those signals that somebody has looked at, as far as what is at hand tells them."""
    questions = [asked_at_hand(SignalResource(signal.slug), max_age_s=EVER)[0] for signal in signals]
    looked_at = [reply.value for reply in await ask(questions) if isinstance(reply, Answer)]
    rhythms = await gather(rhythm_at_hand(detail) for detail in looked_at)
    told = zip(looked_at, rhythms, strict=True)
    return {detail.signal.slug: str(rhythm) for detail, rhythm in told if isinstance(rhythm, Rhythm)}
