"""From the bytes of an answer to records; whatever is not what the contract says is a `MalformedAnswerError`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import wraps
from typing import Any, Generic, ParamSpec, TypeVar

import msgspec
import numpy as np

from dataservice.client.contract.body import Params, next_in_link, params_of
from dataservice.client.contract.completeness.following import following
from dataservice.client.contract.forms import (
    TIMES,
    VALUES,
    columns_of,
    decoded,
    list_in,
    number_of,
    signal_in,
    times_in,
)
from dataservice.client.contract.records import mended, records_in
from dataservice.client.contract.results import SignalDetail
from dataservice.client.contract.times import order_of_days
from dataservice.errors import DataServiceError, MalformedAnswerError
from dataservice.models import Current, Index, Observation, Post, Record, Signal, WireItem
from dataservice.observations import Observations

R = TypeVar("R", bound=Record)
P = ParamSpec("P")
T = TypeVar("T")


_WHY: dict[type[Exception], str] = {
    OverflowError: "a number that is too large",
    RecursionError: "it is nested too deeply",
    UnicodeDecodeError: "its text is not UTF-8",
    msgspec.ValidationError: "a number that is too large",  # what msgspec says of 1e999
}


def readable(decode: Callable[P, T]) -> Callable[P, T]:
    """`decode`, where every exception is a `MalformedAnswerError`: whatever comes in may be anything at all."""

    @wraps(decode)
    def reading(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return decode(*args, **kwargs)
        except DataServiceError:
            raise
        except Exception as error:  # noqa: BLE001 - numbers without end, nesting without end, dates that are none
            problem = f"an answer that cannot be read: {_WHY.get(type(error), type(error).__name__)}"
        raise MalformedAnswerError(problem)

    return reading


class _Pagination(msgspec.Struct, forbid_unknown_fields=True):
    limit: int | None = None
    offset: int = 0
    total: int | None = None


class _Row(msgspec.Struct, gc=False):
    observed_at: str
    value: float | None


class _RowEnvelope(msgspec.Struct, forbid_unknown_fields=True):
    """The form that the embedded service answers in: the fast way. All others are read by the tables of `forms`."""

    data: list[_Row]
    pagination: _Pagination | None = None


class _DetailEnvelope(msgspec.Struct):
    """In the contract's form the history alone is a list: one reading gives its rows, and all other fields."""

    data: dict[str, list[_Row] | dict[str, Any] | str | int | float | bool | None]


_rows = msgspec.json.Decoder(_RowEnvelope | list[_Row])
_detail = msgspec.json.Decoder(_DetailEnvelope)


