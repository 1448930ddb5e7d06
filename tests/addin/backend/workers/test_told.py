"""What posts were told to have spent: a lost answer's number is told once, with the repeat."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from addin.backend.workers.posts import ToldPosts


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


def test_only_the_newest_posts_are_known():
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
