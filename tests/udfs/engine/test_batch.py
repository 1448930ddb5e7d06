"""Functions only ask; drivers answer from memory, from the service in rounds, or just count."""

from datetime import date

import pytest

from dataservice.client import HistoryResource, IndicesResource, SignalResource
from dataservice.errors import ConnectionFailedError, NotFoundError
from tests.udfs.parts.reader import NOW, TTL_S, MemoryReader, answered
from udfs.engine import batch
from udfs.engine.batch import Run
from udfs.engine.effects import EVER, FRESH, gather, have, in_memory, need, need_all

A, B = SignalResource("a"), SignalResource("b")


async def value_of(resource):
    return (await need(resource)).value


async def at_hand(resource, max_age_s=FRESH):
    answer = await have(resource, max_age_s=max_age_s)
    return None if answer is None else answer.value


async def driven(reader, *askings):
    runs = [Run(asking) for asking in askings]
    await batch.answer(runs, reader, NOW)
    return runs


async def results(reader, *askings):
    return [run.error or run.result for run in await driven(reader, *askings)]


async def needed(reader, *askings):
    inventory = batch.Inventory(reader, NOW)
    await driven(inventory, *askings)
    return inventory.missing


async def test_equal_questions_of_a_batch_cost_one_read():
    reader = MemoryReader({A: 1, B: 2})
    assert await results(reader, value_of(A), value_of(B), value_of(A)) == [1, 2, 1]
    assert reader.reads == [A, B]


async def test_what_memory_holds_is_neither_read_nor_looked_up():
    reader = MemoryReader(memory={A: answered(1)})
    assert await results(reader, value_of(A), at_hand(A)) == [1, 1]
    assert reader.reads == reader.look_ups == []


async def test_a_question_for_memory_only_never_looks_anywhere_else():
    async def held(resource):
        answer = await in_memory(resource)
        return None if answer is None else answer.value

    reader = MemoryReader({B: 2}, memory={A: answered(1)})
    assert await results(reader, held(A), held(B)) == [1, None]
    assert await needed(reader, held(B)) == set()
    assert reader.reads == reader.look_ups == []


async def test_a_second_question_may_rest_on_the_first_answer():
    async def chained():
        return await value_of(SignalResource((await need(A)).value))

    reader = MemoryReader({A: "b", B: 2})
    assert await results(reader, chained(), value_of(B)) == [2, 2]
    assert reader.reads == [A, B]


async def test_a_failure_is_the_failure_of_those_who_asked_and_of_nobody_else():
    refused = NotFoundError("no signal a")
    reader = MemoryReader({A: refused, B: 2})
    assert await results(reader, value_of(A), value_of(B), value_of(A)) == [refused, 2, refused]
    assert reader.reads == [A, B]


async def test_a_mistake_in_the_reader_is_an_error_of_the_cell_too():
    mistake = ZeroDivisionError()
    assert await results(MemoryReader({A: mistake, B: 2}), value_of(A), value_of(B)) == [mistake, 2]


async def test_what_is_only_wanted_at_hand_is_never_read():
    reader = MemoryReader({A: 1}, store={B: answered(2)})
    assert await results(reader, at_hand(A), at_hand(B)) == [None, 2]
    assert reader.reads == []


async def test_an_old_answer_is_at_hand_up_to_the_age_that_is_asked_for():
    reader = MemoryReader(store={A: answered(1, age_s=5_000)})
    assert await results(reader, at_hand(A), at_hand(A, 4_999), at_hand(A, 5_000)) == [None, None, 1]


async def test_an_answer_that_stays_fresh_longer_is_fresh_at_any_age():
    settled = answered(1, age_s=5_000)
    reader = MemoryReader(store={A: type(settled)(1, settled.fetched_at, NOW + 1, settled.source)})
    assert await results(reader, at_hand(A)) == [1]


async def test_what_others_of_the_batch_fetch_counts_as_at_hand():
    reader = MemoryReader({A: 1})
    assert await results(reader, at_hand(A), value_of(A)) == [1, 1]


