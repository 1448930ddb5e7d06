"""The functions that wait: for scripts, threads and cells of a notebook that do not await."""

import inspect
import pkgutil

import pytest

import udfs.sync
from tests.udfs.parts.programs import User
from udfs import REGISTRY

SCRIPT = """
from udfs.sync import SIGNAL, SIGNAL_HISTORY
print(SIGNAL("us-cpi", "shortcode"), len(SIGNAL_HISTORY("us-cpi", "N4", freq="M")))
"""

INSIDE_A_LOOP = """
import asyncio, udfs, udfs.sync
async def main():
    return await udfs.SIGNAL("us-cpi") == udfs.sync.SIGNAL("us-cpi")
print(asyncio.run(main()))
"""

FAILING = """
from udfs.errors import NoDataError
from udfs.sync import SIGNAL
try:
    SIGNAL("us-cpii")
except NoDataError as error:
    print(error)
"""


@pytest.fixture
def user(service, tmp_path) -> User:
    return User(service, tmp_path)


def test_a_script_needs_no_event_loop_and_a_second_run_no_request(service, user):
    for runs in (user.runs, user.runs_forked):
        assert runs(SCRIPT) == "CPI 4\n"
        assert service.running.request_count == 1


def test_it_shares_the_session_of_what_is_awaited_even_inside_a_loop(service, user):
    assert user.runs_forked(INSIDE_A_LOOP) == "True\n"
    assert service.running.request_count == 1


def test_what_goes_wrong_is_raised_as_from_the_awaited_function(user):
    assert "us-cpii" in user.runs_forked(FAILING)


@pytest.mark.parametrize("function_id", REGISTRY)
def test_a_function_that_waits_has_the_signature_and_help_of_the_one_that_is_awaited(function_id):
    awaited, waiting = getattr(udfs, function_id), getattr(udfs.sync, function_id)
    assert inspect.signature(waiting) == inspect.signature(awaited)
    assert not inspect.iscoroutinefunction(waiting)
    assert waiting.__doc__ == awaited.__doc__.replace("await udfs.", "udfs.sync.")
    assert pkgutil.resolve_name(f"{waiting.__module__}:{waiting.__qualname__}") is waiting


def test_editors_offer_the_functions_and_close():
    assert dir(udfs.sync) == sorted([*REGISTRY, "close"])
