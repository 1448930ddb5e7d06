"""The made-up data are revised as time goes: a later day shows more, and some of it anew."""

import threading
from contextlib import closing
from datetime import UTC, date, datetime, time, timedelta
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataservice.server import DailySample, ServiceError, Store, import_directory
from dataservice.server.sample.directory import ESTIMATES, LATE, SEED, WITHDRAWN, as_known
from dataservice.server.sample.signals import SIGNALS, walk
from tests.embedded import SAMPLE_AS_OF

DAYS = st.dates(date(2023, 1, 1), date(2031, 12, 31))


def shown(slug: str, as_of: date) -> dict[date, float]:
    signal = next(signal for signal in SIGNALS if signal.slug == slug)
    known = as_known(walk(signal, as_of=as_of, seed=SEED), as_of=as_of, seed=SEED)
    return dict(zip(known.days, known.values, strict=True))


UNREVISED = [signal.slug for signal in SIGNALS if signal.slug not in {*ESTIMATES, *LATE, *WITHDRAWN}]


@settings(max_examples=20)
@given(DAYS, st.integers(1, 400), st.sampled_from(UNREVISED))
def test_other_series_only_grow(day, days, slug):
    earlier, later = shown(slug, day), shown(slug, day + timedelta(days=days))
    common = {at: value for at, value in later.items() if at <= max(earlier)}
    assert common == earlier


@settings(max_examples=20)
@given(DAYS.filter(lambda day: day.day < 12))
def test_on_the_twelfth_last_month_gets_its_second_estimate_and_the_month_before_its_third(day):
    before, after = shown("us-cpi", day), shown("us-cpi", day.replace(day=12))
    changed = [at for at in before if before[at] != after[at]]
    last = (day.replace(day=1) - timedelta(days=1)).replace(day=1)
    month_before = (last - timedelta(days=1)).replace(day=1)
    assert changed == [month_before, last]
    assert before.keys() == after.keys()


def test_a_value_that_is_late_appears_among_older_ones():
    assert date(2026, 8, 20) not in shown("eia.henry-hub", date(2026, 8, 24))
    assert max(shown("eia.henry-hub", date(2026, 8, 24))) == date(2026, 8, 24)
    assert date(2026, 8, 20) in shown("eia.henry-hub", date(2026, 8, 25))


def test_a_value_that_is_withdrawn_vanishes():
    assert date(2026, 8, 10) in shown("pm.rate-cut", date(2026, 8, 12))
    assert date(2026, 8, 10) not in shown("pm.rate-cut", date(2026, 8, 13))


def test_a_store_shows_the_data_of_each_new_day(tmp_path):
    now = datetime(2026, 8, 31, 23, 59, tzinfo=UTC)
    with Store(tmp_path / "service.db") as store:
        sample = DailySample(store, clock=lambda: now)
        assert sample.update()
        assert not sample.update(), "the same day is imported once"
        before = store.signal("us-cpi", history=365)
        now += timedelta(days=12)
        assert sample.update()
        after = store.signal("us-cpi", history=365)
    assert before.latest["observed_at"].date() == date(2026, 8, 1)
    assert after.latest["observed_at"].date() == date(2026, 9, 1)
    assert before.latest != after.history[-2], "August has its second estimate"


def test_a_new_day_is_shown_without_being_asked_for(tmp_path):
    looks, shown = count(), threading.Event()

    def clock() -> datetime:
        look = next(looks)
        if look == 2:  # the look after the one that found another day
            shown.set()
        return datetime.combine(SAMPLE_AS_OF + timedelta(days=min(look, 1)), time.min, UTC)

    with Store(tmp_path / "service.db") as store, DailySample(store, clock=clock).following(check_every_s=0.001):
        assert shown.wait(timeout=30)
        assert store.signal("btc-usd", history=1).latest["observed_at"].date() == SAMPLE_AS_OF + timedelta(days=1)


def test_data_that_are_not_made_up_are_not_replaced(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    header = "slug,name,category,signal_type,source,is_premium"
    (data / "signals.csv").write_text(f"{header}\nown,Own,macro,index,Us,false\n", encoding="utf-8")
    with closing(Store(tmp_path / "service.db")) as store:
        import_directory(store, data)
        with pytest.raises(ServiceError, match="holds data that are not made up"):
            DailySample(store)
