"""The catalogue page by page: asked on until it ends, read twice where its order changes, whole only where shown."""

import pytest

from dataservice.client.contract.completeness.catalogue import PulledCatalogue
from dataservice.client.contract.decode import CataloguePage
from dataservice.models import Signal
from tests.dataservice.client.parts.scripted import Scripted, answer


def page(slugs, **beside):
    return CataloguePage(tuple(Signal(slug=str(slug)) for slug in slugs), **beside)


def pulled(*pages):
    state = PulledCatalogue()
    for each in pages:
        assert state.offset is not None, "nothing more was to be asked"
        state = state.with_page(each)
    return state


def test_it_ends_where_the_service_says_so():
    first = pulled(page(range(500), total=900))
    assert first.offset == 500
    done = first.with_page(page(range(500, 900), total=900))
    assert (done.offset, done.may_be_cut, len(done.found)) == (None, False, 900)


def test_without_a_total_it_ends_with_a_page_that_is_not_full():
    first = pulled(page(range(500)))
    assert first.offset == 500
    assert first.with_page(page(range(500, 999))).offset is None
    assert pulled(page(range(100), limit=100)).offset == 100


def test_an_empty_page_is_the_last():
    assert pulled(page(range(500), total=9_000), page([], total=9_000)).offset is None


def test_one_that_changes_its_order_between_pages_is_read_once_more_and_whole_once_all_have_come():
    first = pulled(page("abc", total=5, limit=3), page("cd", total=5, limit=3))
    assert (first.offset, first.may_be_cut) == (0, True)
    done = first.with_page(page("edc", total=5, limit=3)).with_page(page("ab", total=5, limit=3))
    assert (done.offset, done.may_be_cut, sorted(done.found)) == (None, False, ["a", "b", "c", "d", "e"])


def test_a_page_of_known_signals_that_is_not_the_first_again_shows_that_the_order_changes():
    first = pulled(page("abc", total=5, limit=3), page("b", total=5, limit=3))
    assert (first.offset, first.may_be_cut) == (0, True)
    done = first.with_page(page("cde", total=5, limit=3)).with_page(page("ab", total=5, limit=3))
    assert (done.offset, done.may_be_cut) == (None, False)


def test_it_is_read_no_more_than_twice_and_counts_as_a_part_then():
    abc, cd = page("abc", total=5, limit=3), page("cd", total=5, limit=3)
    done = pulled(abc, cd, abc, cd)
    assert (done.offset, done.may_be_cut) == (None, True)


def test_one_that_changes_its_order_and_tells_no_total_counts_as_a_part():
    assert pulled(page("abc"), page("cde"), page("f")).may_be_cut


def test_one_that_grew_between_two_pages_is_whole_with_as_many_as_were_told():
    done = pulled(page("abc", total=5, limit=3), page("cde", total=5, limit=3))
    assert (done.offset, done.may_be_cut) == (None, False)


def test_twins_on_one_page_and_records_that_cannot_be_read_count_for_the_total():
    assert not pulled(page("aabb", total=5, limit=500, read=5)).may_be_cut


def test_a_limit_that_repeats_what_was_asked_for_does_not_show_that_few_are_all():
    first = pulled(page("abcde", limit=500))
    assert first.offset == 5
    assert first.with_page(page("abcde", limit=500)).may_be_cut


@pytest.mark.parametrize("name", ["f.six", "six"])
async def test_a_name_that_a_cut_catalogue_does_not_show_is_asked_for_itself(name):
    def reply(request):
        if request.url.path.endswith("/signals"):
            return answer([{"slug": slug} for slug in "abcde"])
        return answer({"slug": name, "latest": {"observed_at": "2026-08-01T00:00:00Z", "value": 6.0}})

    async with Scripted(reply).client() as client:
        assert (await client.signals()).may_be_cut
        assert (await client.signal(name)).latest.value == 6.0
