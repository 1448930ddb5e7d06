"""Sessions: every call ends in an outcome, says how long it may be kept, and charges each request once."""

import gc
from datetime import UTC, datetime

import pytest

import udfs
from dataservice.client import SignalDetail, SignalResource
from dataservice.errors import DeadlineExceededError
from dataservice.models import Signal
from tests.udfs.parts.asking import Canned, session_on
from tests.udfs.parts.reader import NOW, MemoryReader, answered
from udfs import Call, Session
from udfs.cells import CellError, ErrorCode
from udfs.engine.outcome import KEEP_WITHOUT_ANSWER_S
from udfs.engine.run import Run
from udfs.errors import ArgumentError, NoDataError


class Clock:
    """Seconds since the epoch that pass only when told."""

    def __init__(self) -> None:
        self.now = datetime(2026, 8, 31, 12, tzinfo=UTC).timestamp()

    def __call__(self) -> float:
        return self.now


async def one(session, function_id, *args):
    (outcome,) = await session.answer([Call(function_id, args)])
    return outcome


async def test_an_outcome_may_be_kept_as_long_as_the_answer_stays_fresh(service):
    clock = Clock()
    async with session_on(service, clock=clock) as session:
        assert (await one(session, "SIGNAL", "us-cpi")).fresh_for_s == 900
        clock.now += 300
        assert (await one(session, "SIGNAL", "us-cpi", "name")).fresh_for_s == 600
        assert (await one(session, "SIGNAL", "us-cpi", "age")).result == 300


async def test_an_old_catalogue_that_settled_the_name_shortens_nothing(service):
    clock = Clock()
    async with session_on(service, clock=clock) as session:
        await one(session, "SIGNALS")
        clock.now += 50_000
        assert (await one(session, "SIGNAL", "WTI")).fresh_for_s == 900


async def test_an_outcome_rests_on_its_oldest_answer(service):
    clock = Clock()
    async with session_on(service, clock=clock) as session:
        await one(session, "SIGNAL", "us-cpi")
        clock.now += 300
        assert (await one(session, "SIGNAL", [["us-cpi"], ["wb.gold"]])).fresh_for_s == 600


async def test_calls_that_fail_leave_nothing_for_the_garbage_collector(service):
    async with session_on(service) as session:
        calls = [
            *(Call("SIGNAL", ["us-cpi", "nothing"]), Call("SIGNAL", ["us-cpi", "value", "1950-01-01"])),
            *(Call("SPARK", ["no-such-signal", n]) for n in range(2, 50)),
            *(Call("SIGNAL_HISTORY", ["no-such-signal", f"-{n}Y"]) for n in range(1, 50)),
        ]
        await session.answer(calls)
        gc.collect()
        gc.disable()
        try:
            for _ in range(5):
                assert all(isinstance(outcome.result, CellError) for outcome in await session.answer(calls))
            assert gc.collect() < len(calls)
        finally:
            gc.enable()


def test_an_error_is_kept_without_frames_also_where_it_stands_behind_itself():
    error, cause = NoDataError("no value"), LookupError("nothing there")
    for each in (error, cause):
        try:
            raise each
        except LookupError:
            assert each.__traceback__
    error.__cause__, cause.__context__ = cause, error
    run = Run(None)
    run.fail(error)
    assert run.error is error
    assert error.__traceback__ is cause.__traceback__ is None


async def test_errors_may_be_kept_for_a_minute_and_failures_of_the_service_not_at_all(service):
    async with session_on(service) as session:
        assert (await one(session, "SIGNAL", "us-cpi", "nothing")).fresh_for_s == KEEP_WITHOUT_ANSWER_S
        assert (await one(session, "SIGNAL")).fresh_for_s == KEEP_WITHOUT_ANSWER_S
        assert (await one(session, "NOTHING")).fresh_for_s == KEEP_WITHOUT_ANSWER_S
    assert (await one(Canned({"/v1/signals/x.y": 402}).session, "SIGNAL", "x.y")).fresh_for_s == 0


async def test_when_the_service_is_gone_the_last_known_value_comes_with_its_age_and_the_reason(service):
    clock = Clock()
    async with session_on(service, clock=clock) as session:
        value = (await one(session, "SIGNAL", "us-cpi")).result
        service.running.stop()
        clock.now += 1_000
        outcome, state, missing = await session.answer(
            [Call("SIGNAL", ("us-cpi",)), Call("SIGNAL", ("us-cpi", "state")), Call("SIGNAL", ("wb.gold",))]
        )
    assert outcome.result == value
    assert outcome.stale.age_s == 1_000
    assert outcome.stale.reason.startswith("the service did not answer (")
    assert outcome.fresh_for_s == 0
    assert state.result == "stale"
    assert missing.result.message.startswith("the service did not answer (")


