"""Answers that describe themselves: what their numbers are, how they were made, how old they are, and what follows."""

from datetime import UTC, date, datetime, timedelta

import pytest

from addin.mcp.schemas import OTHERS_MARK
from addin.mcp.tool import input_schema, output_schema
from addin.mcp.tools import TOOLS
from dataservice.server import write_sample
from tests.addin.mcp.test_tools import runner
from tests.attack.agents.paging import follow
from tests.attack.agents.world import add_signal, agent_of, service_of


async def test_columns_tell_unit_source_frequency_dates_and_base_though_nothing_was_at_hand(real_service):
    async with runner(real_service) as agent:
        found = await agent.ask(
            "get_observations", slugs=["us-cpi", "eia.wti.spot"], start="2020-01-01", freq="M", transform="index(100)"
        )
        cpi, oil = found["series"]
        assert (cpi["name"], cpi["frequency"]) == ("US consumer price index", "monthly")
        assert (oil["unit"], oil["source"]) == ("USD per barrel", "U.S. Energy Information Administration")
        assert cpi["base"] == oil["base"] == {"date": "2020-01-31", "value": 100.0}
        assert (found["freq"], found["agg"], found["transform"]) == ("M", "last", "index")
        assert found["meaning"].startswith("scaled to x")
        assert found["window"]["start"] == "2020-01-31"
        assert found["age_s"] < 60
        counted = real_service.running.request_count
        assert found["requests"] == counted


async def test_a_period_of_which_only_a_part_was_observed_is_named(shared_service):
    async with runner(shared_service) as agent:
        found = await agent.ask("get_observations", slug="eia.wti.spot", freq="Q", agg="mean", limit=3)
        (oil,) = found["series"]
        assert oil["partial"] == [found["rows"][-1][0]]
        assert oil["frequency"] == "business daily"


async def test_a_day_in_the_future_is_not_told_as_known(shared_service):
    async with runner(shared_service) as agent:
        with pytest.raises(Exception, match="as_of 2999-01-01 lies in the future"):
            await agent.ask("get_observations", slug="us-cpi", as_of="2999-01-01")


LAST = datetime(2026, 8, 18, tzinfo=UTC)


@pytest.fixture(scope="module")
def hourly_service(tmp_path_factory):
    """Serve a series of hours whose newest value is of midnight, beside the sample."""
    folder = tmp_path_factory.mktemp("hourly")
    write_sample(folder / "data", as_of=date(2026, 8, 31))
    moments = [LAST - timedelta(hours=back) for back in range(99, -1, -1)]
    row = {"slug": "load.hourly", "name": "Load", "category": "x", "signal_type": "x", "source": "x"}
    add_signal(folder / "data", row, [(f"{at:%Y-%m-%dT%H:%M:%SZ}", n) for n, at in enumerate(moments)])
    with service_of(folder / "data", folder) as service:
        yield service


async def test_all_dates_of_a_column_have_one_form(hourly_service):
    async with agent_of(hourly_service) as agent:
        latest = await agent.ask("get_signal", slug="load.hourly", history=30)
        assert latest["observed_at"] == latest["rows"][-1][0] == "2026-08-18T00:00:00Z"
        assert {len(day) for day, _ in latest["rows"]} == {20}
        (row,) = (await agent.ask("get_signal", slugs=["load.hourly"]))["signals"]
        assert (row["observed_at"], row["frequency"]) == ("2026-08-18T00:00:00Z", "several a day")
        by_day = await agent.ask("get_observations", slug="load.hourly", freq="D", limit=3)
        assert {len(day) for day, _ in by_day["rows"]} == {10}


async def test_rows_before_those_shown_are_reached_at_any_frequency(hourly_service):
    async with agent_of(hourly_service) as agent:
        for freq, rows in (("raw", 100), ("H", 100), ("D", 6)):
            answers = await follow(agent, "get_observations", slug="load.hourly", start="MAX", limit=2, freq=freq)
            days = [row[0] for answer in reversed(answers) for row in answer["rows"]]
            assert (len(days), days) == (rows, sorted(set(days)))
        assert agent.wrong == []


async def test_a_relative_start_keeps_its_day_on_the_next_page(shared_service):
    async with runner(shared_service) as agent:
        whole = await agent.ask("get_observations", slug="eia.wti.spot", start="-60D", end="2026-08-18", limit=100)
        first = await agent.ask("get_observations", slug="eia.wti.spot", start="-60D", end="2026-08-18", limit=30)
        assert first["next"]["start"] == whole["rows"][0][0]
        second = await agent.ask("get_observations", **{"slug": "eia.wti.spot", "limit": 30, **first["next"]})
        assert second["rows"] + first["rows"] == whole["rows"]


