"""One value for each observation, wherever it is read; a part is never the whole; what was known is never lost."""

from datetime import UTC, date, datetime, timedelta

import httpx
import pytest

from dataservice.client import HistoryResource, IndicesResource, SignalResource, WireResource
from dataservice.errors import DataServiceError, MalformedAnswerError
from dataservice.stores import MemoryStore
from tests.attack.client.truth import attack
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer, page, quota, refusal

FIRST = date(2018, 1, 1)
WIRE = [{"id": "1", "kind": "news", "published_at": "2026-08-16T00:00:00Z"}]
X = SignalResource("x")


class World:
    """A service whose signals all have one daily series up to the clock's day, in pages of 1,000."""

    def __init__(self, days: int = 3_150) -> None:
        self.values = [float(n) for n in range(days)]
        self.down_after: int | None = None
        self.service = Scripted(self._say)

    def _say(self, request: httpx.Request) -> httpx.Response:
        if self.down_after is not None:
            if self.down_after == 0:
                return refusal(500)
            self.down_after -= 1
        rows = [
            {"observed_at": f"{FIRST + timedelta(days=n)}T00:00:00Z", "value": value}
            for n, value in enumerate(self.values)
        ]
        if not request.url.path.endswith("/observations"):
            return answer({"slug": request.url.path.split("/")[3], "latest": rows[-1], "history": rows[-365:]})
        first, last = request.url.params.get("start", ""), request.url.params.get("end", "9999") + "T99"
        return page([row for row in rows if first <= row["observed_at"] <= last])

    def day(self, back: int) -> date:
        """The day of the observation so far back."""
        return FIRST + timedelta(days=len(self.values) - back)


def at(found, day: date) -> float:
    return float(found.between(day, day).values[0])


@pytest.mark.parametrize("back", [2, 31, 200, 364])
async def test_a_revision_that_comes_with_the_detail_shows_in_every_history(back):
    clock, world, store = Clock(), World(), MemoryStore()
    five_years = HistoryResource("x", date(2021, 8, 1))
    async with world.service.client(clock, store=store) as client:
        await client.read(five_years)
        clock.advance(1_000)
        world.values[-back] = world.values[5 * -365] = 1e6
        detail = (await client.read(X)).value
        assert at(detail.history, world.day(back)) == 1e6
        found = (await client.read(five_years)).value
        assert at(found, world.day(back)) == 1e6
        assert at(found, world.day(5 * 365)) == 1e6  # it was made doubtful, and asked again
        assert [state.revised_at for state in client.states() if state.revised_at] == [clock.now]
    async with world.service.client(clock, store=store) as restarted:
        assert at((await restarted.read(five_years)).value, world.day(back)) == 1e6


async def test_a_revision_that_another_process_noticed_shows_in_what_was_cut_before():
    clock, world, store = Clock(), World(), MemoryStore()
    five_years = HistoryResource("x", date(2021, 8, 1))
    async with world.service.client(clock, store=store) as client, world.service.client(clock, store=store) as other:
        for each in (client, other):  # the detail and the window were seen to agree
            await each.read(five_years)
            await each.read(X)
        clock.advance(1_000)
        world.values[-5] = 1e6
        await other.read(X)
        world.down_after = 0
        found, detail = await client.last_known(five_years), await client.last_known(X)
        assert (at(found.value, world.day(5)), at(detail.value.history, world.day(5))) == (1e6, 1e6)


async def test_an_old_detail_shows_what_another_process_pulled_since():
    clock, world, store = Clock(), World(), MemoryStore()
    five_years = HistoryResource("x", date(2021, 8, 1))
    async with world.service.client(clock, store=store) as client, world.service.client(clock, store=store) as other:
        await client.read(X)
        await client.read(five_years)
        clock.advance(1_000)
        world.values[-5] = 1e6
        await other.read(five_years)
        world.down_after = 0
        detail, found = await client.last_known(X), await client.last_known(five_years)
        assert (at(detail.value.history, world.day(5)), at(found.value, world.day(5))) == (1e6, 1e6)


