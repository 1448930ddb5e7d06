"""GET /v1/signals/{slug}/observations (contract: Endpoints, Limits)."""

from datetime import date, datetime, timedelta

from tests.contract.shapes import OBSERVATION, misfits


def days(observations):
    return [datetime.fromisoformat(observation["observed_at"]).date() for observation in observations]


def test_observations_are_date_times_with_numbers_oldest_first(pro, slug):
    observations = pro.data(f"/v1/signals/{slug}/observations")
    assert [misfits(observation, OBSERVATION) for observation in observations] == [[]] * len(observations)
    times = [datetime.fromisoformat(observation["observed_at"]) for observation in observations]
    assert times == sorted(set(times))


def test_a_page_has_at_most_a_thousand_observations(pro, long_slug):
    assert len(pro.data(f"/v1/signals/{long_slug}/observations")) == 1_000


def test_start_continues_where_a_page_ended(pro, long_slug):
    path = f"/v1/signals/{long_slug}/observations"
    first = pro.data(path)
    last_day = days(first)[-1]
    second = pro.data(path, start=last_day.isoformat())
    assert second[0]["observed_at"] <= first[-1]["observed_at"]
    assert days(second)[0] == last_day


def test_start_and_end_are_both_part_of_the_window(pro, long_slug):
    path = f"/v1/signals/{long_slug}/observations"
    some = days(pro.data(path))[10:20]
    window = pro.data(path, start=some[0].isoformat(), end=some[-1].isoformat())
    assert days(window) == some


def test_a_window_before_the_first_observation_is_empty(pro, slug):
    path = f"/v1/signals/{slug}/observations"
    before = days(pro.data(path))[0] - timedelta(days=1)
    assert pro.data(path, end=before.isoformat()) == []


def test_a_slug_may_hold_dots(pro, signals):
    dotted = [signal["slug"] for signal in signals if "." in signal["slug"]]
    for slug in dotted[:2]:
        assert pro.get(f"/v1/signals/{slug}/observations").status_code == 200
        assert pro.data(f"/v1/signals/{slug}")["slug"] == slug


def test_the_last_observation_is_the_latest_of_the_signal(pro, slug):
    latest = pro.data(f"/v1/signals/{slug}")["latest"]
    day = datetime.fromisoformat(latest["observed_at"]).date()
    assert pro.data(f"/v1/signals/{slug}/observations", start=day.isoformat())[-1] == latest


def test_a_window_reaches_to_the_ends_of_the_calendar(pro, slug):
    path = f"/v1/signals/{slug}/observations"
    assert pro.data(path, start=date.min.isoformat(), end=date.max.isoformat()) == pro.data(path)


def test_observations_of_an_unknown_signal_are_not_found(pro):
    assert pro.get("/v1/signals/no.such.signal/observations").status_code == 404
