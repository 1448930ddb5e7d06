"""The cache's rules under any course of events: reads, time, refreshes, restarts, and a service with its moods."""

import asyncio
from dataclasses import dataclass, field

import httpx
from hypothesis import given, settings
from hypothesis import strategies as st

from dataservice.client import Answer, AsyncClient, SignalResource, Source
from dataservice.errors import DataServiceError
from dataservice.stores import MemoryStore
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer, refusal, signal

TTL_S = 900.0
MOODS = {
    "well": None,
    "gone": httpx.ConnectError("x"),
    "failing": refusal(503),
    "refusing": refusal(401, tier=""),
    "spent": refusal(429, remaining=0),
    "missing": refusal(404),
    "confused": httpx.Response(200, text="<html>"),
}

steps = st.lists(
    st.one_of(
        st.tuples(st.just("read"), st.sampled_from("abc")),
        st.tuples(st.just("wait"), st.sampled_from([1, 6, 400, 901, 90_000])),
        st.tuples(st.just("mood"), st.sampled_from(sorted(MOODS))),
        st.tuples(st.just("refresh"), st.booleans()),
        st.tuples(st.just("restart"), st.none()),
    ),
    max_size=30,
)


@dataclass
class World:
    """A service whose values are the times at which they were given, and a client that may be restarted."""

    clock: Clock = field(default_factory=Clock)
    store: MemoryStore = field(default_factory=MemoryStore)
    mood: str = "well"
    forced_at: float = float("-inf")
    given_at: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.service = Scripted(self._say)
        self.client = self._open()

    def _say(self, request: httpx.Request) -> httpx.Response:
        match MOODS[self.mood]:
            case None:
                slug = request.url.path.rpartition("/")[2]
                self.given_at[slug] = self.clock.now
                return answer(signal(slug, self.clock.now))
            case Exception() as error:
                raise error
            case response:
                return httpx.Response(response.status_code, headers=response.headers, content=response.content)

    def _open(self) -> AsyncClient:
        return self.service.client(self.clock, store=self.store, ttl_s=TTL_S)

    async def restart(self) -> None:
        await self.client.aclose()
        self.client, self.forced_at = self._open(), float("-inf")

    async def read(self, slug: str) -> None:
        asked, began = len(self.service.requests), self.clock.now
        try:
            found = await self.client.read(SignalResource(slug))
        except DataServiceError:
            assert slug not in self.given_at  # what was known once is never lost
            return
        self._check(found, slug, asked=len(self.service.requests) - asked)
        assert self.clock.now - began <= 20

    def _check(self, found: Answer, slug: str, *, asked: int) -> None:
        assert found.value.latest.value == self.given_at[slug]
        assert abs(found.fetched_at - self.given_at[slug]) < 0.001
        if found.stale_because is None:
            assert found.age_s(self.clock.now) < TTL_S
            assert found.fresh_until <= found.fetched_at + TTL_S
            assert found.fetched_at >= self.forced_at
            assert (asked == 0) == (found.source is not Source.NETWORK)
        else:
            assert self.mood != "well" or asked == 0
            assert not found.is_fresh(self.clock.now)


async def live(course: list[tuple]) -> None:
    world = World()
    for event, detail in course:
        match event:
            case "read":
                await world.read(detail)
            case "wait":
                world.clock.advance(detail)
            case "mood":
                world.mood = detail
            case "refresh":
                world.forced_at = world.clock.now if detail else world.forced_at
                await world.client.refresh(force=detail)
            case "restart":
                await world.restart()
    world.mood = "well"
    await world.client.refresh()
    for slug in "abc":  # whatever happened: after a refresh a service that is well is believed again
        found = await world.client.read(SignalResource(slug))
        assert found.stale_because is None
    await world.client.aclose()


@settings(deadline=None, max_examples=150)
@given(steps)
def test_no_course_of_events_breaks_a_rule(course):
    asyncio.run(live(course))