async def test_an_old_detail_that_windows_contradict_shows_what_they_told_since_in_a_new_process():
    clock, world, store = Clock(), World(), MemoryStore()
    five_years = HistoryResource("x", date(2021, 8, 1))
    async with world.service.client(clock, store=store) as client:
        await client.read(X)
    clock.advance(1_000)
    world.values[-5] = 1e6
    async with world.service.client(clock, store=store) as other:
        await other.read(five_years)
    world.down_after = 0
    async with world.service.client(clock, store=store) as restarted:
        detail, found = await restarted.last_known(X), await restarted.last_known(five_years)
    assert at(found.value, world.day(5)) == 1e6
    assert not len(shown := detail.value.history.between(world.day(5), world.day(5))) or shown.values[0] == 1e6


async def test_an_old_detail_shows_a_newer_history_that_only_the_store_has():
    clock, world, store = Clock(), World(), MemoryStore()
    async with world.service.client(clock, store=store) as client, world.service.client(clock, store=store) as other:
        await client.read(X)
        await client.read(HistoryResource("x", date(2021, 8, 1)))
        clock.advance(1_000)
        world.values[-5] = 1e6
        await other.read(HistoryResource("x", date(2021, 8, 1)))
        world.down_after = 0
        assert at((await client.read(X)).value.history, world.day(5)) == 1e6


@pytest.mark.parametrize("status", [401, 402, 500])
async def test_while_nothing_may_be_asked_the_store_is_looked_into_for_what_others_fetched(status):
    clock, store = Clock(), MemoryStore()
    refuses = Scripted.saying([answer(WIRE), refusal(status)])
    async with refuses.client(clock, store=store) as client:
        await client.read(WireResource())
        clock.advance(1_000)
        assert (await client.read(WireResource())).stale_because is not None
        async with Scripted(lambda _: answer([])).client(clock, store=store) as other:
            await other.read(WireResource())
        found = await client.read(WireResource())
        assert (len(found.value), found.stale_because, found.requests) == (0, None, 0)


async def test_a_history_that_is_newer_corrects_the_detail_also_after_a_restart():
    clock, world, store = Clock(), World(), MemoryStore()
    async with world.service.client(clock, store=store) as client:
        await client.read(X)
        world.values[-1] = 7.5
        await client.refresh(force=True)
        await client.read(HistoryResource("x", date(2024, 1, 1)))
        assert (await client.last_known(X)).value.latest.value == 7.5
    async with world.service.client(clock, store=store) as restarted:
        found = await restarted.last_known(X)
        whole = await restarted.last_known(HistoryResource("x", date(2025, 1, 1)))
        assert at(whole.value, world.day(1)) == 7.5
        assert (await restarted.last_known(X)).value.latest.value == 7.5
        assert found is not None


async def test_a_fresh_detail_is_the_check_of_a_history():
    clock, world = Clock(), World()
    async with world.service.client(clock) as client:
        await client.read(HistoryResource("x"))
        clock.advance(1_000)
        world.values[-1] = 7.5
        await client.read(X)
        found = await client.read(HistoryResource("x"))
        assert (at(found.value, world.day(1)), found.requests) == (7.5, 0)


async def test_a_fresh_detail_of_another_process_is_the_check_of_a_history():
    clock, world, store = Clock(), World(), MemoryStore()
    async with world.service.client(clock, store=store) as client, world.service.client(clock, store=store) as other:
        await client.read(X)
        await client.read(HistoryResource("x"))
        clock.advance(1_000)
        world.values[-1] = 7.5
        await other.read(X)
        found = await client.read(HistoryResource("x"))
        assert (at(found.value, world.day(1)), found.requests) == (7.5, 0)


