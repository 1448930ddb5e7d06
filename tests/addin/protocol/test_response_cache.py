"""Ready answers are kept no longer than they are fresh, and no more of them than fit."""

from hypothesis import given
from hypothesis import strategies as st

from addin.protocol.response_cache import CLOCK_STEP_S, Ready, ResponseCache


def test_an_answer_is_found_while_it_is_fresh():
    cache = ResponseCache(10_000)
    ready = Ready(b"{", fresh_until=100.0)
    cache.put(b"call", ready)
    assert cache.fresh(b"call", 99.9) is ready
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
    ready = Ready(b"[", fresh_until=14_900.0, made_at=14_000.0)
    cache.put(b"a", ready)
    assert cache.fresh(b"a", 14_000.0) is ready


def test_an_answer_that_was_replaced_never_comes_back():
    cache = ResponseCache(1_000)
    cache.put(b"a", Ready(bytes(200), 60.0))
    cache.put(b"b", Ready(bytes(50), 60.0))
    cache.put(b"a", Ready(b"{", 10.0))
    assert cache.fresh(b"a", 20.0) is None


MOST_BYTES = 1_600
CALLS = st.sampled_from([b"a", b"bb", b"ccc", b"dddd", b"eeeee"])
STEPS = st.one_of(
    st.tuples(
        st.just("put"),
        st.dictionaries(CALLS, st.sampled_from([0, 60, 250, 1_300]), min_size=1, max_size=4),
        st.sampled_from([0, 10, 60]),
    ),
    st.tuples(st.just("find"), st.lists(CALLS, max_size=4)),
    st.tuples(st.just("wait"), st.sampled_from([-30, 1, 15])),
)


class Known:
    """The last answer to each call, and how many bytes were put or used since it was."""

    def __init__(self) -> None:
        self.answers: dict[bytes, tuple[Ready, float]] = {}
        self._used_since: dict[bytes, int] = {}

    def use(self, calls: list[bytes], found: list[bytes]) -> None:
        """These are put or asked for together; an answer that is not fresh moves too, but is not found."""
        size = sum(size_of(call, self.answers[call][0]) for call in {*calls} & self.answers.keys())
        for call in self.answers:
            self._used_since[call] = size + (0 if call in found else self._used_since[call])

    def must_be_there(self, call: bytes) -> bool:
        """Whether all that was used since, itself included, fits into half of the cache."""
        return self._used_since[call] <= MOST_BYTES // 2


def size_of(call: bytes, ready: Ready) -> int:
    return len(call) + len(ready.head) + 200


@given(st.lists(STEPS, min_size=10, max_size=40))
def test_nothing_but_the_last_fresh_answers_is_found_and_none_is_lost_that_was_used_lately(steps):
    cache, known, now = ResponseCache(MOST_BYTES), Known(), 1_000.0
    for step, *given_ in steps:
        match step, given_:
            case "put", [sizes, fresh_s]:
                ready = [Ready(bytes(size), now + fresh_s, now) for size in sizes.values()]
                cache.put_all(list(sizes), ready)
                known.answers |= {call: (each, now) for call, each in zip(sizes, ready, strict=True)}
                known.use(list(sizes), list(sizes))
            case "find", [calls]:
                found = cache.all_fresh(calls, now)
                for call, ready in zip(calls, found, strict=True):
                    last, since = known.answers.get(call, (None, 0.0))
                    is_fresh = last is not None and now < last.fresh_until and since <= now + CLOCK_STEP_S
                    assert ready is (last if is_fresh and (ready or known.must_be_there(call)) else None)
                known.use(calls, [call for call, ready in zip(calls, found, strict=True) if ready is not None])
            case "wait", [seconds]:
                now += seconds
        assert len(cache) * 200 <= cache.held_bytes <= MOST_BYTES
