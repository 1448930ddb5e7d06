"""A service with series of every density, and random formulas about it: what the attacks on sheets and previews ask."""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

import httpx
import orjson

from tests.dataservice.client.parts.clocks import Clock

PAGE = 1_000
DETAIL = 365
FIRST_NOW = 1_787_000_000.0  # 2026-08-17, in the afternoon
TODAY = datetime.fromtimestamp(FIRST_NOW, UTC).date()
CAP = 50_000_000

Rows = list[tuple[str, float]]

SERIES: dict[str, tuple[str | None, timedelta, int]] = {
    "us-cpi": ("CPI", timedelta(days=30), 700),
    "us-10y": ("US10Y", timedelta(days=1), 4_000),
    "eia.wti.spot": ("WTI", timedelta(days=1), 2_100),
    "cboe.vix": ("VIX", timedelta(days=1), 900),
    "wb.gold": ("GOLD", timedelta(days=31), 300),
    "us-gdp": ("GDP", timedelta(days=91), 120),
    "fx.eurusd": ("EURUSD", timedelta(hours=8), 1_500),
    "btc": (None, timedelta(hours=1), 400),
    "one.only": ("ONE", timedelta(days=1), 1),
    "two.only": (None, timedelta(days=40), 2),
    "none.yet": ("NONE", timedelta(days=1), 0),
    "exact.365": (None, timedelta(days=1), 365),
    "exact.1000": (None, timedelta(days=1), 1_000),
    "weekly.claims": ("ICSA", timedelta(days=7), 1_001),
    "young.weekly": ("YWK", timedelta(days=7), 12),
    "young-weekly": (None, timedelta(days=7), 40),
    "young.fortnightly": (None, timedelta(days=14), 18),
    "young.other.day": (None, timedelta(days=2), 60),
    "young-monthly": (None, timedelta(days=30), 12),
    "minute": (None, timedelta(minutes=1), 1_500),
}
"""Of each signal its shortcode, the step between its observations, and how many it has."""
ENDED = {"libor.3m": ("LIBOR", timedelta(days=1), date(2023, 6, 30), 1_200)}
"""Series whose last observation is long past."""
UNKNOWN = (
    "nope",
    "no.such",
    "..",
    ".",
    "a\x07b",
    " ",
    "other.1",
    "other.2",
    "us-cpj",
    "Us-Nope",
    "WTX",
    "gone",
    "wt",
    "US CPI",
    "€",
    "nope-2",
    "nope-3",
    "nope-4",
)
INDICES = ("pressure-gauge", "risk-dial")
CURRENTS = ("energy-repricing", "disinflation")
POSTS = tuple(f"what-moved-{number}" for number in range(60))
TICKERS = ("CPI", "WTI", "TSLA", "NVDA", "GLD", "SPY")


