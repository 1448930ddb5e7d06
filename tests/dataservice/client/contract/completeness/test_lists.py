"""Lists page by page: followed where more is said, asked on where they may be cut, whole only where that is shown."""

from dataservice.client.contract.completeness.evidence import NOTHING_SEEN, Evidence
from dataservice.client.contract.completeness.lists import PAGES, PulledList
from dataservice.client.contract.decode import ListPage


def page(*records, more=None, further=()):
    return ListPage(records, "", more, further, len(records))


def pulled(pages, most=0, evidence=NOTHING_SEEN):
    state = PulledList(str, most)
    for each in pages:
        state = state.with_page(each, evidence)
    return state


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
    known = NOTHING_SEEN.after_list(state.most_rows, went_on=state.went_on)
    assert pulled([twenty], evidence=known).further == ()


def test_where_lists_were_seen_to_go_on_without_a_word_every_one_is_asked_on():
    assert pulled([page("a", "b")], evidence=Evidence(lists_go_on=True)).further == (("offset", "2"),)


def test_a_list_with_a_limit_is_asked_for_no_more_than_its_usual_pages():
    pages = [page(f"{n}", more=True, further=(("cursor", f"c{n}"),)) for n in range(PAGES)]
    state = pulled(pages, most=200)
    assert (state.further, state.is_complete) == ((), False)


def test_a_list_of_a_usual_size_may_be_cut_unless_a_longer_one_was_seen():
    fifty = page(*map(str, range(50)))
    assert not pulled([fifty], most=200).is_complete
    assert pulled([fifty], most=200, evidence=Evidence(most_listed=60)).is_complete


def test_a_list_without_a_limit_as_short_as_a_page_is_not_proven_whole_until_one_was_seen_to_end():
    two = page("a", "b")
    assert not pulled([two]).is_complete
    assert pulled([two], evidence=Evidence(lists_go_on=False)).is_complete
    assert pulled([page("a", "b", more=False)]).is_complete
    assert pulled([page("a", "b", "c", "d")]).is_complete
