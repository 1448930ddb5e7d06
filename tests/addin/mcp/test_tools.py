"""What the tools find, how they tell of more, and what they are declared to take and give."""

import sys
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime

import jsonschema
import pytest

from addin.mcp.runner import ToolFailure, ToolRunner
from addin.mcp.tool import input_schema, output_schema
from addin.mcp.tools import TOOLS
from dataservice.client import AsyncClient
from tests.addin.commands import addin_anew, environment
from udfs.errors import ArgumentError

BY_NAME = {tool.name: tool for tool in TOOLS}


@asynccontextmanager
async def runner(service, **options):
    """A runner with an empty cache before a service; calls are checked against the declared schemas."""
    async with AsyncClient(service.url, service.key) as client:
        yield _Checked(ToolRunner(client, deadline_s=20.0, **options))


class _Checked:
    def __init__(self, runner):
        self._runner = runner

    async def ask(self, name, **arguments):
        jsonschema.validate(arguments, input_schema(BY_NAME[name]))
        return await self.ask_unchecked(name, **arguments)

    async def ask_unchecked(self, name, **arguments):
        tool = BY_NAME[name]
        result = await self._runner.answer(tool, arguments)
        jsonschema.validate(result, output_schema(tool))
        return result


async def test_observations_are_the_newest_100_and_say_that_there_are_more(shared_service):
    async with runner(shared_service) as agent:
        found = await agent.ask("get_observations", slug="WTI")
        assert (len(found["rows"]), found["rows"][-1][0]) == (100, "2026-08-18")
        assert (found["total"], found["total_is_all"]) == (365, False)
        assert "raise limit" in found["more"]
        more = await agent.ask("get_observations", slug="WTI", limit=300)
        assert (len(more["rows"]), more["requests"]) == (300, 0)


async def test_a_window_tells_exactly_how_many_rows_it_has(shared_service):
    async with runner(shared_service) as agent:
        found = await agent.ask("get_observations", slug="us-cpi", start="2020-01-01", end="2024-12-31", limit=12)
        assert (found["total"], found["total_is_all"], len(found["rows"])) == (60, True, 12)
        assert found["rows"][-1][0] == "2024-12-01"
        assert found["more"].startswith("60 rows in all")
        whole = await agent.ask("get_observations", slug="us-cpi", start="2020-01-01", end="2024-12-31")
        assert "more" not in whole


async def test_periods_are_counted_back_from_the_newest_observation(shared_service):
    async with runner(shared_service) as agent:
        found = await agent.ask("get_observations", slug="eia.wti.spot", freq="M", agg="mean", limit=3)
        assert [day for day, _ in found["rows"]] == ["2026-06-30", "2026-07-31", "2026-08-31"]
        assert found["columns"] == ["date", "eia.wti.spot (mean; partial 2026-08-31)"]


async def test_the_period_under_way_is_dated_by_the_end_asked_for(shared_service):
    async with runner(shared_service) as agent:
        found = await agent.ask("get_observations", slug="us-10y", freq="Q", limit=2, end="2026-02-10")
        assert [day for day, _ in found["rows"]] == ["2025-12-31", "2026-02-10"]


async def test_more_periods_than_the_calendar_has_are_all_there_are(shared_service):
    async with runner(shared_service) as agent:
        found = await agent.ask("get_observations", slug="us-cpi", freq="Y", limit=10_000)
        assert found["total_is_all"]
        assert found["rows"][0][0] == "1913-12-31"


async def test_a_transform_is_computed_with_what_lies_before_the_window(shared_service):
    async with runner(shared_service) as agent:
        found = await agent.ask(
            "get_observations", slug="us-cpi", start="2024-01-01", end="2024-03-31", transform="yoy"
        )
        assert len(found["rows"]) == 3
        assert all(0.02 < value < 0.05 for _, value in found["rows"])


async def test_a_start_after_the_end_is_refused(shared_service):
    async with runner(shared_service) as agent:
        with pytest.raises(ToolFailure, match="start 2025-01-01 lies after end 2024-01-01"):
            await agent.ask("get_observations", slug="us-cpi", start="2025-01-01", end="2024-01-01")


async def test_an_empty_window_says_where_the_series_ends(shared_service):
    async with runner(shared_service) as agent:
        found = await agent.ask("get_observations", slug="us-cpi", start="2026-08-01")
        assert (found["rows"], found["total"]) == ([], 0)
        assert "its last one is of 2026-05-01" in found["more"]


async def test_the_catalogue_is_searched_without_further_requests(shared_service):
    async with runner(shared_service) as agent:
        await agent.ask("list_signals")
        found = await agent.ask("list_signals", search="usd", category="fx", limit=2, fields=["slug"])
        assert (len(found["signals"]), found["requests"]) == (2, 0)
        assert found["total"] > 2
        assert "raise limit" in found["more"]
        nothing = await agent.ask("list_signals", search="prise")
        assert (nothing["signals"], nothing["total"], nothing["requests"]) == ([], 0, 0)
        assert "no signal matches 'prise' in this" not in nothing["more"]
        assert nothing["suggestions"] == ["price"]


