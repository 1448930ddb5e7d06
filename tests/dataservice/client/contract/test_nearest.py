"""The nearest name is the one that difflib finds, in a fraction of the time and never at the cost of others."""

import string
import time
from difflib import SequenceMatcher, get_close_matches

from hypothesis import given
from hypothesis import strategies as st

from dataservice.client.contract.nearest import SUGGESTING_BURST_S, NearestNames, Suggestions

names = st.lists(st.text(string.ascii_lowercase + "-.É", min_size=1, max_size=12), max_size=12, unique=True)


@given(names, st.text(string.ascii_lowercase + "-.", min_size=1, max_size=12))
def test_it_is_as_near_as_the_nearest_that_difflib_finds(known, name):
    folded = [each.casefold() for each in known]
    expected = get_close_matches(name, folded, n=1)
    found = NearestNames(known).nearest(name)
    assert (found is None) == (not expected)
    if found is not None:
        assert SequenceMatcher(None, found.casefold(), name).ratio() == SequenceMatcher(None, expected[0], name).ratio()


def test_among_a_hundred_thousand_names_one_is_found_in_a_moment():
    names = NearestNames(f"made.up.series-{n:06}" for n in range(100_000))
    began = time.process_time()
    assert names.nearest("made.up.serise-054321") == "made.up.series-054321"
    assert names.nearest("x" * 40_000) is None
    assert time.process_time() - began < 0.5


def test_names_are_suggested_only_while_that_takes_little_of_the_processor():
    now = [0.0]

    def timer():
        now[0] += SUGGESTING_BURST_S / 10  # each look takes so long
        return now[0]

    suggestions = Suggestions({f"series-{n}": f"series-{n}" for n in range(50)}, timer=timer)
    told = [suggestions.suggested(f"serise-{n}") for n in range(50)]
    assert told[:5] == [f"series-{n}" for n in range(5)]
    assert told.count(None) > 30
    assert suggestions.suggested("serise-0") == "series-0", "what was told once is remembered"
    now[0] += 60
    assert suggestions.suggested("serise-40") == "series-40"
