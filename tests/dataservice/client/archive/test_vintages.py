"""Vintages as values: put together in any order, packed and unpacked, pruned."""

from __future__ import annotations

import random
from datetime import date, timedelta

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataservice.client.archive.codec import pack_first_look, pack_vintages, unpack_vintages
from dataservice.client.archive.coverage import Coverage
from dataservice.client.archive.facts import Facts
from dataservice.client.archive.looks import Look
from dataservice.client.archive.vintages import Vintages
from dataservice.client.contract.windows import Window
from dataservice.observations import Observations

FIRST = date(2026, 1, 1)
looks = st.lists(
    st.tuples(
        st.integers(0, 9),
        st.integers(0, 9),
        st.dictionaries(st.integers(0, 9), st.sampled_from([1.0, 2.0, float("nan")])),
    ),
    min_size=1,
    max_size=12,
)


def observations(found: dict[int, float]) -> Observations:
    days = sorted(found)
    times = np.array([FIRST + timedelta(days=day) for day in days], "datetime64[us]")
    return Observations(times, np.array([found[day] for day in days], np.float64))


def parts_of(told) -> list[Vintages]:
    """One part a look, an hour apart, each with what it changed."""
    known, parts = Vintages.nothing(), []
    for hour, (low, high, found) in enumerate(told):
        window = Window(FIRST + timedelta(days=min(low, high)), FIRST + timedelta(days=max(low, high)))
        moment = (hour + 1) * 3_600_000_000
        news = Look(window, observations(found).between(window.start, window.end)).news(known, moment)
        part = Vintages(news.facts, Coverage.never().at(window, moment))
        parts.append(part)
        known = known.union(part)
    return parts


def together(parts) -> Vintages:
    whole = Vintages.nothing()
    for part in parts:
        whole = whole.union(part)
    return whole


def same(one: Vintages, other: Vintages) -> bool:
    columns = [
        *((getattr(one.facts, name), getattr(other.facts, name)) for name in Facts.__slots__),
        *((getattr(one.looked, name), getattr(other.looked, name)) for name in Coverage.__slots__),
    ]
    return one.pruned_before == other.pruned_before and all(
        np.array_equal(mine, theirs, equal_nan=mine.dtype.kind == "f") for mine, theirs in columns
    )


@given(looks, st.randoms(use_true_random=False))
def test_parts_say_the_same_in_whatever_order_and_however_often_they_are_put_together(told, chance: random.Random):
    parts = parts_of(told)
    shuffled = [*parts, *chance.choices(parts, k=3)]
    chance.shuffle(shuffled)
    assert same(together(parts), together(shuffled))


@given(looks, st.integers(0, 13))
def test_packed_vintages_are_the_same_unpacked(told, hour):
    whole = together(parts_of(told)).pruned(hour * 3_600_000_000)
    assert same(unpack_vintages(pack_vintages(whole)), whole)


@given(looks, st.integers(0, 13))
def test_what_is_pruned_leaves_later_states_as_they_were(told, hour):
    whole, before = together(parts_of(told)), hour * 3_600_000_000
    pruned = whole.pruned(before)
    for later in range(hour, 14):
        moment = later * 3_600_000_000
        assert pruned.as_of(moment) == whole.as_of(moment)
        window = Window(FIRST, FIRST)
        assert pruned.looked.covers(window, moment) == whole.looked.covers(window, moment)
    if hour > whole.looked.first_look // 3_600_000_000:
        assert pruned.looked.first_look >= before


def test_other_bytes_are_refused():
    packed = pack_vintages(Vintages.nothing())
    for wrong in (b"", b"\x00", packed[:-3], msgspec.msgpack.encode((2, 0, 0, 1, 0, b""))):
        with pytest.raises((ValueError, msgspec.MsgspecError)):
            unpack_vintages(wrong)


LOOKED_AT = [Window(FIRST, date.max), Window(date.min, date.max), Window(FIRST, FIRST), Window(date.min, FIRST)]


@given(st.integers(1, 9), st.sampled_from([1.5, float("nan")]), st.booleans(), st.sampled_from(LOOKED_AT))
def test_a_first_look_is_packed_as_any_other_part(days, value, by_detail, window):
    found = observations(dict.fromkeys(range(days), value))
    looked = Coverage.never().at(window, 9)
    whole = Vintages(Facts.found(found, found.times[:0], 9, by_detail=by_detail), looked)
    assert same(unpack_vintages(pack_first_look(found, 9, window, by_detail=by_detail)), whole)
    assert same(unpack_vintages(pack_vintages(whole)), whole)
