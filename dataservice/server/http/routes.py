"""The endpoints of the contract: each asks the store and shapes the answer."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response
from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema
from starlette.concurrency import run_in_threadpool

from dataservice.server import records
from dataservice.server.db.repository import Store
from dataservice.server.http.responses import json_answer
from dataservice.server.records import StoryType, WireKind
from dataservice.server.timestamps import midnight, parse_date, parse_instant

T = TypeVar("T")

SIGNALS_LIMIT, SIGNALS_LIMIT_MAX = 100, 500
HISTORY, HISTORY_MAX = 30, 365
OBSERVATIONS_PAGE = 1_000
POSTS_LIMIT, POSTS_LIMIT_MAX = 50, 200
WIRE_LIMIT, WIRE_LIMIT_MAX = 50, 200
OFFSET_MAX = 2**31 - 1
"""No list is longer, and every database can count to it."""


def _parsed(parse: Any) -> BeforeValidator:
    return BeforeValidator(lambda value: parse(value) if isinstance(value, str) else value)


def _parse_since(text: str) -> datetime:
    try:
        return parse_instant(text)
    except ValueError as error:
        # The + of an offset arrives as a space from those who did not encode it.
        raise ValueError(f"{error}, with + written as %2B" if " " in text else str(error)) from None


SlugParameter = Annotated[str, Path(description="the signal's slug; dots are allowed", examples=["us-cpi"])]
Offset = Annotated[int, Query(ge=0, le=OFFSET_MAX, description="how many records to leave out at the beginning")]
Day = Annotated[date, _parsed(parse_date)]
Instant = Annotated[datetime, _parsed(_parse_since)]
Since = Annotated[
    Instant | None, Query(description="only what was published from then on; a date means its midnight in UTC")
]
SinceDay = Annotated[
    Annotated[Instant, WithJsonSchema({"anyOf": [{"type": "string", "format": f} for f in ("date", "date-time")]})]
    | None,
    Query(description="only what was published from that day or time on, in UTC"),
]
StoryTypeFilter = Annotated[StoryType | None, Query(description="only posts of this type")]
KindFilter = Annotated[WireKind | None, Query(description="only items of this kind")]


class SignalList(BaseModel):
    """Part of the signals catalogue."""

    data: Annotated[list[records.Signal], Field(max_length=SIGNALS_LIMIT_MAX)]
    pagination: records.Pagination


class SignalAnswer(BaseModel):
    """One signal."""

    data: records.SignalDetail


class ObservationList(BaseModel):
    """Part of a window of observations, oldest first."""

    data: Annotated[list[records.SignalObservation], Field(max_length=OBSERVATIONS_PAGE)]
    pagination: records.Pagination


class IndexList(BaseModel):
    """All indices."""

    data: list[records.Index]


class CurrentList(BaseModel):
    """All currents."""

    data: list[records.Current]


class PostList(BaseModel):
    """Research posts, newest first."""

    data: Annotated[list[records.CodexPost], Field(max_length=POSTS_LIMIT_MAX)]


class WireList(BaseModel):
    """Wire items, newest first."""

    data: Annotated[list[records.WireItem], Field(max_length=WIRE_LIMIT_MAX)]


router = APIRouter(prefix="/v1", generate_unique_id_function=lambda route: route.name)


async def _store(request: Request) -> Store:
    store: Store = request.app.state.store
    return store


async def _needs_pro(request: Request) -> None:
    caller = request.scope["caller"]
    if not caller.tier.reads_wire:
        raise HTTPException(402, f"the wire needs the Pro tier or higher; this key's tier is {caller.tier.value}")


StoreOfApp = Annotated[Store, Depends(_store)]


async def _read(store: Store, work: Callable[[], T]) -> T:
    """Return what `work` reads; a file answers at once, and only for another machine's answer a thread waits."""
    return work() if store.database.is_sqlite else await run_in_threadpool(work)


@router.get("/signals", response_model=SignalList)
async def list_signals(
    store: StoreOfApp,
    limit: Annotated[int, Query(ge=1, le=SIGNALS_LIMIT_MAX)] = SIGNALS_LIMIT,
    offset: Offset = 0,
    category: Annotated[str | None, Query(description="only signals of this category")] = None,
) -> Response:
    """The signals catalogue."""
    page = await _read(store, lambda: store.signals(limit=limit, offset=offset, category=category))
    return json_answer({"data": page.items, "pagination": {"limit": limit, "offset": offset, "total": page.total}})


