"""What posts were told to have spent: a lost answer's number is told once, with the repeat, by whichever process."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addin.backend.workers.posts import MOST_SHARED, SharedPosts, ToldPosts
from dataservice.stores import Entry, MemoryStore, ResilientStore


def processes(count=2, store=None):
    store = store or MemoryStore()
    return [SharedPosts(ResilientStore(store)) for _ in range(count)]


async def test_the_repeat_of_a_lost_post_is_told_by_another_process_what_the_first_one_told():
    first, second = processes()
    assert await first.tell("key", "a", (), 5) == 5
    assert await second.tell("key", "a", (), 0) == 5
    assert await first.tell("key", "b", ["a"], 1) == 6
    assert await second.tell("key", "c", ["a"], 0) == 0


async def test_what_one_key_has_spent_is_not_told_to_another():
    first, second = processes()
    await first.tell("key", "a", (), 5)
    assert await second.tell("other", "b", ["a"], 0) == 0


async def test_only_the_newest_posts_are_known():
    first, second = processes()
    for number in range(MOST_SHARED + 1):
        await first.tell("key", f"post-{number}", (), 1)
    assert await second.tell("key", "next", ["post-0"], 0) == 0
    assert await second.tell("key", "next", ["post-1"], 0) == 1


@pytest.mark.parametrize("payload", [b"", b"[]", b'{"a":"x"}', b"\xff"])
async def test_what_cannot_be_read_is_as_if_nothing_was_kept(payload):
    store = MemoryStore()
    await store.put("key/posts", Entry(payload, 1e12))
    first, second = processes(store=store)
    assert await first.tell("key", "a", (), 2) == 2
    assert await second.tell("key", "b", ["a"], 0) == 2


async def test_posts_told_at_the_same_time_are_all_known():
    told = processes(4)
    await asyncio.gather(*(told[n % 4].tell("key", f"post-{n}", (), 1) for n in range(4)))
    assert await told[0].tell("key", "all", [f"post-{n}" for n in range(4)], 0) == 4


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3), st.booleans()), max_size=30))
def test_whatever_is_lost_and_whoever_answers_all_is_told_once(answers):
    async def heard():
        told, sum_heard, lost = processes(), 0, []
        for number, (process, requests, is_lost) in enumerate([*answers, (0, 0, False)]):
            said = await told[process].tell("key", f"post-{number}", lost, requests)
            if is_lost:
                lost = [*lost, f"post-{number}"]
            else:
                sum_heard, lost = sum_heard + said, []
        return sum_heard

    assert asyncio.run(heard()) == sum(requests for _, requests, _ in answers)


def test_the_repeat_of_a_lost_post_is_told_what_the_lost_answer_said():
    told = ToldPosts()
    assert told.tell("a", (), 5) == 5
    assert told.tell("a", (), 2) == 7
    assert told.tell("b", ("a",), 1) == 8
    assert told.tell("c", ("a",), 1) == 1


def test_posts_without_an_id_are_told_their_own():
    told = ToldPosts()
    assert [told.tell("", ("",), 3), told.tell("", ("",), 2)] == [3, 2]
    assert told.tell("x" * 65, (), 1) == 1
    assert told.tell("x" * 65, (), 1) == 1


def test_one_process_knows_only_the_newest_posts():
    told = ToldPosts(most=2)
    for post in "abc":
        told.tell(post, (), 1)
    assert [told.tell(post, (), 0) for post in "cba"] == [1, 1, 0]


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=50))
def test_whatever_is_lost_all_is_told_once(answers):
    told, heard, lost = ToldPosts(), 0, []
    for number, (requests, is_lost) in enumerate([*answers, (0, False)]):
        said = told.tell(f"post-{number}", lost, requests)
        if is_lost:
            lost = [*lost, f"post-{number}"]
        else:
            heard, lost = heard + said, []
    assert heard == sum(requests for requests, _ in answers)


async def test_a_post_that_names_one_under_way_waits_for_its_end():
    told, heard = ToldPosts(), []

    async def left():
        with told.answering("left"):
            await asyncio.sleep(0)
            told.tell("left", (), 4)

    async def later():
        await told.have_ended(["left", "never seen"], within_s=60)
        heard.append(told.tell("later", ["left"], 1))

    await asyncio.gather(left(), later())
    assert heard == [5]


async def test_it_waits_no_longer_than_it_was_told():
    told = ToldPosts()
    with told.answering("stuck"):
        await told.have_ended(["stuck"], within_s=0)
    assert told.tell("later", ["stuck"], 0) == 0
