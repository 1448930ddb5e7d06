"""An argument that is an error: it is the result of the call, or of its own place where a range spills."""

import pytest

from tests.udfs.parts.asking import session_on
from udfs.arguments.kinds import CELL_ERRORS
from udfs.engine.session import Call
from udfs.errors import CellError, ErrorCode

GIVEN = [*CELL_ERRORS, "#N/A no signal 'x'", CellError(ErrorCode.NA, "gone"), CellError(ErrorCode.VALUE, "wrong")]


async def result(session, function_id, *args):
    (outcome,) = await session.answer([Call(function_id, args)])
    return outcome.result


@pytest.mark.parametrize("error", GIVEN, ids=str)
async def test_one_value_that_is_an_error_is_the_result_and_asks_nothing(service, error):
    calls = [("SIGNAL", error), ("SIGNAL", "us-cpi", "value", error), ("SIGNAL_HISTORY", "us-cpi", "-1Y", None, error)]
    calls += [("SPARK", "us-cpi", "-1Y", error), ("WIRE", error), ("SIGNAL", [[error]])]
    is_value = getattr(error, "code", error).startswith("#VALUE!")
    async with session_on(service) as session:
        for call in calls:
            found = await result(session, *call)
            assert found.code is (ErrorCode.VALUE if is_value else ErrorCode.NA)
            assert "is an error itself (#" in found.message
    assert service.running.request_count == 0


@pytest.mark.parametrize("error", GIVEN, ids=str)
async def test_an_error_in_a_range_fails_its_own_place_only(service, error):
    async with session_on(service) as session:
        found = await result(session, "SIGNAL", [["us-cpi"], [error]], [["shortcode", error]])
    assert found[0][0] == "CPI"
    assert [isinstance(found[row][column], CellError) for row, column in ((0, 1), (1, 0), (1, 1))] == [True] * 3


async def test_an_error_among_names_that_make_one_table_is_the_result(service):
    async with session_on(service) as session:
        found = await result(session, "SIGNAL_HISTORY", [["us-cpi"], ["#REF!"]])
    assert (found.code, found.message) == (ErrorCode.NA, "slug is an error itself (#REF!)")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CellError(ErrorCode.NA, "#DIV/0!"), "#DIV/0!"),
        (CellError(ErrorCode.NA, "#VALUE!"), "#VALUE!"),
        (CellError(ErrorCode.NA, "gone"), "#N/A"),
        ("#NUM!", "#NUM!"),
    ],
    ids=str,
)
async def test_the_message_names_the_error_in_words_wherever_it_stands(service, error, code):
    options = [[["limit", error]], [[error, 5]], [["header", error], ["limit", 5]], error]
    calls = [("SIGNAL_HISTORY", "us-cpi", "-1Y", None, each) for each in options]
    calls += [("SIGNAL_HISTORY", "us-cpi", error), ("SIGNAL_HISTORY", [["us-cpi", error]]), ("WIRE", None, None, error)]
    async with session_on(service) as session:
        for call in calls:
            found = await result(session, *call)
            assert found.message.endswith(f" is an error itself ({code})")
            assert found.code is (ErrorCode.VALUE if code == "#VALUE!" else ErrorCode.NA)
    assert service.running.request_count == 0
