"""The made-up wire items of every kind, and the made-up posts that cite them."""

from datetime import UTC, date, datetime, time, timedelta
from random import Random
from typing import Any
from uuid import UUID

from dataservice.server.records import StoryType, WireKind
from dataservice.server.sample.signals import Walk

WIRE_ITEMS = 152
"""Nineteen of each kind."""

POSTS = 12
WIRE_DAYS = 60
_CURRENT_OF = {
    "commodities": "energy-repricing", "equities": "calm-or-storm", "macro": "rates-plateau",
    "crypto": "digital-tide", "fx": "strong-dollar",
}  # fmt: skip
_BYLINES = [
    {"handle": "meridian", "display_name": "Meridian (made up)", "agent_role": "analyst", "topic_beat": "macro",
     "avatar_url": None},
    {"handle": "ballast", "display_name": "Ballast (made up)", "agent_role": "editor", "topic_beat": "commodities",
     "avatar_url": "https://example.org/avatars/ballast.png"},
    {"handle": "tidewatch", "display_name": "Tidewatch (made up)", "agent_role": None, "topic_beat": None,
     "avatar_url": None},
]  # fmt: skip


def wire(walks: dict[str, Walk], *, as_of: date, seed: int) -> list[dict[str, Any]]:
    """Wire items over the last weeks, oldest first: every kind, with and without payload, tickers and links."""
    random = Random(f"{seed}/wire")  # noqa: S311  made-up news, no secrets
    end = datetime.combine(as_of, time(0), UTC)
    kinds = list(WireKind)
    slugs = list(walks)
    return [
        _wire_item(
            kinds[number % len(kinds)],
            walks[slugs[random.randrange(len(slugs))]],
            end - timedelta(minutes=WIRE_DAYS * 24 * 60 * (WIRE_ITEMS - number) // WIRE_ITEMS),
            random,
        )
        for number in range(WIRE_ITEMS)
    ]


def _wire_item(kind: WireKind, walk: Walk, published_at: datetime, random: Random) -> dict[str, Any]:
    headline, payload = _story(kind, walk, random)
    identity = UUID(int=random.getrandbits(128), version=4)
    category = walk.signal.category
    importance = random.triangular(60, 100, 85) if kind is WireKind.BREAKING else random.triangular(0, 100, 25)
    return {
        "id": str(identity),
        "source": random.choice(["Made-up Wire", "Made-up Bureau", "Made-up Gazette"]),
        "kind": kind.value,
        "headline": f"{headline} (made up)",
        "summary": None if random.random() < 0.2 else f"A made-up item about {walk.signal.name}.",
        "primary_url": None if kind is WireKind.SOCIAL_POST else f"https://example.org/wire/{identity}",
        "image_url": f"https://example.org/images/{identity}.png" if kind is WireKind.NEWS else None,
        "published_at": f"{published_at:%Y-%m-%dT%H:%M:%SZ}",
        "tickers": [walk.signal.shortcode] if walk.signal.shortcode else [],
        "signal_slugs": [walk.signal.slug],
        "current_slugs": [_CURRENT_OF[category]] if category in _CURRENT_OF else [],
        "beat": category if category in _CURRENT_OF else None,
        "importance_score": round(importance, 1),
        "payload": payload,
    }


def _story(kind: WireKind, walk: Walk, random: Random) -> tuple[str, dict[str, Any] | None]:
    """A headline, and the payload that goes with it."""
    name = _short(walk)
    match kind:
        case WireKind.NEWS:
            direction = "up" if walk.change_pct(1) >= 0 else "down"
            payload = {"region": random.choice(["US", "EU", "APAC"])}
            return f"{name} drifts {direction} as readers make up their minds", payload
        case WireKind.FILING:
            form = random.choice(["10-Q", "10-K", "8-K"])
            payload = {"form": form, "company": "Example Corp"}
            return f"Example Corp files {form}, names {name} among its risks", payload
        case WireKind.PRESS_RELEASE:
            return f"Example Corp hedges {name} for {random.randint(3, 18)} months", None
        case WireKind.DATA_RELEASE:
            value, previous, unit = walk.values[-1], walk.values[-2], walk.signal.unit
            change = round(value - previous, 6)
            release = {"value": value, "previous": previous, "change": change, "unit": unit}
            return f"{name}: {value:,} {unit} ({change:+})", release
        case WireKind.FUND_FLOW:
            flow = round(random.gauss(0, 400), 1)
            verb = "take in" if flow >= 0 else "lose"
            flows = {"net_flow_usd_m": flow, "week": random.randint(1, 52)}
            return f"Funds on {name} {verb} {abs(flow):,} million USD", flows
        case WireKind.ANALYST_RATING:
            before, after = random.sample(["sell", "hold", "buy"], 2)
            target = round(walk.values[-1] * 1.1, 2)
            rating = {"firm": "Example Research", "from": before, "to": after, "target": target}
            return f"Example Research moves {name} from {before} to {after}", rating
        case WireKind.SOCIAL_POST:
            return f"“{name} has only one way to go”", {"likes": random.randint(0, 9_000), "platform": "example"}
        case WireKind.BREAKING:
            return f"{name} moves {random.randint(2, 9)} % within the hour", {"minutes": random.randint(1, 59)}


def posts(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Posts of every story type, each citing three wire items published before it, oldest first."""
    share = len(items) // POSTS
    return [_post(number, items[number * share : (number + 1) * share]) for number in range(POSTS)]


def _post(number: int, recent: list[dict[str, Any]]) -> dict[str, Any]:
    cited = sorted(recent, key=lambda item: -item["importance_score"])[:3]
    points = "\n".join(f"- {item['headline']} [{place}]" for place, item in enumerate(cited, start=1))
    slug = f"what-moved-{number + 1:02}"
    return {
        "slug": slug,
        "url": f"https://example.org/codex/{slug}",
        "title": f"What moved, part {number + 1} (made up)",
        "subtitle": None if number % 3 == 1 else f"{len(recent)} items, three that matter",
        "body_md": f"# What moved\n\nNone of this happened.\n\n{points}\n",
        "published_at": recent[-1]["published_at"],
        "story_type": list(StoryType)[number % len(StoryType)].value,
        "view_count": number * 37,
        "byline": _BYLINES[number % len(_BYLINES)],
        "citations": [
            {
                "wire_item_id": item["id"],
                "citation_number": place,
                "quoted_text": None if place == 2 else item["headline"],
            }
            for place, item in enumerate(cited, start=1)
        ],
    }


def _short(walk: Walk) -> str:
    return walk.signal.shortcode or walk.signal.name
