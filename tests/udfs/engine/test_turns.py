"""A range of many cells is worked on in turns: other tasks go on meanwhile, and the results are the same."""

from tests.turns import counted_turns
from tests.udfs.parts.reader import MemoryReader
from udfs.engine.batch import Batch, Inventory, Run, answer
from udfs.engine.effects import STEPS_A_TURN, gather


class NoReader:
    """A reader that nothing may be asked of."""


async def doubled(number):
    return 2 * number


async def nested(count):
    return sum(await gather([doubled(number) for number in range(count)]))


async def test_a_long_gather_lets_others_go_first():
    batch, run = Batch(NoReader(), 0.0), Run(gather([doubled(number) for number in range(40 * STEPS_A_TURN)]))
    async with counted_turns() as turns:
        batch.begin(run)
        assert run.asking is not None
        await batch.end()
    assert run.result == [2 * number for number in range(40 * STEPS_A_TURN)]
    assert turns.count >= 39


async def test_turns_inside_of_turns_end_with_the_same_results():
    count = 3 * STEPS_A_TURN
    run = Run(gather([nested(count) for _ in range(count)]))
    batch = Batch(NoReader(), 0.0)
    batch.begin(run)
    await batch.end()
    assert run.result == [count * (count - 1)] * count


async def test_counting_what_is_needed_goes_through_turns_too():
    run = Run(gather([doubled(number) for number in range(3 * STEPS_A_TURN)]))
    inventory = Inventory(MemoryReader(), 0.0)
    await answer([run], inventory, 0.0)
    assert inventory.missing == set()
    assert len(run.result) == 3 * STEPS_A_TURN