async def test_a_last_known_value_is_not_kept_even_while_it_would_count_as_fresh():
    late = DeadlineExceededError("no answer within 20 s")
    reader = MemoryReader(
        {SignalResource("us-cpi"): answered(SignalDetail(Signal(slug="us-cpi", name="CPI"), None)).stale(late)}
    )
    session = Session(Canned({}).session.client, reader=reader, clock=lambda: NOW)
    outcome = await one(session, "SIGNAL", "us-cpi", "name")
    assert (outcome.stale.age_s, outcome.fresh_for_s) == (0, 0)


async def test_one_bad_call_harms_no_other(service):
    async with session_on(service) as session:
        good, unknown, wrong = await session.answer(
            [Call("signal", ("us-cpi", "shortcode")), Call("NOTHING"), Call("SIGNAL", (object(),))]
        )
    assert good.result == "CPI"
    assert unknown.result.message.startswith("there is no function 'NOTHING'; there are SIGNAL, SIGNAL_HISTORY, ")
    assert wrong.result.code is ErrorCode.VALUE


async def test_each_request_is_charged_to_one_call(service):
    async with session_on(service) as session:
        outcomes = await session.answer([Call("SIGNAL", ("us-cpi",))] * 3 + [Call("SIGNAL", ("wb.gold",))])
    assert [outcome.requests for outcome in outcomes] == [1, 0, 0, 1]


@pytest.mark.parametrize(("style", "shown"), [("text", "no signal 'x.y'; "), ("blank", "")])
async def test_an_error_is_shown_as_the_options_say(service, style, shown):
    async with session_on(service) as session:
        found = (await one(session, "SIGNAL", "x.y", None, None, f"err={style}")).result
        spilled = (await one(session, "SIGNAL", [["x.y"], ["us-cpi"]], "shortcode", None, [["err", style]])).result
    assert (found or "").startswith(shown)
    assert not isinstance(spilled[0][0], CellError)
    assert spilled[1][0] == "CPI"


async def test_a_slug_that_looks_like_an_option_is_a_slug(service):
    async with session_on(service) as session:
        assert isinstance((await one(session, "SIGNAL", "err=text")).result, CellError)


async def test_a_wrong_shared_argument_of_a_range_is_one_error(service):
    async with session_on(service) as session:
        found = (await one(session, "SIGNAL", [["us-cpi"], ["wb.gold"]], "value", "soon")).result
    assert isinstance(found, CellError)
    assert found.message.startswith("at 'soon' is not a date")
    assert service.running.request_count == 0


async def test_from_python_a_function_is_awaited_and_raises(service):
    async with session_on(service) as session:
        udfs.use(session)
        assert await udfs.SIGNAL("us-cpi", "shortcode") == "CPI"
        assert len(await udfs.SIGNAL_HISTORY("us-cpi", start="N5")) == 5
        with pytest.raises(ArgumentError, match="there is no option 'frq'"):
            await udfs.SIGNAL_HISTORY("us-cpi", options="frq=M")
        with pytest.raises(NoDataError, match=r"no signal 'x\.y'"):
            await udfs.SIGNAL("x.y")
        with pytest.raises(TypeError, match=r"SIGNAL\(\): got an unexpected keyword argument 'colour'"):
            await udfs.SIGNAL("us-cpi", colour="red")


async def test_a_preview_counts_what_an_answer_spends(service):
    calls = [Call("SIGNAL", ("us-cpi",)), Call("SIGNAL_HISTORY", ("us-cpi",)), Call("INDEX", ("risk-dial",)), Call("X")]
    async with session_on(service) as session:
        preview = await session.cost(calls)
        assert (preview.requests, preview.calls, preview.fresh_calls) == (2, 4, 1)
        assert service.running.request_count == 0
        await session.answer(calls)
        assert service.running.request_count == 2
        assert (await session.cost(calls)).requests == 0


async def test_a_batch_that_is_given_up_leaves_no_function_half_way(service):
    class GivenUpError(Exception):
        """The reason to give up."""

    class Broken:
        def peek(self, resource, *, max_age_s=None):
            raise GivenUpError

    async with session_on(service) as session:
        with pytest.raises(GivenUpError):
            await session.answer([Call("SIGNAL", ("us-cpi",))] * 3, reader=Broken())
    gc.collect()  # a coroutine that was never begun would complain here
    assert service.running.request_count == 0
