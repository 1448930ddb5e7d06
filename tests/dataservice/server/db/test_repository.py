"""Reading from the store: the windows, orders and bounds that the API's answers rest on."""

from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dataservice.server import Store, import_directory
from dataservice.server.timestamps import EPOCH, instant

# From before the first series to after the last, and not at midnight only.
MOMENTS = st.integers(-(10**16), 10**16).map(instant)
SERIES = st.dictionaries(MOMENTS, st.floats(allow_nan=False, allow_infinity=False), max_size=30)


def write(folder, observations):
    (folder / "observations").mkdir(parents=True, exist_ok=True)
    head = "slug,name,category,signal_type,source,is_premium\n"
    (folder / "signals.csv").write_text(f"{head}one,One,macro,rate,Us,false\ntwo,Two,fx,rate,Us,true\n")
    rows = "".join(f"{at.isoformat()},{value!r}\n" for at, value in observations.items())
    (folder / "observations/one.csv").write_text(f"observed_at,value\n{rows}")


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "service.db") as store:
        yield store


def pairs(observations):
    return [(o["observed_at"], o["value"]) for o in observations]


each_example_imports_anew = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@each_example_imports_anew
@given(SERIES, st.none() | MOMENTS, st.none() | MOMENTS, st.integers(1, 40), st.integers(0, 40))
def test_a_window_holds_exactly_what_lies_in_it_oldest_first(store, tmp_path, series, start, before, limit, offset):
    write(tmp_path / "data", series)
    import_directory(store, tmp_path / "data")
    inside = sorted(
        (at, value)
        for at, value in series.items()
        if (start is None or at >= start) and (before is None or at < before)
    )
    page = store.observations("one", start=start, before=before, limit=limit, offset=offset)
    assert (pairs(page.items), page.total) == (inside[offset : offset + limit], len(inside))


@each_example_imports_anew
@given(SERIES, st.integers(0, 40))
def test_history_is_the_end_of_the_series(store, tmp_path, series, history):
    write(tmp_path / "data", series)
    import_directory(store, tmp_path / "data")
    detail = store.signal("one", history=history)
    known = sorted(series.items())
    assert pairs(detail.history) == known[len(known) - min(history, len(known)) :]
    assert (None if detail.latest is None else pairs([detail.latest])[0]) == (known[-1] if known else None)


def test_signals_do_not_see_each_others_observations(store, tmp_path):
    write(tmp_path, {datetime(2026, 8, 1, tzinfo=UTC): 1.0})
    import_directory(store, tmp_path)
    assert store.signal("two", history=30).latest is None


def test_what_is_not_there_is_none(store):
    assert store.signal("one", history=1) is None
    assert store.observations("one", start=EPOCH, before=None, limit=1, offset=0) is None
    assert (store.indices(), store.currents()) == ([], [])
    assert store.is_empty()


def test_the_real_series_keep_their_oddities(shared_service):
    oil = shared_service.store.observations(
        "eia.wti.spot", start=datetime(2020, 4, 20, tzinfo=UTC), before=None, limit=1, offset=0
    )
    assert oil.items[0]["value"] < 0
    gold = shared_service.store.observations("wb.gold", start=None, before=None, limit=1, offset=0)
    assert gold.items[0]["observed_at"].year == 1833
