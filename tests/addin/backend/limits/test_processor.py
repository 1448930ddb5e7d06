"""Processor time is shared: who has used least goes on first, and a small request is not held up by many large ones."""

import asyncio

import pytest

from addin.backend.limits.accounts import CROWD, Accounting, MemoryBudget
from addin.backend.limits.processor import HALF_LIFE_S, PLACE_S, ROUNDS_BETWEEN, UNPROVEN, CallerTurns, Processor
from udfs.engine.scheduler import TURNS, yielding


class Clock:
    """Time that goes on only when somebody works."""

    now = 0.0

    def __call__(self):
        return self.now

    def work(self, seconds):
        self.now += seconds


@pytest.fixture
def clock():
    return Clock()


async def worked(clock, budget, name, done, *, pieces, seconds, key=""):
    with budget.account(name) as account:
        if key:
            account.pay_as(key, is_only=False)
        async for _ in yielding(range(pieces), timer=clock):
            clock.work(seconds)
            done.append(name)


async def test_a_small_request_goes_before_the_rest_of_large_ones(clock):
    budget, done = MemoryBudget(2**20, Processor(timer=clock)), []
    large = [asyncio.ensure_future(worked(clock, budget, "large", done, pieces=50, seconds=0.02)) for _ in range(20)]
    for _ in range(1_000):
        if len(done) >= 40:
            break
        await asyncio.sleep(0)
    before = len(done)
    await worked(clock, budget, "small", done, pieces=3, seconds=0.004, key="tenant")
    assert len(done) - before - 3 <= 2, "at most the turn under way, and one more"
    await asyncio.gather(*large)
    assert done.count("large") == 1_000


async def test_who_has_used_a_fraction_of_the_heaviest_waits_no_rounds(clock):
    processor, rounds = Processor(timer=clock), 0
    heavy, heavy_too, light = (CallerTurns(processor, f"10.0.0.{number}") for number in range(3))
    for caller, name, used_s in ((heavy, "heavy", 3.0), (heavy_too, "heavy", 0.0), (light, "light", 0.2)):
        caller.pay_as(name)
        processor.count(caller, used_s)
    processor.callers = 3

    async def rounds_of(caller):
        before = rounds
        await processor.wait(caller)
        return rounds - before

    def tick():
        nonlocal rounds, ticking
        rounds += 1
        ticking = asyncio.get_running_loop().call_soon(tick)

    ticking = asyncio.get_running_loop().call_soon(tick)
    await processor.wait(heavy)
    clock.work(0.01)
    waited = await asyncio.gather(rounds_of(heavy_too), rounds_of(light), rounds_of(light))
    ticking.cancel()
    assert waited[0] >= ROUNDS_BETWEEN
    assert max(waited[1:]) <= 2


async def test_of_many_who_come_together_the_first_are_not_kept_until_the_last_are_done(clock):
    budget, ended_s = MemoryBudget(2**30, Processor(timer=clock)), []

    async def user(number):
        await worked(clock, budget, "office", [], pieces=12, seconds=0.002, key=f"user {number}")
        ended_s.append(clock.now)

    await asyncio.gather(*map(user, range(100)))
    assert ended_s[50] < 0.8 * ended_s[-1]


async def test_who_needs_more_than_others_so_far_is_done_before_all_who_came_later(clock):
    budget, ended = MemoryBudget(2**30, Processor(timer=clock)), []

    async def user(number):
        await worked(clock, budget, "office", [], pieces=12, seconds=0.012, key=f"user {number}")
        ended.append(number)

    await asyncio.gather(*map(user, range(50)))
    assert max(ended[:25]) < 30, "not all in turns until the end"


async def test_who_sends_one_goes_before_who_sends_a_hundred_though_nobody_has_used_anything_yet(clock):
    budget, done = MemoryBudget(2**30, Processor(timer=clock)), []
    many = [worked(clock, budget, "many", done, pieces=2, seconds=0.001, key="a heavy one") for _ in range(100)]
    one = worked(clock, budget, "one", done, pieces=3, seconds=0.004, key="a light one")
    turn = CallerTurns(budget.processor, "10.0.0.1")
    turn.pay_as("another")
    await asyncio.gather(turn.next(), *many, one)  # so that all wait for a turn from the beginning
    assert done[:3] == ["one"] * 3


async def test_who_comes_again_has_the_place_of_the_first_request_one_at_a_time(clock):
    budget = MemoryBudget(2**30, Processor(timer=clock))

    def place(asker, *, is_answered=True):
        with budget.account("office", asker) as account:
            account.is_answered = is_answered
            return account.turns.number, account.came_before

    first = place("ada")
    place("bob")
    assert (first, place("ada")) == ((0, False), (0, True))
    with budget.account("office", "ada") as one, budget.account("office", "ada") as another:
        assert (one.came_before, another.came_before) == (True, False)
    refused = place("eve", is_answered=False)
    assert place("eve") == (refused[0] + 1, False)
    clock.work(PLACE_S)
    assert place("bob")[1] is False, "that was long ago"


