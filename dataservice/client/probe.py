"""Asks a service what the contract leaves open, in at most eleven requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import date, timedelta
from functools import partial
from typing import TypeAlias
from urllib.parse import urlsplit

from dataservice.client.contract.body import Body, version_in
from dataservice.client.contract.completeness.evidence import NOTHING_SEEN, OPEN_BOUNDS, Evidence
from dataservice.client.contract.completeness.thinning import PART_DAYS
from dataservice.client.contract.decode import observations_page
from dataservice.client.contract.probing.looks import FEEDS, Looks, reading_field
from dataservice.client.contract.probing.questions import findings
from dataservice.client.contract.profile import Profile
from dataservice.client.contract.requests import (
    Endpoint,
    Request,
    catalogue_request,
    first_request,
    observations_request,
)
from dataservice.client.contract.resources import (
    IndicesResource,
    PostsResource,
    SignalResource,
    WireResource,
)
from dataservice.client.contract.windows import day_after, day_before, utc_day
from dataservice.errors import (
    AuthenticationError,
    DataServiceError,
    DeadlineExceededError,
    QuotaExceededError,
    RejectedError,
    UnavailableError,
)

MOST_REQUESTS = 11

UNKNOWN = "no-such-signal-to-see-what-is-said"
"""A name that no service has."""

WINDOW = 3
"""So many observations before the newest of the recent history the window of a few days ends."""

BACK_DAYS = 500
"""Days before the newest observation from which a window without an end is asked: over a year, and under a page."""

FAR_BEHIND = 10_000
"""An offset behind the end of every list of indices."""

MOVED = frozenset({301, 302, 307, 308})

WORKING_DAYS = ("equities", "etf", "fx", "commodities")
"""Categories whose series have no observations at weekends: of these 365 observations are no 365 days."""

ENDS_IT = (DeadlineExceededError, AuthenticationError, QuotaExceededError)
"""Errors after which nothing more can be asked."""

Ask: TypeAlias = Callable[[Request], Awaitable[Body]]


async def probed(
    ask: Ask,
    now: float,
    slug: str | None = None,
    *,
    end_paths: Callable[[str], None],
    restarts_on: int | None = None,
) -> Profile:
    """The profile of the service behind `ask`, found out with the signal `slug`, or one of the catalogue.

    `end_paths` lets the paths of all requests end in another way; `restarts_on` is the day on which the period of the
    quota was seen to begin. Raises `DataServiceError` where the first answer is none at all.
    """
    probe = _Probe(ask, end_paths)
    probe.looks.restarts_on, probe.looks.today = restarts_on, day_after(utc_day(now))
    await probe.run(slug)
    return Profile(now, probe.sent, tuple(findings(probe.looks)), evidence=probe.evidence())


class _Probe:
    """The requests of one probe, each of which rests on the answers before it."""

    def __init__(self, ask: Ask, end_paths: Callable[[str], None]) -> None:
        self._ask = ask
        self._end_paths = end_paths
        self._path_end = ""
        self.looks = Looks()
        self.sent = 0
        self._bounds = 0

    async def run(self, slug: str | None) -> None:
        """Ask everything."""
        await self._look("catalogue", catalogue_request(0))
        if self.looks.answers["catalogue"].status in MOVED and not await self._has_slashes():
            return
        if (rows := self.looks.rows("catalogue")) and self.looks.is_catalogue_cut():
            await self._look("more catalogue", catalogue_request(len(rows)))
        self.looks.slug = slug or self._some_slug()
        if self.looks.slug:
            await self._signal(self.looks.slug)
        await self._look("unknown", first_request(SignalResource(UNKNOWN)))
        await self._indices()
        posts = first_request(PostsResource()).params
        await self._feed("wire", first_request(WireResource()))
        if self.looks.slug:
            await self._look("without dates", observations_request(self.looks.slug, None, None))
        await self._feed("almanac", Request(Endpoint.ALMANAC, Endpoint.ALMANAC, posts))
        await self._look("description", Request(Endpoint.DESCRIPTION, Endpoint.DESCRIPTION))

    async def _has_slashes(self) -> bool:
        """Whether the paths are moved to the same ones with a slash behind: then all are asked so from now on."""
        moved = self.looks.answers["catalogue"]
        place = urlsplit(moved.headers.get("location", ""))
        if place.path != f"{Endpoint.SIGNALS}/" or place.netloc:
            return False
        self._path_end = "/"
        self._end_paths(self._path_end)
        self.looks.answers["paths"] = moved
        await self._look("catalogue", catalogue_request(0))
        return True

    async def _indices(self) -> None:
        """The indices far behind their end: a service that knows no `offset` gives them all, and one request does."""
        indices = first_request(IndicesResource())
        await self._look("indices", indices.further((("offset", str(FAR_BEHIND)),)))
        rows = self.looks.rows("indices")
        if rows:
            return
        await self._look("indices", indices)
        if rows == [] and (found := self.looks.rows("indices")) and self.looks.says_nothing("indices"):
            await self._look("more indices", indices.further((("offset", str(len(found))),)))

    async def _feed(self, name: str, request: Request) -> None:
        """Posts or the wire, and what lies behind a page of them that may have been cut and says nothing."""
        await self._look(name, request)
        rows = self.looks.rows(name) or []
        if self.looks.says_nothing(name) and NOTHING_SEEN.may_be_cut(FEEDS[name], len(rows), is_limited=True):
            await self._look(f"more {name}", request.further((("offset", str(len(rows))),)))

    async def _signal(self, slug: str) -> None:
        await self._look("detail", first_request(SignalResource(slug)))
        window = partial(observations_request, slug)
        await self._look("all", window(*OPEN_BOUNDS[0]))
        if "all" in self.looks.answers and self.looks.answers["all"].status == 400:
            refused = self.looks.answers.pop("all")
            await self._look("all", window(*OPEN_BOUNDS[1]))
            self.looks.answers["far dates"] = refused
            self._bounds = int(self.looks.answers.get("all", refused).status == 200)
        whole, recent = self.looks.series("all"), self.looks.series("detail")
        if whole is not None and len(whole):
            await self._look("rest", window(whole.last_day, None))
        known = recent if recent is not None and len(recent) > WINDOW + 2 else whole
        if known is not None and len(known) > WINDOW + 2:
            days = known[-WINDOW - 3 : -WINDOW].times.astype("datetime64[D]").tolist()
            await self._look("window", window(days[0], days[-1]), (days[0], days[-1]))
            if self.looks.tail() is None:
                first: date = known.last_day - timedelta(days=BACK_DAYS)
                await self._look("without end", window(first, None))
        if whole is not None and len(whole) and self.looks.may_be_newest():
            await self._look("before", window(OPEN_BOUNDS[self._bounds][0], day_before(whole.first_day)))

    async def _look(self, name: str, request: Request, bounds: tuple[date | None, date | None] = (None, None)) -> None:
        if self.sent >= MOST_REQUESTS:
            return
        self.sent += 1
        try:
            self.looks.answers[name] = await self._ask(request)
        except (UnavailableError, RejectedError) as error:
            if not self.looks.answers or isinstance(error, ENDS_IT):
                raise
            return  # what the others tell holds all the same, and was paid for
        self.looks.bounds[name] = bounds

    def _some_slug(self) -> str:
        rows = self.looks.rows("catalogue") or []
        named = [row for row in rows if isinstance(row, dict) and isinstance(row.get("slug"), str)]
        best = [row for row in named if row.get("category") in WORKING_DAYS]
        return str((best or named)[0]["slug"]) if named else ""

    def evidence(self) -> Evidence:
        """Return what the windows have shown of paging and bounds."""
        result = Evidence(
            bounds=self._bounds,
            path_end=self._path_end,
            reading=reading_field(self.looks),
            thin_details=self.looks.has_thin_details(),
            thin_over=PART_DAYS if self.looks.has_thin_windows() else 0,
            keeps_last=self.looks.keeps_last(),
            lists=self.looks.lists(),
            newest_rows=self.looks.newest_rows(),
            version=next(filter(None, map(version_in, self.looks.answers.values())), ""),
        )
        known_day = None
        for name in ("all", "rest", "window"):
            body = self.looks.answers.get(name)
            if body is None or body.status != 200:
                continue
            try:
                page = observations_page(body, result.day_first)
            except DataServiceError:
                return result
            asked = known_day if name == "rest" else self.looks.bounds[name][0]
            result = result.after(page, asked, asked)
            known_day = page.observations.last_day if len(page.observations) else None
        return result
