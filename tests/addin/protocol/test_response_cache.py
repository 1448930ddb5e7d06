"""Ready answers are kept no longer than they are fresh, and no more of them than fit."""

from cachetools import Cache, LRUCache
from hypothesis import given
from hypothesis import strategies as st

from addin.protocol.response_cache import CLOCK_STEP_S, Ready, ResponseCache


def test_an_answer_is_found_while_it_is_fresh():
    cache = ResponseCache(10_000)
    cache.put(b"call", Ready(b"{", fresh_until=100.0))
    assert cache.fresh(b"call", 99.9) == Ready(b"{", 100.0)
    assert cache.fresh(b"call", 100.0) is None


def test_another_call_is_not_found():
    assert ResponseCache(10_000).fresh(b"call", 0.0) is None


def test_the_least_recently_used_goes_first():
    cache = ResponseCache(1_000)
    for call in (b"a", b"b"):
        cache.put(call, Ready(bytes(200), 1.0))
    cache.fresh(b"a", 0.0)
    cache.put(b"c", Ready(bytes(200), 1.0))
    assert [cache.fresh(call, 0.0) is not None for call in (b"a", b"b", b"c")] == [True, False, True]


def test_an_answer_larger_than_the_cache_is_not_kept():
    cache = ResponseCache(1_000)
    cache.put(b"a", Ready(bytes(2_000), 1.0))
    assert len(cache) == 0


def test_a_cleared_cache_is_empty():
    cache = ResponseCache(1_000)
    cache.put(b"a", Ready(b"", 1.0))
    cache.clear()
    assert cache.fresh(b"a", 0.0) is None


def test_an_answer_from_before_the_clock_was_set_back_is_not_fresh():
    cache = ResponseCache(1_000)
    cache.put(b"a", Ready(b"{", fresh_until=100_900.0, made_at=100_000.0))
    assert cache.fresh(b"a", 99_999.0) is not None  # the clock is only corrected
    assert cache.fresh(b"a", 14_000.0) is None
    cache.put(b"a", Ready(b"[", fresh_until=14_900.0, made_at=14_000.0))
    assert cache.fresh(b"a", 14_000.0) == Ready(b"[", 14_900.0, 14_000.0)


CALLS = st.sampled_from([b"a", b"bb", b"ccc", b"dddd"])
STEPS = st.one_of(
    st.tuples(st.just("put"), CALLS, st.integers(0, 400), st.integers(0, 60)),
    st.tuples(st.just("find"), st.lists(CALLS, max_size=4)),
    st.tuples(st.just("wait"), st.integers(-30, 30)),
)


@given(st.lists(STEPS, max_size=40))
def test_what_is_kept_and_what_goes_is_as_in_any_cache_of_the_least_used(steps):
    cache, model, now = ResponseCache(1_000), LRUCache(1_000, getsizeof=lambda kept: kept[2]), 1_000.0
    for step, *given_ in steps:
        match step, given_:
            case "put", [call, size, fresh_s]:
                ready = Ready(bytes(size), now + fresh_s, now)
                cache.put(call, ready)
                if len(call) + size + 200 <= 1_000:
                    model.pop(call, None)
                    model[call] = (ready, now, len(call) + size + 200)
            case "find", [calls]:
                expected = []
                for call in calls:
                    ready, since, _ = Cache.__getitem__(model, call) if call in model else (None, 0.0, 0)
                    is_fresh = ready is not None and now < ready.fresh_until and since <= now + CLOCK_STEP_S
                    expected.append(model[call][0] if is_fresh else None)  # only this counts as a use
                assert cache.all_fresh(calls, now) == expected
            case "wait", [seconds]:
                now += seconds
        assert cache.held_bytes == model.currsize
