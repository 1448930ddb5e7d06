"""One world: events in any order, and then what must hold."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import orjson

from tests.attack.loads.world import ASK_ABOVE, SLUGS, Page, World, turns, value_of

STEPS = 40


async def attack(seed: int) -> list[str]:
    """What does not hold in the world of a seed; mostly nothing."""
    world = World(seed)
    under_way: set[asyncio.Task[None]] = set()
    for _ in range(STEPS):
        await _event(world, under_way)
    await asyncio.gather(*under_way)
    await world.settle()
    problems = [f"seed {seed}: {text}" for text in _wrong(world)]
    await world.end()
    if world.told != world.service.count:
        problems.append(f"seed {seed}: {world.told} told, {world.service.count} counted")
    return problems


def _wrong(world: World) -> list[str]:
    shown = [(slug, found) for page in world.pages for slug, found in page.shown.items()]
    wrong = [f"{slug} shows {found}" for slug, found in shown if not _is_right(slug, found, world)]
    unanswered = sum(len(page.open) for page in world.pages)
    often = 1 + world.forced + world.failures
    twice = [f"{slug} was fetched {count} times" for slug, count in world.service.requests.items() if count > often]
    return [*wrong, *twice, *([f"{unanswered} cells have no answer"] if unanswered else [])]


def _is_right(slug: str, found: dict[str, object], world: World) -> bool:
    if found.get("value") == value_of(slug):
        return True
    refused = found.get("kind") == "request" or "others in a row failed" in str(found.get("message"))
    return "error" in found and world.failures > 0 and refused


def _open(world: World) -> None:
    world.pages.append(Page(set(world.chance.sample(SLUGS, world.chance.randint(1, 2 * ASK_ABOVE)))))


def _drop(world: World) -> None:
    if world.pages:
        world.loads.drop([orjson.dumps(["SIGNAL", slug]) for slug in world.chance.choice(world.pages).open])


def _edit(world: World) -> None:
    if world.pages:
        page = world.chance.choice(world.pages)
        page.cells -= set(world.chance.sample(sorted(page.cells), len(page.cells) // 2))


def _away(world: World) -> None:
    if world.pages:
        world.go_away(world.chance.choice(world.pages))


def _fail(world: World) -> None:
    world.service.fails = not world.service.fails
    world.failures += 1


AT_ONCE: dict[str, Callable[[World], object]] = {
    "open": _open,
    "drop": _drop,
    "edit": _edit,
    "away": _away,
    "yes": lambda world: world.answer_question(yes=True),
    "no": lambda world: world.answer_question(yes=False),
    "serve": lambda world: world.service.is_open.set(),
    "stop": lambda world: world.service.is_open.clear(),
    "fail": _fail,
}
EVENTS = [*AT_ONCE, "refresh", "force", "wait", *4 * ["post"]]


async def _event(world: World, under_way: set[asyncio.Task[None]]) -> None:
    name = world.chance.choice(EVENTS)
    if name in AT_ONCE:
        AT_ONCE[name](world)
    elif name in ("refresh", "force"):
        await world.refresh(force=name == "force")
    elif name == "wait":
        await turns(20)
    elif world.pages:
        task = asyncio.ensure_future(world.post(world.chance.choice(world.pages)))
        under_way.add(task)
        task.add_done_callback(under_way.discard)
