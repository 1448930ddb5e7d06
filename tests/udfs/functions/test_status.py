"""QUOTA and STATUS: what is left, and the state of everything asked."""

from datetime import UTC, datetime

from dataservice.client import AsyncClient
from dataservice.stores import SqliteStore
from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, page
from tests.udfs.parts.asking import Canned, cells, session_on
from udfs.cells import CellError, ErrorCode
from udfs.engine.session import Call, Session

START = 1_788_000_000.0


async def test_the_allowance_is_read_from_the_last_answer_at_no_cost(service):
    async with session_on(service) as session:
        await cells(session, "CURRENTS")
        shown = await cells(session, "QUOTA", [["remaining", "tier", "cap", "used_here"]])
    assert shown == [(49_999, "pro", 50_000, 1)]
    assert service.running.request_count == 1


async def test_before_any_answer_one_useful_request_is_spent(service):
    async with session_on(service) as session:
        assert await cells(session, "QUOTA") == 49_999
        await cells(session, "INDICES")
    assert service.running.requests == ["/v1/indices"]


async def test_the_allowance_of_a_cold_workbook_is_not_kept_for_long(service):
    async with session_on(service) as session:
        (outcome,) = await session.answer([Call("QUOTA", ())])
    assert outcome.fresh_for_s <= 5


async def test_a_service_that_tells_no_allowance_is_said_to():
    shown = await Canned({"/v1/indices": []}, tier="")("QUOTA")
    assert shown.code is ErrorCode.NA
    assert shown.message.startswith("the service tells no allowance")


async def test_an_unknown_field_of_the_allowance_is_a_wrong_formula(service):
    async with session_on(service) as session:
        shown = await cells(session, "QUOTA", "left")
    assert shown == CellError(ErrorCode.VALUE, "field 'left' is not one of remaining, tier, cap, used_here")


async def test_the_status_tells_state_age_and_source_of_everything_asked(service):
    now = [START]
    async with AsyncClient(service.url, service.key, clock=lambda: now[0]) as client:
        session = Session(client, clock=lambda: now[0])
        await cells(session, "CURRENTS")
        now[0] += 1_000
        await cells(session, "WIRE", None, "news")
        shown = await cells(session, "STATUS")
    assert shown == [
        ("resource", "state", "age", "source", "last_error", "revised_at", "revision"),
        ("currents", "stale", 1_000, "memory", None, None, None),
        ("wire (kind=news)", "fresh", 0, "memory", None, None, None),
    ]


async def test_the_status_names_what_is_locked_and_what_is_missing_with_the_reason(service):
    async with session_on(service, tier="free") as session:
        await cells(session, "WIRE", "BTC")
        await cells(session, "SIGNAL", "us-cpii")
        shown = await cells(session, "STATUS")
    assert shown[1][:2] == ("catalogue", "fresh")
    assert shown[2:] == [
        ("signal us-cpii", "missing", None, None, "no signal 'us-cpii'", None, None),
        ("wire (ticker=BTC)", "locked", None, None, "WIRE needs the Pro tier (this key: free)", None, None),
    ]


async def test_the_status_costs_nothing(service):
    async with session_on(service) as session:
        await cells(session, "STATUS")
    assert service.running.request_count == 0


async def test_the_status_of_one_name_is_shown_and_what_was_never_asked_is_missing(service):
    async with session_on(service) as session:
        await cells(session, "INDICES")
        assert await cells(session, "STATUS", "Indi") == [
            ("resource", "state", "age", "source", "last_error", "revised_at", "revision"),
            ("indices", "fresh", 0, "memory", None, None, None),
        ]
        assert (await cells(session, "STATUS", "us-cpi"))[1] == ("us-cpi", "missing", None, None, None, None, None)


async def test_while_the_service_is_down_the_status_says_since_when_and_why(service):
    now = [START]
    async with AsyncClient(service.url, service.key, clock=lambda: now[0]) as client:
        session = Session(client, clock=lambda: now[0])
        await cells(session, "INDICES")
        service.running.stop()
        now[0] += 1_000
        await cells(session, "INDICES")
        (row,) = (await cells(session, "STATUS"))[1:]
    assert row[:4] == ("indices", "offline", 1_000, "memory")
    assert row[4].startswith("the service did not answer")


async def test_a_revision_stands_in_the_status_also_after_a_restart(tmp_path):
    rows = [{"observed_at": f"2026-{month:02}-01T00:00:00Z", "value": month} for month in range(1, 9)]
    service = Scripted(
        lambda asked: page([row for row in rows if row["observed_at"] >= asked.url.params.get("start", "")])
    )
    clock, shown = Clock(), []
    for value in (6, 6.5, 6.5):
        rows[5]["value"] = value
        shelf = SqliteStore(tmp_path / "shelf.sqlite")
        async with service.client(clock, store=shelf) as client:
            session = Session(client, clock=clock)
            found = await cells(session, "SIGNAL_HISTORY", "x", "MAX")
            (status,) = (await cells(session, "STATUS", "history x"))[1:]
            shown.append((found[6][1], status[1], status[5]))
        await shelf.aclose()
        clock.advance(0 if len(shown) > 1 else 1_000)
    revised_at = datetime.fromtimestamp(int(clock.now), UTC).replace(tzinfo=None)
    assert shown == [(6, "fresh", None), (6.5, "fresh", revised_at), (6.5, "fresh", revised_at)]
    assert len(service.requests) == 2


async def test_status_and_quota_tell_what_the_rest_of_their_batch_has_done(service):
    async with AsyncClient(service.url, service.key) as client:
        calls = [Call("STATUS"), Call("QUOTA", ["used_here"]), Call("SIGNAL", ["us-cpi"]), Call("INDEX", ["risk-dial"])]
        status, used, *_ = await Session(client).answer(calls)
    assert list(status.result.frame()["resource"]) == ["indices", "signal us-cpi"]
    assert used.result == 2


async def test_the_catalogue_is_fresh_for_a_day_as_it_is_used(service):
    clock = Clock(1_788_000_000.0)
    async with session_on(service, clock=clock) as session:
        await cells(session, "SIGNALS", "gold")
        clock.advance(20 * 3_600)
        before = service.running.request_count
        await cells(session, "SIGNALS", "gold")
        assert (await cells(session, "STATUS", "catalogue"))[1][:2] == ("catalogue", "fresh")
        assert service.running.request_count == before
        clock.advance(5 * 3_600)
        assert (await cells(session, "STATUS", "catalogue"))[1][:2] == ("catalogue", "stale")