async def test_what_goes_on_for_a_key_counts_for_it_once_the_service_has_accepted_it(clock):
    processor, accepted = Processor(timer=clock), []
    turns = CallerTurns(processor, "10.0.0.1")
    turns.pay_later_as(lambda: "tenant" if accepted else "")
    later = turns.in_background()
    later.count(0.1)
    accepted.append("the service answered")
    later.count(0.2)
    assert processor.used_lately_s(UNPROVEN) == pytest.approx(0.1)
    assert processor.used_lately_s("tenant") == pytest.approx(0.2)


async def test_who_is_late_has_every_other_turn_but_what_goes_on_for_them_later_has_not(clock):
    budget, done = MemoryBudget(2**20, Processor(timer=clock)), []

    async def page(name, begin=lambda turns: turns):
        with budget.account(name) as account:
            account.pay_as(name, is_only=False)
            account.turns.count(0.4)
            account.turns.hurry(1.0)
            TURNS.set(begin(account.turns))
            async for _ in yielding(range(10), timer=clock):
                clock.work(0.02)
                done.append(name)

    others = [worked(clock, budget, f"{n}", done, pieces=100, seconds=0.02, key=f"user {n}") for n in range(20)]
    later = page("later", CallerTurns.in_background)
    await asyncio.gather(*others, page("late"), later)
    last = {name: max(place for place, each in enumerate(done) if each == name) for name in ("late", "later")}
    assert last["late"] < 80 < last["later"]


async def test_callers_without_a_proven_key_have_together_what_one_key_has(clock):
    budget, done = MemoryBudget(2**20, Processor(timer=clock)), []
    strangers = [worked(clock, budget, f"10.0.0.{n}", done, pieces=30, seconds=0.02) for n in range(10)]
    user = worked(clock, budget, "user", done, pieces=30, seconds=0.02, key="tenant")
    await asyncio.gather(*strangers, user)
    last = max(place for place, name in enumerate(done) if name == "user")
    assert 5 <= last - 30 + 1 <= 45, "they took turns, some at a time"


async def test_what_was_used_long_ago_counts_no_more(clock):
    processor, told = Processor(timer=clock), []
    processor.counted = lambda seconds, is_proven: told.append((seconds, is_proven))
    caller = CallerTurns(processor, "10.0.0.1")
    caller.count(0.4)
    assert processor.used_lately_s("10.0.0.1") == pytest.approx(0.4)
    clock.work(10 * HALF_LIFE_S)
    assert processor.used_lately_s("10.0.0.1") < 0.001
    assert (told, caller.used_s) == ([(0.4, False)], 0.4), "what it has used in all is still known"


async def test_who_leaves_while_waiting_for_a_turn_holds_up_nobody(clock):
    budget, done = MemoryBudget(2**20, Processor(timer=clock)), []
    large = [asyncio.ensure_future(worked(clock, budget, f"{n}", done, pieces=20, seconds=0.02)) for n in range(5)]
    for _ in range(1_000):
        if len(done) >= 10:
            break
        await asyncio.sleep(0)
    for each in large[1:4]:
        each.cancel()
    await asyncio.wait_for(asyncio.gather(*large, return_exceptions=True), 10)
    assert done.count("0") == done.count("4") == 20
    assert budget.processor.callers == 0


async def test_in_a_crowd_requests_begin_one_after_another_and_a_probe_goes_first():
    begun, budget = [], MemoryBudget(2**20)

    async def app(scope, receive, send):
        begun.append(scope["path"])
        await asyncio.sleep(0)

    accounting = Accounting(app, budget, send_timeout_s=1, goes_first=lambda request: request.url.path == "/health")

    async def request(path, number):
        client = (f"10.0.{number}.1", 1)
        headers = [(b"host", b"localhost")]
        scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": headers}
        await accounting({**scope, "client": client}, None, None)

    crowd = [request(f"/{number}", number) for number in range(200)]
    await asyncio.gather(*crowd, request("/health", 201))
    assert begun.index("/health") <= CROWD + 1
    assert len(begun) == 201


async def test_in_a_crowd_who_comes_again_for_the_rest_does_not_wait_behind_newcomers():
    begun, budget = [], MemoryBudget(2**20)

    async def app(scope, receive, send):
        begun.append(scope["path"])
        await asyncio.sleep(0)
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message):
        pass

    accounting = Accounting(app, budget, send_timeout_s=1, asker_of=lambda request: request.headers.get("asker", ""))

    async def request(path, asker):
        headers = [(b"host", b"localhost"), (b"asker", asker.encode())]
        scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}
        await accounting({**scope, "client": ("10.0.0.1", 1)}, None, send)

    await request("/first", "ada")
    await asyncio.gather(*(request(f"/{number}", f"{number}") for number in range(200)), request("/rest", "ada"))
    assert begun.index("/rest") <= CROWD + 3
    assert len(begun) == 202
