"""Rows that are counted, and old days: what is known of a series bounds the pages that are told and sent."""

from datetime import UTC, date, datetime, timedelta

import httpx
import pytest

from dataservice.client import AsyncClient, Cost
from tests.attack.parts.cold_world import ColdWorld
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import KEY, URL, Scripted, answer, page
from tests.udfs.parts.given_series import canned
from udfs.cells import CellError
from udfs.engine.session import Call, Session

MONTH_S = timedelta(days=31).total_seconds()


class SilentWorld(ColdWorld):
    """The same service, whose pages of observations say nothing of what follows."""

    async def __call__(self, request):
        response = await super().__call__(request)
        body = response.json()
        if request.url.path.endswith("/observations"):
            body.pop("pagination", None)
        return httpx.Response(response.status_code, json=body, headers=response.headers)


async def told_and_spent(before, call, *, wait_s, world=ColdWorld):
    clock = Clock()
    service = world(clock)
    transport = httpx.MockTransport(service)
    async with AsyncClient(URL, KEY, transport=transport, clock=clock, sleep=clock.sleep) as client:
        session = Session(client, clock=clock)
        await session.answer([before])
        clock.advance(wait_s)
        cost, counted = (await session.cost([call])).cost, service.counted
        (outcome,) = await session.answer([call])
    assert not isinstance(outcome.result, CellError)
    return cost, service.counted - counted


@pytest.mark.parametrize(
    ("slug", "rows", "told"),
    [
        ("us-10y", "N2500", Cost(1, 3)),
        ("us-10y", "N400", Cost(1, 1)),
        ("eia.wti.spot", "N2000", Cost(1, 3)),
    ],
)
async def test_a_month_after_all_of_a_series_was_read_as_many_pages_are_told_as_its_rows_take(slug, rows, told):
    everything = Call("SIGNAL_HISTORY", [slug, "MAX"])
    cost, spent = await told_and_spent(everything, Call("SIGNAL_HISTORY", [slug, rows]), wait_s=MONTH_S)
    assert cost == told
    assert cost.at_least <= spent <= (cost.at_most or 0)


async def test_where_all_there_is_is_asked_again_others_may_have_been_added_before_it():
    everything, counted = Call("SIGNAL_HISTORY", ["us-cpi", "MAX"]), Call("SIGNAL_HISTORY", ["us-cpi", "N2500"])
    cost, spent = await told_and_spent(everything, counted, wait_s=MONTH_S)
    assert (cost, cost.number, spent) == (Cost(1, None), 1, 1)


@pytest.mark.parametrize("wait_s", [0.0, MONTH_S])
@pytest.mark.parametrize(("slug", "most"), [("us-10y", 3), ("cboe.vix", 2), ("us-cpi", 1), ("btc", 2)])
async def test_a_recent_history_however_old_tells_how_far_back_rows_are_counted(slug, most, wait_s):
    cost, spent = await told_and_spent(Call("SIGNAL", [slug]), Call("SIGNAL_HISTORY", [slug, "N2500"]), wait_s=wait_s)
    assert cost.at_least <= spent <= most


@pytest.mark.parametrize("rows", ["N400", "N2500"])
async def test_where_pages_say_nothing_of_what_follows_nobody_can_tell_how_many_there_will_be(rows):
    everything, counted = Call("SIGNAL_HISTORY", ["us-10y", "MAX"]), Call("SIGNAL_HISTORY", ["us-10y", rows])
    cost, spent = await told_and_spent(everything, counted, wait_s=MONTH_S, world=SilentWorld)
    assert (cost.at_least, cost.at_most) == (1, None)
    assert str(cost).startswith("at least 1 request")
    assert 1 <= spent <= 3