@router.get("/signals/{slug}", response_model=SignalAnswer)
async def get_signal(
    store: StoreOfApp,
    slug: SlugParameter,
    history: Annotated[int, Query(ge=0, le=HISTORY_MAX, description="how many of the newest observations")] = HISTORY,
) -> Response:
    """A signal definition, its latest observation and recent history."""
    detail = await _read(store, lambda: store.signal(slug, history=history))
    if detail is None:
        raise _no_signal(slug)
    return json_answer({"data": {**detail.record, "latest": detail.latest, "history": detail.history}})


@router.get("/signals/{slug}/observations", response_model=ObservationList)
async def list_observations(
    store: StoreOfApp,
    slug: SlugParameter,
    start: Annotated[Day | None, Query(description="the first day of the window, in UTC")] = None,
    end: Annotated[Day | None, Query(description="the last day of the window, in UTC, included")] = None,
    offset: Offset = 0,
) -> Response:
    """A signal's observations over a date window, oldest first, in pages of 1,000."""
    first, before = None if start is None else midnight(start), _after(end)
    page = await _read(
        store, lambda: store.observations(slug, start=first, before=before, limit=OBSERVATIONS_PAGE, offset=offset)
    )
    if page is None:
        raise _no_signal(slug)
    pagination = {"limit": OBSERVATIONS_PAGE, "offset": offset, "total": page.total}
    return json_answer({"data": page.items, "pagination": pagination})


@router.get("/indices", response_model=IndexList)
async def list_indices(store: StoreOfApp) -> Response:
    """The custom indices with methodology, components and current readings."""
    return json_answer({"data": await _read(store, store.indices)})


@router.get("/currents", response_model=CurrentList)
async def list_currents(store: StoreOfApp) -> Response:
    """The currents with momentum, belief and maturity reads."""
    return json_answer({"data": await _read(store, store.currents)})


@router.get("/codex", response_model=PostList)
async def list_posts(
    store: StoreOfApp,
    limit: Annotated[int, Query(ge=1, le=POSTS_LIMIT_MAX)] = POSTS_LIMIT,
    since: Since = None,
    handle: Annotated[str | None, Query(description="only posts under this byline")] = None,
    story_type: StoryTypeFilter = None,
) -> Response:
    """Published research posts with bylines and citations, newest first."""
    found = await _read(store, lambda: store.posts(limit=limit, since=since, handle=handle, story_type=story_type))
    return json_answer({"data": found})


@router.get("/almanac", response_model=PostList)
async def list_almanac(
    store: StoreOfApp,
    limit: Annotated[int, Query(ge=1, le=POSTS_LIMIT_MAX)] = POSTS_LIMIT,
    since: SinceDay = None,
    handle: Annotated[str | None, Query(description="only posts under this byline")] = None,
    beat: Annotated[str | None, Query(description="only posts of authors with this beat")] = None,
    story_type: StoryTypeFilter = None,
) -> Response:
    """The posts of the codex, which can also be filtered by their author's beat."""
    found = await _read(
        store, lambda: store.posts(limit=limit, since=since, handle=handle, beat=beat, story_type=story_type)
    )
    return json_answer({"data": found})


@router.get("/wire", response_model=WireList, dependencies=[Depends(_needs_pro)])
async def list_wire(
    store: StoreOfApp,
    limit: Annotated[int, Query(ge=1, le=WIRE_LIMIT_MAX)] = WIRE_LIMIT,
    since: Since = None,
    min_importance: Annotated[int, Query(ge=0, le=100, description="only items at least so important")] = 0,
    kind: KindFilter = None,
    beat: Annotated[str | None, Query(description="only items on this beat")] = None,
    ticker: Annotated[str | None, Query(description="only items that name this ticker, in its spelling")] = None,
    source: Annotated[str | None, Query(description="only items of this upstream feed")] = None,
) -> Response:
    """Wire items, newest first (Pro tier and above)."""
    filters = {"kind": kind, "beat": beat, "ticker": ticker, "source": source}
    found = await _read(store, lambda: store.wire(limit=limit, since=since, min_importance=min_importance, **filters))
    return json_answer({"data": found})


def _after(end: date | None) -> datetime | None:
    """The first instant after a day; none after the last day there is."""
    return None if end is None or end == date.max else midnight(end + timedelta(days=1))


def _no_signal(slug: str) -> HTTPException:
    return HTTPException(404, f"no signal {slug!r}")
