"""Ready answers are kept no longer than they are fresh, and no more of them than fit."""

from addin.protocol.batch import Ready, ResponseCache


def test_an_answer_is_found_while_it_is_fresh():
    cache = ResponseCache(10_000)
    cache.put(b"call", Ready(b"{", fresh_until=100.0), 0.0)
    assert cache.fresh(b"call", 99.9) == Ready(b"{", 100.0)
    assert cache.fresh(b"call", 100.0) is None


def test_another_call_is_not_found():
    assert ResponseCache(10_000).fresh(b"call", 0.0) is None


def test_the_least_recently_used_goes_first():
    cache = ResponseCache(1_000)
    for call in (b"a", b"b"):
        cache.put(call, Ready(bytes(200), 1.0), 0.0)
    cache.fresh(b"a", 0.0)
    cache.put(b"c", Ready(bytes(200), 1.0), 0.0)
    assert [cache.fresh(call, 0.0) is not None for call in (b"a", b"b", b"c")] == [True, False, True]


def test_an_answer_larger_than_the_cache_is_not_kept():
    cache = ResponseCache(1_000)
    cache.put(b"a", Ready(bytes(2_000), 1.0), 0.0)
    assert len(cache) == 0


def test_a_cleared_cache_is_empty():
    cache = ResponseCache(1_000)
    cache.put(b"a", Ready(b"", 1.0), 0.0)
    cache.clear()
    assert cache.fresh(b"a", 0.0) is None


def test_an_answer_from_before_the_clock_was_set_back_is_not_fresh():
    cache = ResponseCache(1_000)
    cache.put(b"a", Ready(b"{", fresh_until=100_900.0), now=100_000.0)
    assert cache.fresh(b"a", 99_999.0) is not None  # the clock is only corrected
    assert cache.fresh(b"a", 14_000.0) is None
    cache.put(b"a", Ready(b"[", fresh_until=14_900.0), now=14_000.0)
    assert cache.fresh(b"a", 14_000.0) == Ready(b"[", 14_900.0)
