"""A load fetches for those who still want it, and for nobody else."""

import asyncio
import gc

from addin.protocol.pending_batches import WANTED_BYTES
from tests.attack.loads.world import ASK_ABOVE, SLUGS, Page, World


async def tasks_done(world):
    for _ in range(1_000):
        if not world.loads.is_busy:
            return
        await asyncio.sleep(0)
    raise AssertionError("it goes on")


async def asked(world):
    for _ in range(10_000):
        if world.service.count:
            return
        await asyncio.sleep(0)
    raise AssertionError("nothing was asked")


async def test_calls_that_are_not_posted_again_are_given_up():
    world = World(1)
    page = Page(set(SLUGS[:ASK_ABOVE]))
    world.pages.append(page)
    await world.post(page)
    await asked(world)
    world.go_away(page)
    world.service.is_open.set()
    await tasks_done(world)
    assert world.service.count == 1, "the one that was under way"
    await world.end()
    assert world.told == world.service.count == 1, "its answer serves the next page"


async def test_a_page_that_keeps_posting_gets_all():
    world = World(1)
    page = Page(set(SLUGS[:ASK_ABOVE]))
    world.pages.append(page)
    await world.post(page)
    world.service.is_open.set()
    while page.open:
        await world.post(page)
    assert world.told == world.service.count == ASK_ABOVE
    await world.end()


async def test_calls_without_room_are_pending_and_fetch_nothing_until_there_is_some():
    world, asked_for = World(1), []
    world.service.is_open.set()
    call = b'["SIGNAL","s.0"]'

    def has_room(held_bytes):
        asked_for.append(held_bytes)
        return len(asked_for) > 30

    first = await world.loads.answer([call, call], "", has_room)
    assert (first.answers.text.count(b'"pending":true'), world.service.count) == (2, 0)
    while (await world.loads.answer([call, call], "", has_room)).pending:
        pass
    assert (asked_for[0], world.service.count) == (2 * WANTED_BYTES, 1)
    await world.end()


async def test_an_answer_that_has_reached_the_cache_is_told_with_the_post_that_takes_it():
    world = World(1)
    page = Page({SLUGS[0]})
    world.pages.append(page)
    await world.post(page)  # its time is over before the service answers
    await asked(world)
    world.service.is_open.set()
    await tasks_done(world)
    await world.post(page)
    assert (page.open, world.told, world.service.count) == ([], 1, 1)
    await world.end()


async def test_a_drop_harms_no_other_page_that_wants_the_same():
    world = World(1)
    pages = [Page({SLUGS[0]}), Page({SLUGS[0]})]
    world.pages += pages
    await asyncio.gather(*map(world.post, pages))
    world.loads.drop([b'["SIGNAL","s.0"]'])
    world.service.is_open.set()
    while any(page.open for page in pages):
        await asyncio.gather(*map(world.post, pages))
    assert world.service.count == 1
    await world.end()


async def test_a_load_that_ended_leaves_nothing_for_the_garbage_collector():
    world = World(1)
    wrong = [b'["NO_SUCH_FUNCTION_%d"]' % number for number in range(1_000)]
    gc.collect()
    gc.disable()
    try:
        await world.loads.answer(wrong, "")
        await tasks_done(world)
        world.loads.forget()
        assert gc.collect() < len(wrong)
    finally:
        gc.enable()
        await world.end()