class ColdWorld:
    """The service: it answers rightly, in any order, and counts; its catalogue lists so many signals."""

    def __init__(
        self, clock: Clock, *, listed: int = 40, tier: str = "pro", shuffled: random.Random | None = None
    ) -> None:
        self._clock = clock
        self._listed = max(listed, len(SERIES) + len(ENDED))
        self._tier = tier
        self._shuffled = shuffled
        self.counted = 0
        self.targets: list[str] = []
        self._sizes: dict[str, int] = {}
        """Of series that have shrunk or were backfilled, how many observations they have."""
        self._behind: dict[str, int] = {}
        """Of series that come late, by how many days."""
        self.without_details = False
        """Whether the details of names with a dot are a 404, while their observations answer."""
        self._is_listing = True
        self._added: list[str] = []
        self._removed: set[str] = set()

    def change(self, chance: random.Random) -> None:
        """Let one series shrink, be backfilled, become as it was, or come late; or let the catalogue change."""
        if chance.random() < 0.2:
            self._change_catalogue(chance)
            return
        slug = chance.choice((*SERIES,))
        size = self._sizes.get(slug, SERIES[slug][2])
        match chance.choice(("shrink", "backfill", "backfill", "as it was", "late")):
            case "shrink":
                self._sizes[slug] = chance.choice((0, 1, size // 2, max(0, size - 1)))
            case "backfill":
                self._sizes[slug] = size + chance.choice((1, 30, 400, 2_500))
            case "as it was":
                self._sizes.pop(slug, None)
                self._behind.pop(slug, None)
            case _:
                self._behind[slug] = chance.choice((1, 5, 40, 400))

    def _change_catalogue(self, chance: random.Random) -> None:
        """Let a signal be added or removed, or the catalogue be empty for a while."""
        match chance.choice(("add", "remove", "remove", "empty")):
            case "add":
                self._added.append(f"new.{len(self._added)}")
            case "remove":
                self._removed ^= {chance.choice((*SERIES, "other.1", "other.2"))}
            case _:
                self._is_listing = not self._is_listing

    def _has(self, slug: str) -> bool:
        others = slug in self._added or slug in _others(self._listed)
        return slug not in self._removed and (slug in SERIES or slug in ENDED or others)

    def _rows(self, slug: str) -> Rows:
        day = self._today() - timedelta(days=self._behind.get(slug, 0))
        return _rows(slug, day, self._sizes.get(slug))

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        self.counted += 1
        self.targets.append(request.url.raw_path.decode())
        for _ in range(self._shuffled.randrange(12) if self._shuffled else 0):
            await asyncio.sleep(0)  # answers come back in any order
        status, body = self._answer(request.url.path.split("/")[2:], request.url.params)
        cap = 1_000 if self._tier == "free" else CAP
        headers = {
            "X-Service-Tier": self._tier,
            "X-Service-RateLimit-Cap": str(cap),
            "X-Service-RateLimit-Remaining": str(cap - self.counted),
        }
        return httpx.Response(status, content=orjson.dumps(body), headers=headers)

    def _answer(self, parts: list[str], params: httpx.QueryParams) -> tuple[int, dict[str, Any]]:
        match parts:
            case ["signals"]:
                return 200, self._catalogue(int(params.get("limit", 100)), int(params.get("offset", 0)))
            case ["signals", slug] if self.without_details and "." in slug:
                return 404, {"error": "signal not found"}
            case ["signals", slug] if self._has(slug):
                rows = self._rows(slug)[-int(params["history"]) :]
                told = [_row(row) for row in rows]
                return 200, {"data": {**_signal(slug), "latest": told[-1] if told else None, "history": told}}
            case ["signals", slug, "observations"] if self._has(slug):
                return 200, _window(self._rows(slug), params)
            case ["indices"]:
                return 200, {"data": [_index(slug, self._today()) for slug in INDICES]}
            case ["currents"]:
                return 200, {"data": [{"slug": slug, "name": slug, "momentum_score": 1.5} for slug in CURRENTS]}
            case ["codex" | "almanac"]:
                return 200, {"data": _posts(params, self._today())}
            case ["wire"] if self._tier == "free":
                return 402, {"error": "pro only"}
            case ["wire"]:
                return 200, {"data": _wire(params, self._today())}
        return 404, {"error": "not found"}

    def _today(self) -> date:
        return datetime.fromtimestamp(self._clock(), UTC).date()

    def _catalogue(self, limit: int, offset: int) -> dict[str, Any]:
        slugs = [slug for slug in (*SERIES, *ENDED, *self._added, *_others(self._listed)) if self._has(slug)]
        slugs = slugs if self._is_listing else []
        data = [_signal(slug) for slug in slugs[offset : offset + limit]]
        return {"data": data, "pagination": {"limit": limit, "offset": offset, "total": len(slugs)}}


@cache
def _others(listed: int) -> tuple[str, ...]:
    """Signals that fill the catalogue, and have no observations."""
    return tuple(f"other.{number}" for number in range(listed - len(SERIES) - len(ENDED)))


def _signal(slug: str) -> dict[str, Any]:
    shortcode = (SERIES.get(slug) or ENDED.get(slug) or (None,))[0]
    return {"slug": slug, "name": f"The {slug}", "shortcode": shortcode, "category": "macro", "unit": "percent"}


@cache
def _rows(slug: str, today: date, size: int | None = None) -> Rows:
    if slug in ENDED:
        _, step, last, count = ENDED[slug]
    elif slug in SERIES:
        (_, step, count), last = SERIES[slug], today
        count = count if size is None else size
    else:
        return []
    end = datetime(last.year, last.month, last.day, tzinfo=UTC) + timedelta(hours=9)
    last_number = (end - _FIRST) // step
    newest = [_FIRST + number * step for number in range(max(0, last_number + 1 - count), last_number + 1)]
    return [(time.strftime("%Y-%m-%dT%H:%M:%SZ"), float(time.timestamp() // 3_600 % 9_973)) for time in newest]


_FIRST = datetime(1970, 1, 1, 9, tzinfo=UTC)


def _row(row: tuple[str, float]) -> dict[str, Any]:
    return {"observed_at": row[0], "value": row[1]}


def _window(rows: Rows, params: httpx.QueryParams) -> dict[str, Any]:
    first, last, offset = params.get("start", ""), params.get("end", "9999-12-31") + "U", int(params.get("offset", 0))
    found = [row for row in rows if first <= row[0] <= last]
    pagination = {"limit": PAGE, "offset": offset, "total": len(found)}
    return {"data": [_row(row) for row in found[offset : offset + PAGE]], "pagination": pagination}


def _index(slug: str, today: date) -> dict[str, Any]:
    latest = {"observed_at": f"{today}T00:00:00Z", "value": 104.2}
    return {"slug": slug, "name": slug, "components": [{"slug": "us-cpi", "weight": 0.5}], "latest": latest}


def _posts(params: httpx.QueryParams, today: date) -> list[dict[str, Any]]:
    since, kind = params.get("since", ""), params.get("story_type")
    posts = [_post(number, today) for number in range(len(POSTS))]
    found = [post for post in posts if post["published_at"] >= since and kind in (None, post["story_type"])]
    return found[: int(params["limit"])]


def _post(number: int, today: date) -> dict[str, Any]:
    return {
        "slug": POSTS[number],
        "url": f"https://data.example/{POSTS[number]}",
        "title": f"What moved {number}",
        "body_md": "…",
        "published_at": f"{today - timedelta(days=number * 9)}T06:00:00Z",
        "story_type": ("alert", "brief", "report", "explainer")[number % 4],
        "view_count": number,
        "byline": {"handle": "meridian", "display_name": "Meridian"},
        "citations": [],
    }


def _wire(params: httpx.QueryParams, today: date) -> list[dict[str, Any]]:
    items = [_item(number, today) for number in range(500)]
    since = params.get("since", "")
    found = [
        item
        for item in items
        if item["published_at"] >= since
        and item["importance_score"] >= int(params.get("min_importance", 0))
        and params.get("kind", item["kind"]) == item["kind"]
        and params.get("ticker", item["tickers"][0]) == item["tickers"][0]
    ]
    return found[: int(params["limit"])]


@cache
def _item(number: int, today: date) -> dict[str, Any]:
    return {
        "id": f"00000000-0000-4000-8000-{number:012}",
        "source": "wire",
        "kind": ("news", "filing", "data_release")[number % 3],
        "headline": f"Item {number}",
        "summary": "…",
        "primary_url": None,
        "image_url": None,
        "published_at": f"{today - timedelta(days=number // 4)}T0{number % 4}:00:00Z",
        "tickers": [TICKERS[number % len(TICKERS)]],
        "signal_slugs": ["us-cpi"],
        "current_slugs": [],
        "importance_score": number % 100,
    }


class Formulas:
    """Random calls, as cells of a sheet hold them."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def some(self, most: int = 12) -> list[list[Any]]:
        """A sheet's calls, no two alike."""
        calls = {orjson.dumps(call): call for call in (self.one() for _ in range(self._chance.randint(1, most)))}
        return list(calls.values())

    def one(self) -> list[Any]:
        """One call."""
        pick = self._chance.choice
        match pick(("signal",) * 5 + ("history",) * 4 + ("names", "lists", "wire", "account", "spark")):
            case "signal":
                return ["SIGNAL", self._names(), self._field(), self._day(), self._options()]
            case "history":
                names = self._name() if self._chance.random() < 0.8 else ", ".join((self._name(), self._name()))
                return ["SIGNAL_HISTORY", names, self._start(), pick((None, None, None, "-1M")), self._shape()]
            case "names":
                return pick((["SIGNALS", pick(("gold", "us", None))], ["EXPLAIN", self._name()]))
            case "lists":
                calls = (["INDEX", pick(INDICES)], ["INDICES"], ["CURRENT", pick(CURRENTS)], ["CODEX"])
                return [*pick((*calls, ["CODEX", "report", None, "-3M"], ["CODEX_POST", pick(POSTS)]))]
            case "wire":
                return [
                    "WIRE",
                    pick((None, *TICKERS)),
                    pick((None, None, "news")),
                    pick((None, 50)),
                    pick((None, "-7D")),
                ]
            case "account":
                return [*pick((["QUOTA"], ["STATUS"], ["STATUS", "us-cpi"], ["REVISIONS", self._name()]))]
            case _:
                return ["SPARK", self._name(), pick((None, "-1Y", "N30", "MAX"))]

    def _name(self) -> str:
        known = self._chance.choice((*SERIES, *ENDED))
        shortcode = (SERIES.get(known) or ENDED.get(known) or (None,))[0] or known
        ways = (known, known, known, shortcode, shortcode, shortcode.lower(), known.title(), known.upper())
        return self._chance.choice((*ways, self._chance.choice(UNKNOWN)))

    def _names(self) -> str | list[list[str | None]]:
        if self._chance.random() < 0.6:
            return self._name()
        column = [[self._chance.choice((self._name(), self._name(), self._name(), None))] for _ in range(9)]
        return column[: self._chance.randint(2, 9)]

    def _field(self) -> Any:
        fields = ("value", "change", "pct_change", "previous", "observed_at", "name", "unit", "nonsense")
        return self._chance.choice((None, None, None, *fields))

    def _day(self) -> Any:
        ago = TODAY - timedelta(days=self._chance.choice((0, 1, 3, 40, 300, 364, 400, 2_000, 20_000)))
        return self._chance.choice((None, None, None, None, str(ago), "-1Y"))

    def _options(self) -> str | None:
        return self._chance.choice((None,) * 6 + (f"asof={TODAY - timedelta(days=30)}", "vintage=first", "err=text"))

    def _start(self) -> str | None:
        ago = TODAY - timedelta(days=self._chance.choice((3, 100, 366, 900, 3_000, 15_000)))
        windows = ("-1M", "-1Y", "-2Y", "-5Y", "MAX", "YTD", "N1", "N12", "N40", "N365", "N400", "N1000", "N2500")
        return self._chance.choice((None, *windows, str(ago)))

    def _shape(self) -> str | None:
        shapes = ("freq=M", "transform=yoy", "freq=Q; agg=mean", "fill=prev; align=union", "limit=5; order=desc")
        return self._chance.choice((None,) * 4 + shapes)
