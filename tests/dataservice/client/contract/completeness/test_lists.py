"""Lists page by page: followed where more is said, asked on where they may be cut, whole only where that is shown."""

import pytest

from dataservice.client.contract.completeness.evidence import NOTHING_SEEN
from dataservice.client.contract.completeness.lists import PAGES, ListKind, PulledList
from dataservice.client.contract.decode import ListPage
from tests.dataservice.client.parts.scripted import Scripted, answer


def page(*records, more=None, further=(), limit=0):
    return ListPage(records, "", more, further, len(records), limit=limit)


def kind(most=0, name="wire"):
    return ListKind(name, NotImplemented, NotImplemented, str, most)


def pulled(pages, most=0, evidence=NOTHING_SEEN, *, filters=0, name="wire"):
    state = PulledList(kind(most, name), filters)
    for each in pages:
        state = state.with_page(each, evidence)
    return state


async def test_what_a_filter_should_have_kept_out_is_left_out_and_the_rest_is_said_to_be_a_part():
    items = [
        {"id": str(number), "headline": "x", "kind": kind, "tickers": [ticker], "published_at": "2026-08-01T00:00:00Z"}
        for number, (kind, ticker) in enumerate([("news", "CPI"), ("filing", "CPI"), ("news", "WTI")] * 30)
    ]
    async with Scripted(lambda _: answer(items)).client() as client:
        found = await client.wire(ticker="CPI", kind="news")
        assert {(item.kind, *item.tickers) for item in found} == {("news", "CPI")}
        assert found.lacks(50)


def test_what_is_said_to_follow_is_asked_for_until_nothing_is():
    state = pulled([page("a", "b", more=True, further=(("cursor", "c2"),))])
    assert state.further == (("cursor", "c2"),)
    state = state.with_page(page("c", more=False), NOTHING_SEEN)
    assert (state.records, state.further, state.is_complete) == (("a", "b", "c"), (), True)


def test_a_flag_alone_is_followed_by_the_count_of_what_came():
    state = pulled([page("a", "b", more=True), page("c", "d", more=True)])
    assert state.further == (("offset", "4"),)


def test_a_short_list_that_says_nothing_is_whole_and_one_of_a_usual_size_is_asked_on():
    assert pulled([page("a", "b", "c", "d")]).is_complete
    assert pulled([page(*map(str, range(20)))]).further == (("offset", "20"),)


def test_the_same_again_shows_that_nothing_follows_and_is_remembered():
    twenty = page(*map(str, range(20)))
    state = pulled([twenty, twenty])
    assert (state.further, state.went_on) == ((), False)
    known = NOTHING_SEEN.after_list("wire", state.most_rows, went_on=state.went_on)
    assert pulled([twenty], evidence=known).further == ()


def test_where_lists_were_seen_to_go_on_without_a_word_every_one_is_asked_on():
    assert pulled([page("a", "b")], evidence=NOTHING_SEEN.after_list("indices", 2, went_on=True)).further == (
        ("offset", "2"),
    )


def test_a_list_with_a_limit_is_asked_for_no_more_than_its_usual_pages():
    pages = [page(f"{n}", more=True, further=(("cursor", f"c{n}"),)) for n in range(PAGES)]
    state = pulled(pages, most=200)
    assert (state.further, state.is_complete) == ((), False)


def test_a_list_of_a_usual_size_may_be_cut_unless_a_longer_one_was_seen():
    fifty = page(*map(str, range(50)))
    assert not pulled([fifty], most=200).is_complete
    assert pulled([fifty], most=200, evidence=NOTHING_SEEN.after_list("wire", 60, went_on=None)).is_complete


def test_a_list_without_a_limit_as_short_as_a_page_is_not_proven_whole_until_one_was_seen_to_end():
    two = page("a", "b")
    assert pulled([two]).may_be_cut
    assert not pulled([two], evidence=NOTHING_SEEN.after_list("indices", 2, went_on=False)).may_be_cut
    assert not pulled([page("a", "b", more=False)]).may_be_cut
    assert not pulled([page("a", "b", "c", "d")]).may_be_cut


@pytest.mark.parametrize(("name", "few", "enough"), [("wire", 7, 51), ("posts", 5, 12), ("posts", 10, 12)])
def test_few_posts_or_items_without_a_filter_may_be_a_page(name, few, enough):
    assert pulled([page(*map(str, range(few)))], most=200, name=name).may_be_cut
    assert not pulled([page(*map(str, range(enough)))], most=200, name=name).may_be_cut


def test_a_filtered_list_may_be_cut_only_as_far_as_pages_of_its_kind_were_seen():
    five, twelve = page(*"abcde"), page(*"abcdefghijkl")
    assert pulled([five], most=200, filters=1).may_be_cut
    assert not pulled([five], most=200, filters=2).may_be_cut
    assert not pulled([twelve], most=200, filters=1).may_be_cut
    seen = NOTHING_SEEN.after_list("wire", 12, went_on=None)
    assert not pulled([five], most=200, filters=1, evidence=seen).may_be_cut
    assert pulled([twelve], most=200, filters=1, evidence=seen).may_be_cut


def test_a_limited_list_is_asked_on_where_its_kind_went_on_and_ends_with_a_shorter_page():
    seen = NOTHING_SEEN.after_list("wire", 3, went_on=True)
    state = pulled([page("a", "b", "c")], most=200, evidence=seen)
    assert state.further == (("offset", "3"),)
    state = state.with_page(page("d"), seen)
    assert (state.further, state.is_complete, len(state.records)) == ((), True, 4)


def test_the_same_again_shows_of_a_limited_list_only_that_offset_is_ignored():
    seen = NOTHING_SEEN.after_list("indices", 2, went_on=True)
    three = page("a", "b", "c")
    state = pulled([three, three], most=200, evidence=seen)
    assert (state.further, state.is_complete, state.went_on) == ((), False, None)


def test_the_limit_that_a_service_tells_shows_where_a_list_ends():
    first = pulled([page("a", "b", "c", limit=3)], most=200)
    assert first.further == (("offset", "3"),)
    done = first.with_page(page("d", limit=3), NOTHING_SEEN)
    assert (done.further, done.is_complete, done.may_be_cut) == ((), True, False)
    assert pulled([page("a", "b", limit=100)], most=200).is_complete
    assert not pulled([page("a", "b", limit=100)], most=200).may_be_cut


def test_a_limit_that_repeats_what_was_asked_for_shows_nothing():
    assert pulled([page("a", "b", "c", limit=200)], most=200).may_be_cut


def test_a_page_without_a_word_behind_one_that_said_there_is_more_is_the_last():
    state = pulled([page("a", "b", more=True), page("c", "d")])
    assert (state.further, state.is_complete, state.may_be_cut) == ((), True, False)


@pytest.mark.parametrize("beside", [{"more": True}, {"limit": 2}])
def test_the_same_again_where_more_was_promised_is_a_part(beside):
    state = pulled([page("a", "b", **beside), page("a", "b", **beside)])
    assert (state.further, state.is_complete, state.may_be_cut) == ((), False, True)