def test_output_schemas_name_every_member_and_mark_those_of_others():
    for tool in TOOLS:
        properties = output_schema(tool)["properties"]
        assert set(tool.others) <= {name for name, form in properties.items() if OTHERS_MARK in form}
        assert {"requests", "fresh_for_s", "quota", "next"} <= properties.keys()
        for name, form in properties.items():
            assert "type" in form, name
    item = output_schema(next(tool for tool in TOOLS if tool.name == "list_wire"))["properties"]["items"]["items"]
    assert {"headline", "tickers", "importance_score", "payload"} <= item["properties"].keys()


TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list}


def test_examples_and_defaults_have_the_type_of_their_argument():
    for tool in TOOLS:
        for name, form in input_schema(tool)["properties"].items():
            given = [*form.get("examples", ()), *([form["default"]] if "default" in form else [])]
            assert all(isinstance(each, TYPES[form["type"]]) for each in given), (tool.name, name, given)
            assert form["description"]


@pytest.fixture(scope="module")
def doubted_service(tmp_path_factory):
    """Serve a series of month ends, of which a recent history may leave rows out, beside the sample."""
    folder = tmp_path_factory.mktemp("month-ends")
    write_sample(folder / "data", as_of=date(2026, 8, 31))
    ends = [date(2024 + month // 12, month % 12 + 1, 1) - timedelta(days=1) for month in range(32)]
    row = {"slug": "month.ends", "name": "Ends", "category": "x", "signal_type": "x", "source": "x"}
    add_signal(folder / "data", row, [(f"{day}T00:00:00Z", n) for n, day in enumerate(ends)])
    with service_of(folder / "data", folder) as service:
        yield service


async def test_where_recent_rows_may_be_missing_an_answer_without_them_says_which_tool_has_them(doubted_service):
    async with agent_of(doubted_service) as agent:
        latest = await agent.ask("get_signal", slug="month.ends", history=5)
        assert (latest["value"], latest["rows"]) == (31, [])
        assert "get_observations reads them" in latest["more"]
        found = await agent.ask("get_observations", slug="month.ends", start="MAX", limit=5)
        assert [value for _, value in found["rows"]] == [27, 28, 29, 30, 31]
        assert found["requests"] <= 2
        latest = await agent.ask("get_signal", slug="month.ends", history=5)
        assert (latest["frequency"], latest["requests"]) == ("monthly", 0)


@pytest.mark.parametrize(
    ("slug", "start", "end"), [("us-cpi", "2020-03-01", "2020-03-03"), ("wti", "2020-04-09", "2020-04-13")]
)
async def test_a_few_rows_without_a_rhythm_do_not_make_a_series_irregular(slug, start, end, shared_service):
    async with runner(shared_service) as agent:
        for wide in (False, True):
            if wide:
                await agent.ask("get_signal", slug=slug)
            found = await agent.ask("get_observations", slug=slug, start=start, end=end)
            assert (
                found["series"][0].get("frequency")
                in {"us-cpi": (None, "monthly"), "wti": (None, "business daily")}[slug]
            )
        assert "frequency" in found["series"][0]


async def test_the_newest_periods_of_several_signals_are_told_however_old_they_are(shared_service):
    late = datetime(2026, 11, 28, tzinfo=UTC).timestamp()
    async with runner(shared_service, clock=lambda: late) as agent:
        found = await agent.ask("get_observations", slugs=["fx.usd-jpy", "fx.usd-cad"], freq="M", limit=3)
        assert [row[0] for row in found["rows"]] == ["2026-04-30", "2026-05-31", "2026-06-30"]
        mixed = await agent.ask("get_observations", slugs=["shiller.cape", "fx.usd-jpy"], freq="Q", limit=1)
        assert mixed["rows"][-1][0] == "2026-06-30"
        assert "its last one is of 2023-09-01" in mixed["series"][0]["error"]
        ended = await agent.ask("get_observations", slugs=["shiller.cape"], freq="M", limit=2)
        assert ended["rows"] == [["2023-08-31", 30.47], ["2023-09-30", 30.81]]


async def test_what_a_recent_history_at_hand_tells_of_a_series_that_ended_is_not_asked_for_again(real_service):
    async with runner(real_service) as agent:
        await agent.ask("get_signal", slug="shiller.cape")
        found = await agent.ask("get_observations", slug="shiller.cape", freq="M", limit=3)
        assert found["requests"] == 0
        assert found["rows"] == [["2023-07-31", 30.89], ["2023-08-31", 30.47], ["2023-09-30", 30.81]]
        assert (await agent.ask("get_observations", slug="shiller.cape", start="2023-07-01", freq="M"))["requests"] == 0