@pytest.mark.parametrize("known", [True, False])
async def test_a_detail_that_another_process_fetched_a_moment_ago_saves_the_check_of_a_history(known):
    clock, world, store = Clock(), World(), MemoryStore()
    async with world.service.client(clock, store=store) as client, world.service.client(clock, store=store) as other:
        if known:
            await client.read(X)
        await client.read(HistoryResource("x"))
        clock.advance(1_000)
        await client.last_known(HistoryResource("x"))  # no detail so far; looks that follow at once are spared
        await other.read(X)
        assert (await client.read(HistoryResource("x", date(2020, 1, 1)))).requests == 0


async def test_many_new_observations_behind_a_provisional_one_are_no_revision_to_whoever_has_an_old_detail():
    clock, world, store = Clock(), World(), MemoryStore()
    async with world.service.client(clock, store=store) as client, world.service.client(clock, store=store) as other:
        await other.read(HistoryResource("x"))
        await client.read(X)
        clock.advance(1_000)
        world.values[-1] = 7.5
        world.values += [1.0] * 40
        await other.read(HistoryResource("x"))
        found = await client.read(HistoryResource("x"))
        assert (at(found.value, world.day(41)), found.requests) == (7.5, 0)


async def test_a_closed_window_is_not_the_last_known_value_of_one_that_goes_on():
    clock, world = Clock(), World()
    async with world.service.client(clock) as client:
        await client.read(HistoryResource("x", date(2019, 1, 1), date(2020, 12, 31)))
        world.down_after = 0
        with pytest.raises(DataServiceError):
            await client.read(HistoryResource("x", date(2020, 1, 1)))
        with pytest.raises(DataServiceError):
            await client.read(HistoryResource("x", date(2020, 1, 1), date(2021, 6, 30)))


@pytest.mark.parametrize("pages", [1, 2, 3])
async def test_of_a_pull_that_broke_off_only_whole_windows_are_shown(pages):
    clock, world, store = Clock(), World(), MemoryStore()
    world.down_after = pages
    async with world.service.client(clock, store=store) as client:
        with pytest.raises(DataServiceError):
            await client.read(HistoryResource("x"))
    async with world.service.client(clock, store=store) as client:
        last = FIRST + timedelta(days=pages * 999 - 1)
        assert (await client.read(HistoryResource("x", FIRST, last))).requests == 0
        with pytest.raises(DataServiceError):
            await client.read(HistoryResource("x", FIRST, last + timedelta(days=5)))


async def test_what_was_known_to_the_newest_day_stays_the_last_known_value_of_later_days():
    clock, world, store = Clock(), World(), MemoryStore()
    yesterday = datetime.fromtimestamp(clock.now, UTC).date() - timedelta(days=1)
    async with world.service.client(clock, store=store) as client:
        await client.read(HistoryResource("x", date(2025, 1, 1), yesterday))
    clock.advance(86_400)
    world.down_after = 0
    async with world.service.client(clock, store=store) as client:
        found = await client.read(HistoryResource("x", date(2025, 1, 2), yesterday + timedelta(days=1)))
        assert found.stale_because is not None
        assert found.value.last_day == world.day(1)


async def test_a_window_inside_the_detail_survives_it():
    clock, world, store = Clock(), World(), MemoryStore()
    async with world.service.client(clock, store=store) as client:
        await client.read(X)
    clock.advance(1_000)
    world.down_after = 0
    async with world.service.client(clock, store=store) as client:
        found = await client.read(HistoryResource("x", world.day(100)))
        assert (len(found.value.between(world.day(100))), found.stale_because is None) == (100, False)


@pytest.mark.parametrize("count", [3, 200])
async def test_a_list_since_a_day_is_the_last_known_one_of_the_next_day(count):
    clock, store = Clock(), MemoryStore()
    items = [{"id": str(n), "kind": "news", "published_at": f"2026-08-16T{n % 24:02}:00:00Z"} for n in range(count)]
    up = Scripted(lambda _: answer(items))
    async with up.client(clock, store=store) as client:
        await client.read(WireResource(kind="news", since=date(2025, 8, 17)))
    clock.advance(86_400)
    down = Scripted(lambda _: refusal(500))
    async with down.client(clock, store=store) as client:
        found = await client.read(WireResource(kind="news", since=date(2025, 8, 18)))
        assert (len(found.value), found.stale_because is None) == (count, False)


