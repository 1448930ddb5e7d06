"""Short runs of the attacks on the tools for agents, and the day of an analyst."""

from tests.attack.agents import counting, hostile, malformed, paging, tasks
from tests.attack.parts.told import Told


async def test_an_agent_answers_an_analysts_tasks_in_a_third_of_the_calls(shared_data, tmp_path):
    done = await tasks.day(shared_data, tmp_path)
    assert done.not_answered == []
    assert len(done.answered) == 25
    assert done.calls <= done.calls_before / 3
    assert done.bytes <= done.bytes_before
    assert done.told == done.counted


async def test_a_malformed_call_gets_an_answer_that_teaches(tmp_path, monkeypatch):
    monkeypatch.setenv("DATA_SERVICE_API_KEY", "")
    assert await malformed.attack(120, 5, tmp_path) == Told(120)


async def test_hostile_texts_are_marked_and_seen():
    found = await hostile.attack(60, 5)
    assert found == Told(found.injected)


async def test_what_is_told_is_what_the_service_counted(tmp_path):
    assert await counting.attack(48, 5, tmp_path, each=24) == Told(48)


async def test_every_row_and_character_is_reached_and_no_call_made_twice(tmp_path):
    found = await paging.attack(1_500, tmp_path, post_chars=60_000)
    assert found == Told(found.injected)
