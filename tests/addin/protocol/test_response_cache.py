"""Ready answers are kept no longer than they are fresh, and no more of them than fit."""

from addin.protocol.response_cache import Memo, Ready


def test_an_answer_is_found_while_it_is_fresh():
    memo = Memo(10_000)
    memo.put(b"call", Ready(b"{", fresh_until=100.0))
    assert memo.get(b"call", 99.9) == Ready(b"{", 100.0)
    assert memo.get(b"call", 100.0) is None


def test_another_call_is_not_found():
    assert Memo(10_000).get(b"call", 0.0) is None


def test_the_least_recently_used_goes_first():
    memo = Memo(1_000)
    for call in (b"a", b"b"):
        memo.put(call, Ready(bytes(200), 1.0))
    memo.get(b"a", 0.0)
    memo.put(b"c", Ready(bytes(200), 1.0))
    assert [memo.get(call, 0.0) is not None for call in (b"a", b"b", b"c")] == [True, False, True]


def test_an_answer_larger_than_the_memo_is_not_kept():
    memo = Memo(1_000)
    memo.put(b"a", Ready(bytes(2_000), 1.0))
    assert len(memo) == 0


def test_a_cleared_memo_is_empty():
    memo = Memo(1_000)
    memo.put(b"a", Ready(b"", 1.0))
    memo.clear()
    assert memo.get(b"a", 0.0) is None
