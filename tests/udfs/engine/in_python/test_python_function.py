"""Functions as Python users meet them: signature, help, completion, options by keyword, and frames with dates."""

import inspect
from datetime import date

import pytest

import udfs
from dataservice.client import AsyncClient
from tests.udfs.parts.asking import session_on
from udfs import REGISTRY
from udfs.arguments.options import Options
from udfs.errors import ArgumentError

SCREEN_LINES = 40
SCREEN_COLUMNS = 100


def test_a_signature_shows_the_arguments_of_a_formula_with_their_defaults():
    parameters = inspect.signature(udfs.SIGNAL).parameters
    assert [(each.name, each.default) for each in parameters.values()] == [
        ("slug", inspect.Parameter.empty),
        ("field", "value"),
        ("at", None),
        ("options", None),
        ("asof", None),
        ("vintage", None),
    ]
    assert inspect.signature(udfs.SPARK).parameters["points"].annotation == int | None
    assert inspect.signature(udfs.CODEX).parameters["since"].annotation == date | str | None


@pytest.mark.parametrize("function_id", REGISTRY)
def test_what_python_calls_is_a_coroutine_function_with_the_signature_of_the_formula(function_id):
    function, described = getattr(udfs, function_id), REGISTRY[function_id]
    options = [each.kind.options for each in described.parameters if isinstance(each.kind, Options)]
    names = [each.name for each in (*described.parameters, *(option for found in options for option in found))]
    assert inspect.iscoroutinefunction(function)
    assert function.__name__ == function_id
    assert list(inspect.signature(function).parameters) == list(function.__annotations__) == names


@pytest.mark.parametrize("function_id", REGISTRY)
def test_help_is_one_screen_that_explains_every_argument(function_id):
    lines = inspect.getdoc(getattr(udfs, function_id)).splitlines()
    assert len(lines) <= SCREEN_LINES
    assert max(map(len, lines)) <= SCREEN_COLUMNS
    explained = [line.split()[0] for line in lines if line.startswith("  ") and line.strip()]
    assert set(inspect.signature(getattr(udfs, function_id)).parameters) <= set(explained)
    assert not any("=DS." in line or "udfs.engine" in line for line in lines)


async def test_options_are_keywords_as_well(service):
    async with session_on(service) as session:
        udfs.use(session)
        by_text = await udfs.SIGNAL_HISTORY("us-cpi", "-2Y", None, "freq=Q; limit=3")
        assert (await udfs.SIGNAL_HISTORY("us-cpi", "-2Y", freq="Q", limit=3)).equals(by_text)
        assert (await udfs.SIGNAL_HISTORY("us-cpi", "-2Y", options="freq=Q", limit=3)).equals(by_text)
        assert (await udfs.SIGNAL_HISTORY("us-cpi", "-2Y", options={"freq": "Q"}, limit=3)).equals(by_text)
        with pytest.raises(ArgumentError, match="option freq 'X' is not one of"):
            await udfs.SIGNAL_HISTORY("us-cpi", freq="X")
        with pytest.raises(TypeError, match=r"SIGNAL_HISTORY\(\): missing a required argument: 'slug'"):
            await udfs.SIGNAL_HISTORY(freq="M")


async def test_a_history_has_the_index_of_the_clients_frames(service):
    async with session_on(service) as session, AsyncClient(service.url, service.key) as client:
        udfs.use(session)
        ours = await udfs.SIGNAL_HISTORY("us-cpi", "2020-01-01")
        theirs = (await client.observations("us-cpi", "2020-01-01")).to_frame("us-cpi")
    assert ours.index.equals(theirs.index)
    assert (ours.index.name, ours.index.dtype) == (theirs.index.name, theirs.index.dtype)
    assert ours.equals(theirs)


async def test_every_layout_with_dates_is_indexed_by_them(service):
    async with session_on(service) as session:
        udfs.use(session)
        long = await udfs.SIGNAL_HISTORY("us-cpi, wb.gold", "N4", layout="long", header="none")
        hidden = await udfs.SIGNAL_HISTORY("us-cpi", "N4", dates="hide")
    assert (long.index.name, str(long.index.tz), list(long.columns)) == ("observed_at", "UTC", ["signal", "value"])
    assert (len(hidden), list(hidden.columns)) == (4, ["us-cpi"])
    assert hidden.index.name is None
