"""Long work lets others go first, without changing what it works on."""

import asyncio

from udfs.engine.batch import yielding


async def test_the_items_come_in_their_order():
    assert [item async for item in yielding(range(1_000))] == list(range(1_000))


async def test_other_tasks_go_on_while_long_work_is_under_way():
    seen = []

    async def other():
        seen.append("other")

    clock = iter(range(1_000))
    waiting = asyncio.ensure_future(other())
    async for item in yielding(range(3), timer=lambda: next(clock)):
        seen.append(item)  # noqa: PERF401 - what runs in between is what is looked at
    await waiting
    assert seen == ["other", 0, 1, 2]


async def test_short_work_is_not_interrupted():
    seen = []

    async def other():
        seen.append("other")

    waiting = asyncio.ensure_future(other())
    async for item in yielding(range(3), timer=lambda: 0.0):
        seen.append(item)  # noqa: PERF401 - what runs in between is what is looked at
    await waiting
    assert seen == [0, 1, 2, "other"]