async def test_a_clock_that_is_set_forward_and_back_keeps_nothing_fresh_for_longer():
    clock, world, store = Clock(), World(), MemoryStore()
    clock.advance(86_400 * 400)
    async with world.service.client(clock, store=store) as client:
        await client.read(HistoryResource("x"))
        await client.read(X)
        await client.refresh(force=True)
        clock.advance(-86_400 * 400)
        for resource in (X, HistoryResource("x")):
            assert (await client.read(resource)).fresh_for_s(clock.now) <= 900.001
        clock.advance(901)
        assert client.peek(X) is None
        assert (await client.read(X)).requests == 1


async def test_a_history_from_a_clock_that_was_ahead_is_pulled_again_in_a_new_process():
    clock, world, store = Clock(), World(), MemoryStore()
    clock.advance(86_400 * 400)
    async with world.service.client(clock, store=store) as client:
        await client.read(HistoryResource("x"))
    clock.advance(-86_400 * 400)
    async with world.service.client(clock, store=store) as client:
        found = await client.read(HistoryResource("x"))
        assert found.requests > 0
        assert 0 < found.fresh_for_s(clock.now) <= 900


BAD = [
    {"slug": "x", "n": 10**40},
    {"slug": "y", "latest": None},
    *(
        {"slug": "x", "history": [{"observed_at": text, "value": 1}]}
        for text in ("", "today", "NaT", "2026", "2026-08-01T00", "0000-12-31T00:00:00+14:00")
    ),
]


@pytest.mark.parametrize("bad", BAD)
async def test_an_answer_that_cannot_be_read_leaves_the_last_known_value(bad):
    clock = Clock()
    good = {"slug": "x", "latest": {"observed_at": "2026-08-01", "value": 2.0}}
    service = Scripted.saying([answer(good), answer(bad)])
    async with service.client(clock) as client:
        await client.read(X)
        clock.advance(1_000)
        found = await client.read(X)
        assert found.value.latest.value == 2.0
        assert isinstance(found.stale_because, MalformedAnswerError)


@pytest.mark.parametrize(
    "body", [b"[" * 100_000, b'{"data":[{"name":"7"}]}', b'{"data":[{"slug":"a","n":1%s}]}' % (b"0" * 30)]
)
async def test_a_list_that_cannot_be_read_is_an_error_of_the_client(body):
    service = Scripted(lambda _: httpx.Response(200, content=body, headers=quota()))
    async with service.client() as client:
        with pytest.raises(MalformedAnswerError):
            await client.read(IndicesResource())


async def test_what_another_process_fetched_between_the_look_and_the_lease_is_not_fetched_again():
    class Late(MemoryStore):
        """Another process ends its fetch right after this one looked."""

        shared = True
        meanwhile = None

        async def get(self, name):
            found = await super().get(name)
            if self.meanwhile is not None and found is None and "/signals/" in name:
                go, self.meanwhile = self.meanwhile, None
                await go()
            return found

    clock, world = Clock(), World()
    store = Late(clock=clock)
    for resource in (X, HistoryResource("x", date(2020, 1, 1))):
        async with (
            world.service.client(clock, store=store) as other,
            world.service.client(clock, store=store) as client,
        ):
            store.meanwhile = lambda other=other, resource=resource: other.read(resource)
            assert (await client.read(resource)).requests == 0


@pytest.mark.parametrize("seed", range(2))
async def test_whatever_happens_nothing_wrong_is_shown_and_nothing_is_lost(seed):
    check = await attack(150, "memory", seed)
    assert (check.first_wrong, check.figures["read"] > 20) == ("", True)


async def test_in_a_long_life_nothing_wrong_is_shown_and_nothing_is_lost():
    check = await attack(400, "memory", 1, clocks=False)
    assert (check.first_wrong, check.figures["read"] > 100) == ("", True)