@dataclass(frozen=True, slots=True)
class CataloguePage:
    """A page of the catalogue, and how many signals there are in all where the service says so."""

    signals: tuple[Signal, ...]
    limit: int | None = None
    total: int | None = None
    more: bool | None = None
    read: int | None = None
    """How many records there were, also those that could not be read."""
    odd: str = ""
    further: Params = ()
    """The parameters that ask for the next page, as the service names them."""
    pages: int = 0
    """How many pages follow, where the service counts them."""

    @property
    def rows(self) -> int:
        """Return how many records the page had."""
        return len(self.signals) if self.read is None else self.read

    def pages_behind(self, offset: int) -> int:
        """At least how many requests take what lies behind `offset`, by what is told; 0 where nothing is."""
        return max(self.pages, -(-max(0, (self.total or 0) - offset) // max(1, self.rows)))


@dataclass(frozen=True, slots=True)
class ListPage(Generic[R]):
    """A page of a list, and what of it could not be read whole.

    `more` is whether others follow, None where that is not said; `further` are the parameters that ask for them, where
    these are said.
    """

    records: tuple[R, ...]
    odd: str
    more: bool | None
    further: Params
    rows: int
    pages: int = 0
    """At least how many requests what follows takes, by what is told; 0 where nothing is."""
    total: int = 0
    """How many records there are in all, by what is told; 0 where nothing is."""
    limit: int = 0
    """How many records a page holds at most, by what is told; 0 where nothing is."""


@dataclass(frozen=True, slots=True)
class ObservationsPage:
    """A page of observations, and what the service says of the rest, each None where it does not say.

    `left` is how many come behind it by the total, `more` whether any do by other words; `further` are the parameters
    that ask for the next page as the service names them.
    """

    observations: Observations
    rows: int
    left: int | None = None
    limit: int | None = None
    is_newest_first: bool = False
    more: bool | None = None
    offset: int = 0
    further: Params = ()
    day_first: bool | None = None
    """How days such as 03/04/2026 are written, where there are such days and others that show it."""
    pages: int = 0
    """How many pages follow, where the service counts them."""
    is_in_no_order: bool = False
    """Whether its rows follow each other neither oldest first nor newest first."""

    @property
    def pages_left(self) -> int:
        """At least how many requests what follows takes, by what is told; 0 where nothing is."""
        return max(self.pages, -(-(self.left or 0) // max(1, self.rows)))


def catalogue_page(body: bytes) -> CataloguePage:
    """GET /v1/signals."""
    records, beside = list_in(decoded(body))
    said = following(beside, body, len(records))
    signals, odd = records_in(records, Signal)
    return CataloguePage(signals, said.limit, said.total, said.more, len(records), odd, said.params, pages=said.pages)


def signal_detail(body: bytes, day_first: bool | None = None) -> SignalDetail:
    """GET /v1/signals/{slug}; where `latest` is absent, the newest of the history stands in.

    `day_first`: how the service is known to write days such as 03/04/2026.
    """
    read: list[_Row] = []
    try:
        fields: dict[str, Any] = _detail.decode(body).data
        read = fields.pop("history", None) or []
        if "slug" not in fields or list in map(type, fields.values()) or type(read) is not list:
            raise MalformedAnswerError("not in the contract's form")
        history = _observations(read)
    except (msgspec.MsgspecError, MalformedAnswerError):
        fields, read = signal_in(decoded(body)), []
        rows = _history_in(fields.pop("history", None))
        history = _dated(*columns_of(rows, day_first))
        day_first = order_of_days(times_in(rows)) if day_first is None else day_first
    found = fields.pop("latest", None)
    if isinstance(found, list) and len(found) == 1 and isinstance(found[0], dict):
        found = found[0]
    signal, problem = mended(fields, Signal)
    if signal is None:
        raise MalformedAnswerError(f"not a Signal: {problem}")
    if found is None or found == {}:
        return SignalDetail(signal, _newest(history), history)
    for row in (read[-1], read[0]) if read else ():
        if (newest := _same_row(found, row)) is not None:
            return SignalDetail(signal, newest, history)
    return SignalDetail(signal, _latest(found, history, day_first), history)


def _history_in(told: Any) -> list[Any]:
    return [] if told is None else list_in({"data": told})[0]


def _same_row(told: Any, row: _Row) -> Observation | None:
    """The latest observation where it is told as that row of the history is, which was read already."""
    is_same = told == {"observed_at": row.observed_at, "value": row.value} and row.observed_at.endswith("Z")
    return Observation(observed_at=row.observed_at, value=row.value) if is_same else None


def _latest(told: Any, history: Observations, day_first: bool | None) -> Observation | None:
    """The latest observation; a number alone is the newest of the history, where that has the same value."""
    if isinstance(told, dict | list):
        (time,), (value,) = columns_of([told], day_first)
        _dated([time], [value])  # it is one by its date, too
        extra = {name: told[name] for name in told if name not in (*TIMES, *VALUES)} if isinstance(told, dict) else {}
        return Observation(observed_at=time, value=value, extra=extra)
    newest, value = _newest(history), number_of(told)
    if newest is None or newest.value != value:
        raise MalformedAnswerError(f"the latest value is {str(told)[:40]!r}, without a date")
    return newest


def observations_page(body: bytes, day_first: bool | None = None) -> ObservationsPage:
    """GET /v1/signals/{slug}/observations: the contract does not show its form; see the tables of `forms`."""
    try:
        found = _rows.decode(body)
        rows, said = (found, None) if isinstance(found, list) else (found.data, found.pagination)
        whole = _observations(rows)
    except (msgspec.MsgspecError, MalformedAnswerError):
        return _page_of_other_form(body, day_first)
    said = said or _Pagination()
    left = _left(said.total, said.offset, len(rows))
    link = next_in_link(body)
    more = True if link else None
    further: Params = params_of(link) if link else (("offset", str(said.offset + len(rows))),) if left else ()
    return ObservationsPage(
        *(whole, len(rows), left, said.limit, _is_newest_first(rows), more),
        offset=said.offset,
        further=further,
        is_in_no_order=_is_in_no_order([str(row.observed_at) for row in rows]),
    )


def _page_of_other_form(body: bytes, day_first: bool | None) -> ObservationsPage:
    rows, beside = list_in(decoded(body))
    times, values = columns_of(rows, day_first)
    day_first = order_of_days(times_in(rows)) if day_first is None else day_first
    said = following(beside, body, len(rows))
    left = _left(said.total, said.offset, len(rows))
    newest_first = len(times) > 1 and times[0] > times[-1]
    told = (said.more, said.offset, said.params, day_first, said.pages)
    is_in_no_order = _is_in_no_order(times)
    return ObservationsPage(_dated(times, values), len(rows), left, said.limit, newest_first, *told, is_in_no_order)


def _left(total: int | None, offset: int, rows: int) -> int | None:
    """Return how many come behind a page by a total; None where there is none, or it counts something else."""
    left = -1 if total is None else total - offset - rows
    return left if left >= 0 else None


def indices_page(body: bytes) -> ListPage[Index]:
    """GET /v1/indices; of some, several numbers may be the reading: how many is said, and none is taken."""
    page = _collection_page(body, Index)
    unclear = [index for index in page.records if index.readings() and index.reading()[0] is None]
    if page.odd or not unclear:
        return page
    first, names = unclear[0], " or ".join(unclear[0].readings())
    odd = f"the reading of {len(unclear)} of {page.rows} indices is not clear: {names} of {first.slug}"
    return replace(page, odd=odd)


def currents_page(body: bytes) -> ListPage[Current]:
    """GET /v1/currents."""
    return _collection_page(body, Current)


def posts_page(body: bytes) -> ListPage[Post]:
    """GET /v1/codex and /v1/almanac."""
    return _collection_page(body, Post)


def wire_page(body: bytes) -> ListPage[WireItem]:
    """GET /v1/wire."""
    return _collection_page(body, WireItem)


def _collection_page(body: bytes, kind: type[R]) -> ListPage[R]:
    """A page of a list: the contract shows no paging of it, but some services have it."""
    records, beside = list_in(decoded(body))
    said = following(beside, body, len(records))
    found, odd = records_in(records, kind)
    left = max(0, (said.total or 0) - said.offset - len(records))
    more = said.more if said.more is not None else (bool(left) or (False if said.total is not None else None))
    pages = max(said.pages, -(-left // max(1, len(records))))
    return ListPage(found, odd, more, said.params, len(records), pages, said.total or 0, said.limit or 0)


def _newest(history: Observations) -> Observation | None:
    for time, value in history[-1:]:
        return Observation(observed_at=time.isoformat().replace("+00:00", "Z"), value=value)
    return None


def _dated(times: Sequence[str], values: Sequence[float | None]) -> Observations:
    try:
        found = Observations.from_columns(times, values)
    except ValueError as error:
        problem = str(error)
    else:
        if len(found) < len(times):
            _check_doubles(found, times, values)
        return found
    raise MalformedAnswerError(f"an observation without a date: {problem}")


def _check_doubles(found: Observations, times: Sequence[str], values: Sequence[float | None]) -> None:
    """Raise where rows of one time tell two values: neither is better than the other."""
    again = Observations.from_columns(times[::-1], values[::-1])
    if again != found:
        at = int(
            np.flatnonzero(~((again.values == found.values) | (np.isnan(again.values) & np.isnan(found.values))))[0]
        )
        told = f"{again.values[at]:.15g} and {found.values[at]:.15g}"
        raise MalformedAnswerError(f"two values for {str(found.times[at])[:16]}: {told}")


def _is_in_no_order(times: Sequence[str]) -> bool:
    """Return whether times rise and fall; texts that do may still rise as moments, where their offsets differ."""
    if not _rises_and_falls(times):
        return False
    try:
        moments = [datetime.fromisoformat(time) for time in times]
    except ValueError:
        return False
    return _rises_and_falls([at if at.tzinfo else at.replace(tzinfo=UTC) for at in moments])


def _rises_and_falls(times: Sequence[Any]) -> bool:
    rising = sorted(times)
    return list(times) != rising and list(times) != rising[::-1]


def _is_newest_first(rows: Sequence[_Row]) -> bool:
    return bool(rows) and str(rows[0].observed_at) > str(rows[-1].observed_at)


def _observations(rows: Sequence[_Row]) -> Observations:
    return _dated([row.observed_at for row in rows], [row.value for row in rows])