@pytest.mark.parametrize("dailies", [5, 20, 162])
@pytest.mark.parametrize("a_day", [2, 3, 24])
async def test_of_a_series_that_had_several_observations_a_day_once_so_many_rows_are_shown_as_asked_for(dailies, a_day):
    newest = datetime(2026, 8, 19)  # noqa: DTZ001 - naive UTC
    days = [newest - timedelta(days=back) for back in range(dailies)]
    dense = [newest - timedelta(days=dailies + back) for back in range(3)]
    before = [newest - timedelta(days=dailies + 3 + back) for back in range(400)]
    times = sorted([*days, *before, *(day + n * timedelta(days=1) / a_day for day in dense for n in range(a_day))])
    shown = canned(x={f"{time.isoformat()}Z": float(place) for place, time in enumerate(times)})
    for rows in (dailies, dailies + 1, dailies + a_day - 1, dailies + a_day + 1, dailies + 3 * a_day + 1):
        assert len(await shown("SIGNAL_HISTORY", "x", f"N{rows}")) - 1 == rows
    within = days[-1] - timedelta(days=1) + timedelta(hours=7)
    from_then = await shown("SIGNAL_HISTORY", "x", f"{within.isoformat()}Z")
    assert len(from_then) - 1 == sum(time >= within for time in times)


@pytest.mark.parametrize("rows", ["N1", "N5", "N30", "N364"])
@pytest.mark.parametrize("slug", ["minute", "btc", "us-10y"])
async def test_rows_that_come_with_the_signal_cost_one_request_however_dense_they_are(slug, rows):
    clock = Clock()
    world = ColdWorld(clock)
    async with AsyncClient(URL, KEY, transport=httpx.MockTransport(world), clock=clock, sleep=clock.sleep) as client:
        session = Session(client, clock=clock)
        (outcome,) = await session.answer([Call("SIGNAL_HISTORY", [slug, rows])])
        assert [target for target in world.targets if "?limit" not in target] == [f"/v1/signals/{slug}?history=365"]
        (whole,) = await session.answer([Call("SIGNAL_HISTORY", [slug, "MAX"])])
    (times, values), (all_times, all_values) = outcome.result.columns, whole.result.columns
    count = int(rows[1:])
    assert [*times] == [*all_times[-count:]]
    assert [*values] == [*all_values[-count:]]


TODAY = date(2026, 8, 31)
DAILY = [TODAY - timedelta(days=number) for number in reversed(range(2_500))]


def rows(days):
    return [{"observed_at": f"{day}T00:00:00Z", "value": float(day.toordinal())} for day in days]


def by_weeks(days):
    return list({day - timedelta(days=day.weekday()): day for day in days}.values())


def service_of(thin):
    def handle(request):
        if not request.url.path.endswith("/observations"):
            recent = rows(thin(DAILY[-365:]))
            return answer({"slug": "x", "name": "x", "latest": recent[-1], "history": recent})
        start, end = (date.fromisoformat(request.url.params[name]) for name in ("start", "end"))
        return page(rows(day for day in DAILY if start <= day <= end))

    return Scripted(handle)


async def test_a_day_of_a_series_whose_recent_history_shows_weeks_is_sought_in_a_few_years_around_it():
    service = service_of(by_weeks)
    clock = Clock(datetime(2026, 8, 31, 12, tzinfo=UTC).timestamp())
    async with service.client(clock) as client:
        (cell,) = await Session(client, clock=clock).answer([Call("SIGNAL", ["x", "value", "2022-12-31"])])
    assert cell.result == date(2022, 12, 31).toordinal()
    asked = [request.url.params for request in service.requests if "start" in request.url.params]
    assert min(each["start"] for each in asked) >= "2020-12-30"
    assert max(each["end"] for each in asked) < "2024-03"


@pytest.mark.parametrize("count", [60, 300])
async def test_the_last_rows_of_such_a_series_are_sought_in_as_many_weeks(count):
    service = service_of(by_weeks)
    clock = Clock(datetime(2026, 8, 31, 12, tzinfo=UTC).timestamp())
    async with service.client(clock) as client:
        (cell,) = await Session(client, clock=clock).answer([Call("SIGNAL_HISTORY", ["x", f"N{count}"])])
    assert [str(day)[:10] for day in cell.result.columns[0].tolist()] == [str(day) for day in DAILY[-count:]]
    starts = [
        date.fromisoformat(request.url.params["start"])
        for request in service.requests
        if request.url.params.get("start")
    ]
    assert min(starts) > TODAY - timedelta(days=2 * 7 * count)