async def test_currents_are_sorted_and_filtered(shared_service):
    async with runner(shared_service) as agent:
        found = await agent.ask("list_currents", sort="-belief_score", fields=["belief_score"])
        scores = [current["belief_score"] for current in found["currents"] if current]
        assert scores == sorted(scores)
        assert (await agent.ask("list_currents", family="risk"))["total"] == 1


async def test_posts_are_listed_without_their_text(shared_service):
    async with runner(shared_service) as agent:
        found = await agent.ask("list_posts", story_type=["report"], limit=3)
        assert all("body_md" not in post and post["story_type"] == "report" for post in found["posts"])


async def test_wire_items_are_filtered_on_the_spot(shared_service):
    async with runner(shared_service) as agent:
        await agent.ask("list_wire", since="2026-07-01")
        found = await agent.ask("list_wire", since="2026-07-01", signal="eia.wti.spot", text="crude", limit=200)
        assert found["requests"] == 0
        assert all(item["signal_slugs"] == ["eia.wti.spot"] for item in found["items"])
        assert found["items"]
        everything = await agent.ask("list_wire", limit=1, fields=["*"])
        assert everything["items"][0]["tickers"] == ["WTI"]
        assert "the newest 200 only" in everything["more"]


async def test_an_argument_may_be_text_where_a_number_or_a_list_is_meant(shared_service):
    async with AsyncClient(shared_service.url, shared_service.key) as client:
        told = await ToolRunner(client, deadline_s=20).answer(
            BY_NAME["list_signals"], {"limit": "2", "fields": "slug, name", "search": None}
        )
    assert [list(signal) for signal in told["signals"]] == [["slug", "name"]] * 2


def test_choices_are_enums_and_defaults_are_declared():
    wire = input_schema(BY_NAME["list_wire"])["properties"]
    assert wire["kind"]["items"]["enum"] == [
        *("news", "filing", "press_release", "data_release"),
        *("fund_flow", "analyst_rating", "social_post", "breaking"),
    ]
    assert (wire["limit"]["default"], wire["limit"]["maximum"]) == (20, 200)
    assert wire["fields"]["default"][0] == "id"
    assert input_schema(BY_NAME["list_posts"])["properties"]["story_type"]["items"]["enum"] == [
        *("alert", "brief", "report", "explainer")
    ]
    assert input_schema(BY_NAME["get_observations"])["properties"]["slugs"]["type"] == "array"


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_the_declared_schemas_are_schemas(tool):
    jsonschema.Draft202012Validator.check_schema(input_schema(tool))
    jsonschema.Draft202012Validator.check_schema(output_schema(tool))


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("get_observations", {"start": 2020}, "start '2020' is not a date; did you mean 2020-01-01?"),
        ("get_observations", {"end": 2020}, "end '2020' is not a date; did you mean 2020-12-31?"),
        ("get_observations", {"as_of": 45_000}, "as_of '45000' is not a date"),
        ("list_wire", {"since": 1_700_000_000}, "since '1700000000' is not a date"),
        ("list_posts", {"until": 45_000.5}, "until '45000.5' is not a date"),
    ],
)
def test_a_number_for_a_day_is_a_year_at_most_and_no_serial_number_of_a_sheet(tool, given, said):
    with pytest.raises(ArgumentError) as refused:
        BY_NAME[tool].bind(given, 0.0)
    assert str(refused.value).startswith(said)
    assert "serial" not in str(refused.value)


def test_relative_dates_count_from_the_day_of_the_call():
    noon = datetime(2026, 8, 20, 12, tzinfo=UTC).timestamp()
    bound = BY_NAME["list_wire"].bind({"since": "-9D"}, noon)
    (question,) = bound.send(None)
    bound.close()
    assert question.resource.since == date(2026, 8, 11)


async def test_hours_count_back_from_the_moment_of_the_call(shared_service):
    noon = datetime(2026, 8, 18, 12, tzinfo=UTC).timestamp()
    async with runner(shared_service, clock=lambda: noon) as agent:
        found = await agent.ask("list_wire", since="-6H", fields=["published_at"])
        assert {item["published_at"] >= "2026-08-18T06:00:00Z" for item in found["items"]} == {True}
        rows = await agent.ask("get_observations", slug="eia.wti.spot", start="-48H")
        assert [day for day, _ in rows["rows"]] == ["2026-08-17", "2026-08-18"]


def test_the_command_says_how_to_install_what_it_needs(tmp_path, shared_service):
    blocked = tmp_path / "mcp"
    blocked.mkdir()
    (blocked / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'mcp'\", name='mcp')")
    environ = environment(tmp_path, shared_service)
    environ["PYTHONPATH"] = f"{tmp_path}:{environ['PYTHONPATH']}"
    done = addin_anew("mcp", environ=environ)
    assert done.returncode == 1
    assert f'{sys.executable} -m pip install "mcp>=2' in done.stderr
