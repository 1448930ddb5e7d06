"""A call of SIGNAL that memory is enough for ends where it is read, with the very outcome of its coroutine."""

import asyncio
import math
from datetime import UTC, date, datetime, timedelta

import httpx
import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from dataservice.client import AsyncClient
from udfs.cells import serial
from udfs.engine.batch import Batch
from udfs.engine.binding import Bindings, EqualCalls
from udfs.engine.session import Call, Session

TODAY = date(2026, 11, 22)
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC).timestamp()
KEY = "ds_" + 40 * "0"

FIELDS = [
    None,
    "value",
    "VALUE",
    "observed_at",
    "previous",
    "change",
    "pct_change",
    "unit",
    "name",
    "age",
    "state",
    "no",
]
OPTIONS = [None, "", "err=text", "err=blank", "vintage=first", "asof=2026-11-10", "no option"]
OFFSETS = [-60, -40, -21, -20.5, -9, -1, 0, 9]
DAYS = [None, "-1Y", "2026-11-22", "nothing", *(serial(TODAY) + offset for offset in OFFSETS)]
CALLS = st.builds(
    lambda *args: Call("SIGNAL", args),
    st.sampled_from(["a.one", "a.two", "unknown.name", "ONE", "", 1]),
    st.sampled_from(FIELDS),
    st.sampled_from(DAYS),
    st.sampled_from(OPTIONS),
)
LATER_S = st.sampled_from([0.0, 800.0, 1_000.0, 90_000.0])
VALUES = st.lists(st.one_of(st.none(), st.floats(-5, 5)), max_size=30)


class Made:
    """A client on a service with two signals whose last observations are `values`, by day; the clock stands."""

    def __init__(self, values: list[float | None], *, has_latest: bool) -> None:
        days = [TODAY - timedelta(days=len(values) - 1 - number) for number in range(len(values))]
        self.history = [
            {"observed_at": f"{day}T00:00:00Z", "value": value} for day, value in zip(days, values, strict=True)
        ]
        self.has_latest = has_latest
        self.now = NOW
        self.client = AsyncClient("https://data.example", KEY, transport=httpx.MockTransport(self._answer), clock=self)

    def __call__(self) -> float:
        return self.now

    def _answer(self, request: httpx.Request) -> httpx.Response:
        slug = request.url.path.removeprefix("/v1/signals").strip("/").removesuffix("/observations")
        if slug not in ("", "a.one", "a.two"):
            return httpx.Response(404, json={"error": "unknown"})
        signal: dict[str, object] = {"slug": slug, "name": f"The {slug}", "unit": "USD", "shortcode": slug[2:].upper()}
        if not slug:
            return httpx.Response(200, json={"data": [], "total": 0})
        if request.url.path.endswith("/observations"):
            return httpx.Response(200, content=orjson.dumps({"data": self.history}))
        latest = self.history[-1] if self.history and self.has_latest else None
        return httpx.Response(
            200, content=orjson.dumps({"data": {**signal, "latest": latest, "history": self.history}})
        )

    def session(self, *, traced: bool) -> Session:
        return Session(self.client, clock=self, traced=traced)


@settings(max_examples=30, deadline=None)
@given(
    VALUES, st.booleans(), st.lists(CALLS, min_size=1, max_size=12), st.sampled_from([0.0, 800.0, 1_000.0, 90_000.0])
)
def test_calls_end_with_the_outcome_of_their_coroutine(values, has_latest, calls, later_s):
    async def compared() -> None:
        made = Made(values, has_latest=has_latest)
        await made.session(traced=True).answer(calls)  # now all is at hand, until it is old
        made.now += later_s
        at_once = [shown(each) for each in await made.session(traced=False).answer(calls)]
        alone = [shown((await made.session(traced=False).answer([call]))[0]) for call in calls]
        by_coroutine = [shown(each) for each in await made.session(traced=True).answer(calls)]
        assert at_once == by_coroutine == alone
        await made.client.aclose()

    asyncio.run(compared())


def test_what_memory_is_enough_for_is_never_begun():
    async def met() -> None:
        made = Made([1.0, None, 2.5, 4.0], has_latest=True)
        await made.session(traced=True).answer([Call("SIGNAL", ["a.one"]), Call("SIGNAL", ["a.two"])])
        day = serial(TODAY)
        enough = [["a.one"], ["a.two", "unit"], ["a.one", "change"], ["a.one", "value", day - 2], ["a.two", None, day]]
        others = [["a.one", "age"], ["a.new"], ["a.one", None, None, "vintage=first"], ["a.one", None, day - 90]]
        bindings = Bindings({"now": NOW, "today": TODAY, "client": made.client})
        equal = EqualCalls(bindings, Batch(made.client, NOW).at_hand)
        places = equal.places([Call("SIGNAL", args) for args in [*enough, *others]])
        assert equal.open == places[len(enough) :]
        assert [equal.run(place).result for place in places[: len(enough)]] == [4.0, "USD", 1.5, 1.0, 4.0]
        for place in equal.open:
            equal.run(place).close()
        await made.client.aclose()

    asyncio.run(met())


def shown(outcome):
    """All that a host learns; a number that is none equals itself."""
    result = "nan" if isinstance(outcome.result, float) and math.isnan(outcome.result) else repr(outcome.result)
    return result, outcome.fresh_for_s, outcome.stale
