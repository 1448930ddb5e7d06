"""From the bytes of an answer to records; whatever is not what the contract says is a `MalformedAnswerError`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import msgspec

from dataservice.client.contract.requests import LIST_LIMIT
from dataservice.client.contract.results import Currents, Indices, Page, SignalDetail, published
from dataservice.errors import MalformedAnswerError
from dataservice.models import READING_FIELDS, Current, Index, Observation, Post, Record, Signal, WireItem
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
    def decoded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return decode(*args, **kwargs)
        except MalformedAnswerError:
            raise
        except Exception as error:  # noqa: BLE001 - numbers without end, nesting without end, dates that are none
            problem = f"an answer that cannot be read: {_WHY.get(type(error), type(error).__name__)}"
        raise MalformedAnswerError(problem)

    return decoded


_KINDS = {
    "float": "a number",
    "int": "a whole number",
    "bool": "true or false",
    "str": "text",
    "array": "a list",
    "object": "an object",
}


def in_words(error: msgspec.ValidationError) -> str:
    """What is wrong with an answer's field, in plain words.

    >>> in_words(msgspec.ValidationError("Expected `float | null`, got `str` - at `$.data[...].value`"))
    'value should be a number or null, and is text'
    """
    text, _, path = str(error).partition(" - at ")
    fields = re.findall(r"\.(\w+)", path)
    field = fields[-1] if fields else "it"
    if match := re.fullmatch(r"Expected `(.+)`, got `(.+)`", text):
        wanted, found = (" or ".join(_KINDS.get(kind, kind) for kind in kinds.split(" | ")) for kinds in match.groups())
        return f"{field} should be {wanted}, and is {found}"
    if match := re.fullmatch(r"Object missing required field `(.+)`", text):
        return f"{match[1]} is missing"
    return text if field == "it" else f"{field}: {text}"


class _Pagination(msgspec.Struct):
    limit: int | None = None
    offset: int = 0
    total: int | None = None


class _Row(msgspec.Struct, gc=False):
    observed_at: str
    value: float | None


class _RowEnvelope(msgspec.Struct):
    data: list[_Row]
    pagination: _Pagination | None = None


class _DetailEnvelope(msgspec.Struct):
    data: dict[str, msgspec.Raw]


_rows = msgspec.json.Decoder(_RowEnvelope | list[_Row])
_history = msgspec.json.Decoder(list[_Row])
_detail = msgspec.json.Decoder(_DetailEnvelope)


@dataclass(frozen=True, slots=True)
class CataloguePage:
    """A page of the catalogue, and how many signals there are in all where the service says so."""

    signals: tuple[Signal, ...]
    limit: int | None
    total: int | None


@dataclass(frozen=True, slots=True)
class ObservationsPage:
    """A page of observations; `left` is how many come behind it, None where the service does not say."""

    observations: Observations
    rows: int
    left: int | None = None
    limit: int | None = None
    is_newest_first: bool = False


def catalogue_page(body: bytes) -> CataloguePage:
    """GET /v1/signals."""
    envelope = _envelope(body)
    pagination = _convert(envelope.get("pagination") or {}, _Pagination)
    return CataloguePage(_records(envelope, Signal), pagination.limit, pagination.total)


def signal_detail(body: bytes) -> SignalDetail:
    """GET /v1/signals/{slug}; where `latest` is absent, the newest of the history stands in."""
    raw = _raw_fields(body)
    history = _observations(_rows_in(raw.pop("history", None)))
    fields = {name: msgspec.json.decode(text) for name, text in raw.items()}
    found = fields.pop("latest", None)
    signal = _record(fields, Signal)
    if found is None:
        return SignalDetail(signal, _newest(history), history)
    latest = _record(found, Observation)
    _observations([latest])  # it is one by its date, too
    return SignalDetail(signal, latest, history)


def observations_page(body: bytes) -> ObservationsPage:
    """GET /v1/signals/{slug}/observations: `{"data": […], "pagination": …}` or a bare array."""
    try:
        decoded = _rows.decode(body)
    except msgspec.MsgspecError as error:
        problem = str(error)
    else:
        if isinstance(decoded, list):
            return ObservationsPage(_observations(decoded), len(decoded), is_newest_first=_is_newest_first(decoded))
        rows, pagination = decoded.data, decoded.pagination or _Pagination()
        left = None if pagination.total is None else max(0, pagination.total - pagination.offset - len(rows))
        return ObservationsPage(_observations(rows), len(rows), left, pagination.limit, _is_newest_first(rows))
    raise MalformedAnswerError(f"not the observations of a signal: {problem}")


def indices(body: bytes) -> Indices:
    """GET /v1/indices."""
    found = Indices(_records(_envelope(body), Index))
    for index in found:
        told = [index.extra.get(name) for name in READING_FIELDS]
        if index.reading()[0] is None and any(isinstance(each, str | bool | list) for each in told):
            raise MalformedAnswerError(f"the reading of {index.slug[:60]!r} is no number")
    return found


def currents(body: bytes) -> Currents:
    """GET /v1/currents."""
    return Currents(_records(_envelope(body), Current))


def posts(body: bytes) -> Page[Post]:
    """GET /v1/codex and /v1/almanac, newest first."""
    return _page(body, Post)


def wire(body: bytes) -> Page[WireItem]:
    """GET /v1/wire, newest first."""
    return _page(body, WireItem)


def _page(body: bytes, kind: type[R]) -> Page[R]:
    items = _records(_envelope(body), kind)
    return Page(tuple(sorted(items, key=published, reverse=True)), complete=len(items) < LIST_LIMIT, kind=kind)


def _raw_fields(body: bytes) -> dict[str, msgspec.Raw]:
    """The fields of the object in `data`, each as its text: the rows of a history need no objects in between."""
    try:
        return _detail.decode(body).data
    except msgspec.MsgspecError:
        _data(_envelope(body), dict)  # says what is wrong
        raise


def _rows_in(text: msgspec.Raw | None) -> list[_Row]:
    if text is None:
        return []
    try:
        return _history.decode(text)
    except msgspec.MsgspecError:
        return _convert(msgspec.json.decode(text) or [], list[_Row])  # null, or what says what is wrong


def _newest(history: Observations) -> Observation | None:
    for time, value in history[-1:]:
        return Observation(observed_at=time.isoformat().replace("+00:00", "Z"), value=value)
    return None


def _is_newest_first(rows: Sequence[_Row]) -> bool:
    return bool(rows) and str(rows[0].observed_at) > str(rows[-1].observed_at)


def _observations(rows: Sequence[_Row | Observation]) -> Observations:
    try:
        return Observations.from_columns([row.observed_at for row in rows], [row.value for row in rows])
    except ValueError as error:
        problem = str(error)
    raise MalformedAnswerError(f"an observation without a date: {problem}")


def _envelope(body: bytes) -> dict[str, Any]:
    """The object with `data`; a bare array counts as its `data`."""
    try:
        decoded = msgspec.json.decode(body)
    except msgspec.MsgspecError:
        decoded = None
    if isinstance(decoded, list):
        return {"data": decoded}
    if not isinstance(decoded, dict):
        raise MalformedAnswerError("not JSON, or not an object")
    return decoded


def _data(envelope: dict[str, Any], kind: type[Any]) -> Any:
    data = envelope.get("data")
    if not isinstance(data, kind):
        raise MalformedAnswerError(f"no {kind.__name__} in `data`")
    return data


def _records(envelope: dict[str, Any], kind: type[R]) -> tuple[R, ...]:
    return tuple(_record(raw, kind) for raw in _data(envelope, list))


def _record(raw: Any, kind: type[R]) -> R:
    problem = "not an object"
    if isinstance(raw, dict):
        try:
            return kind.from_json(raw)
        except msgspec.ValidationError as error:
            problem = in_words(error)
    raise MalformedAnswerError(f"not a {kind.__name__}: {problem}")


def _convert(raw: Any, kind: type[T]) -> T:
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        problem = in_words(error)
    raise MalformedAnswerError(problem)
