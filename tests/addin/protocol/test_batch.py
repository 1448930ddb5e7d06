"""A batch answers many calls in order; a bad one harms no other."""

import asyncio

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addin.protocol.batch import BadBatchError, calls_in_turns, read_call, read_calls
from addin.protocol.limits import BatchLimits
from udfs.engine.session import Call
from udfs.errors import CellError

JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)

LIMITS = BatchLimits()


def calls_in(body):
    return asyncio.run(calls_in_turns(body, LIMITS))


def test_calls_are_kept_as_their_own_text():
    assert calls_in(b'{"more": 1, "calls": [ ["A", 1.50] , []]}') == [b'["A", 1.50]', b"[]"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"{}",
        b'{"calls": 1}',
        b'{"calls": null}',
        b'{"calls": {"0": []}}',
        b'{"calls": [[1,]]}',
        b'{"calls": []} x',
        b'{"calls": [["a\nb"]]}',
        b"\xff\xfe",
        b'{"calls": ' + b"[" * 100_000,
        b'{"calls": [' + b"[" * 100_000 + b"]" * 100_000 + b"]}",
    ],
    ids=lambda body: repr(body[:24]),
)
def test_what_is_no_batch_is_refused(body):
    with pytest.raises(BadBatchError):
        calls_in(body)


def test_calls_that_json_has_no_form_for_fail_alone():
    good, *bad = calls_in(rb'{"calls": [["A", 1.5, "x"], ["B", Infinity], NaN, ["C", "\udc00"]]}')
    assert read_call(good, LIMITS) == Call("A", [1.5, "x"])
    assert all(read_call(call, LIMITS).message.startswith("the call cannot be read") for call in bad)


@given(st.lists(JUNK, max_size=5))
def test_every_json_list_is_a_batch_and_every_item_a_call_or_an_error(items):
    calls = calls_in(orjson.dumps({"calls": items}))
    assert [orjson.loads(call) for call in calls] == items
    for item, text in zip(items, calls, strict=True):
        call = read_call(text, LIMITS)
        if isinstance(item, list) and item and isinstance(item[0], str):
            assert call == Call(item[0], item[1:])
        else:
            assert isinstance(call, CellError)


@pytest.mark.parametrize(
    "text", [b'["\xff"]', b'["\\ud800"]', b"[1e999]", b'["SIGNAL", 1e999]', b"7", b'"SIGNAL"', b"[]"]
)
def test_an_unreadable_call_is_an_error_of_its_own(text):
    error = read_call(text, LIMITS)
    assert isinstance(error, CellError)
    assert error.code == "#VALUE!"


@given(st.binary(max_size=60))
def test_no_bytes_crash_the_reading(body):
    try:
        for call in calls_in(b'{"calls":[' + body + b"]}"):
            read_call(call, LIMITS)
    except BadBatchError:
        pass


TEXTS = st.one_of(
    JUNK.map(orjson.dumps),
    st.lists(JUNK, max_size=3).map(lambda args: orjson.dumps(["SIGNAL", *args])),
    st.sampled_from([b'["\xff"]', b'["\\ud800"]', b'["A", 1e999]', b"[[]]", b'["A", NaN]']),
    st.just(b'["A", "' + 40_000 * b"x" + b'"]'),
    st.just(b'["A"' + 60_000 * b",1" + b"]"),
)


@given(st.lists(TEXTS, max_size=6))
def test_calls_are_read_together_as_one_by_one(texts):
    assert read_calls(texts, LIMITS) == [read_call(text, LIMITS) for text in texts]