async def test_a_wide_window_is_read_before_the_narrow_one_that_it_holds():
    wide, narrow = HistoryResource("a", date(2000, 1, 1)), HistoryResource("a", date(2020, 1, 1), date(2021, 1, 1))
    reader = MemoryReader({wide: "w", narrow: "n"})
    await results(reader, value_of(narrow), value_of(wide))
    assert reader.reads == [wide, narrow]


async def test_values_go_before_histories():
    history = HistoryResource("a")
    reader = MemoryReader({A: 1, history: 2})
    await results(reader, value_of(history), value_of(A))
    assert reader.reads == [A, history]


async def test_gathered_functions_are_asked_together_and_fail_apart():
    async def broken():
        raise ZeroDivisionError

    async def many():
        return await gather([value_of(A), at_hand(B), broken(), value_of(B)])

    reader = MemoryReader({A: NotFoundError("no"), B: 2})
    ((first, second, third, fourth),) = await results(reader, many())
    assert isinstance(first, NotFoundError)
    assert isinstance(third, ZeroDivisionError)
    assert (second, fourth) == (2, 2)


async def test_need_all_puts_an_error_in_the_place_of_what_failed():
    async def both():
        return await need_all([A, B])

    refused = NotFoundError("no")
    (((first, second)),) = await results(MemoryReader({A: refused, B: 2}), both())
    assert first is refused
    assert second.value == 2


async def test_a_result_is_fresh_as_long_as_all_it_rests_on():
    async def both():
        return (await need(A)).value + (await need(B)).value

    reader = MemoryReader(memory={A: answered(1, age_s=100), B: answered(2, age_s=600)})
    (run,) = await driven(reader, both())
    assert run.fresh_until == NOW + TTL_S - 600


async def test_what_was_taken_at_an_age_counts_as_fresh_up_to_that_age():
    reader = MemoryReader(memory={A: answered(1, age_s=50_000)})
    runs = await driven(reader, at_hand(A, 86_400), at_hand(A, EVER))
    assert [run.fresh_until for run in runs] == [NOW + 36_400, EVER]


async def test_the_oldest_last_known_value_is_kept_in_mind():
    offline = ConnectionFailedError("down")
    old, older = answered(1, age_s=5_000).stale(offline), answered(2, age_s=9_000).stale(offline)
    (run,) = await driven(MemoryReader({A: old, B: older}), gather([value_of(A), value_of(B)]))
    assert run.stale is older
    assert run.fresh_until < NOW


async def test_a_shared_answer_is_charged_once():
    runs = await driven(MemoryReader({A: 1, B: 2}), value_of(A), value_of(A), gather([value_of(A), value_of(B)]))
    assert [run.requests for run in runs] == [1, 0, 1]


async def test_counting_finds_what_would_be_read_and_reads_nothing():
    reader = MemoryReader({A: 1, B: 2}, memory={A: answered(1)})
    assert await needed(reader, value_of(A), value_of(B), at_hand(SignalResource("c"))) == {B}
    assert reader.reads == []


async def test_counting_goes_on_with_the_last_known_value():
    async def chained():
        return await value_of(SignalResource((await need(A)).value))

    reader = MemoryReader(store={A: answered("b", age_s=5_000)})
    assert await needed(reader, chained()) == {A, B}


async def test_counting_takes_a_fresh_answer_from_the_shelf():
    assert await needed(MemoryReader(store={A: answered(1)}), value_of(A)) == set()


async def test_counting_leaves_a_function_that_cannot_go_on():
    async def tidy():
        try:
            return await value_of(IndicesResource())
        finally:
            left.append(True)

    left: list[bool] = []
    assert await needed(MemoryReader(), tidy()) == {IndicesResource()}
    assert left == [True]


@pytest.mark.parametrize("count", [0, 1, 100])
async def test_any_number_of_functions_ends(count):
    assert await results(MemoryReader({A: 1}), *(value_of(A) for _ in range(count))) == [1] * count
