"""One world: events in any order, and then what must hold."""

from __future__ import annotations

import asyncio

import orjson

from tests.attack.loads.world import ASK_ABOVE, SLUGS, Page, World, value_of

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
    return "error" in found and world.failures > 0 and found.get("kind") == "request"


async def _event(world: World, under_way: set[asyncio.Task[None]]) -> None:
    chance = world.chance
    match chance.choice("open post post post post drop edit away refresh force yes no serve stop fail wait".split()):
        case "open":
            world.pages.append(Page(set(chance.sample(SLUGS, chance.randint(1, 2 * ASK_ABOVE)))))
        case "post" if world.pages:
            task = asyncio.ensure_future(world.post(chance.choice(world.pages)))
            under_way.add(task)
            task.add_done_callback(under_way.discard)
        case "drop" if world.pages:
            world.loads.drop([orjson.dumps(["SIGNAL", slug]) for slug in chance.choice(world.pages).open])
        case "edit" if world.pages:
            page = chance.choice(world.pages)
            page.cells -= set(chance.sample(sorted(page.cells), len(page.cells) // 2))
        case "away" if world.pages:
            world.go_away(chance.choice(world.pages))
        case "refresh":
            await world.refresh(force=False)
        case "force":
            await world.refresh(force=True)
        case "yes":
            world.answer_question(yes=True)
        case "no":
            world.answer_question(yes=False)
        case "serve":
            world.service.is_open.set()
        case "stop":
            world.service.is_open.clear()
        case "fail":
            world.service.fails = not world.service.fails
            world.failures += 1
        case _:
            await asyncio.sleep(0.002)
