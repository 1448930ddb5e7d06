"""What a cell says when there is no value: one table from every error to a code and a sentence."""

import pytest

from dataservice import errors
from dataservice.client import AsyncClient, Budget
from tests.udfs.parts.asking import cells, session_on
from udfs.engine.session import Session
from udfs.errors import ArgumentError, CellError, ErrorCode, NoDataError, error_cell, reason

KEY = "ds_" + 40 * "0"
LEAVES = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and not kind.__subclasses__() and issubclass(kind, errors.DataServiceError)
]


async def said(url, key, function_id, *args, **settings):
    async with AsyncClient(url, key, **settings) as client:
        return await cells(Session(client), function_id, *args)


async def test_a_tier_that_is_too_low_is_named(service):
    async with session_on(service, tier="free") as session:
        assert await cells(session, "WIRE") == CellError(ErrorCode.NA, "WIRE needs the Pro tier (this key: free)")


async def test_without_a_key_nothing_is_sent_and_the_cell_says_how_to_set_one(service):
    shown = await said(service.url, "", "SIGNAL", "us-cpi")
    assert shown.message.startswith("no API key: set one with")
    assert service.running.request_count == 0


async def test_a_refused_key_is_said_to_be_refused_and_never_shown(service):
    key = "ds_" + 40 * "1"
    shown = await said(service.url, key, "SIGNAL", "us-cpi")
    assert shown.message.startswith("the key was refused: ")
    assert key not in shown.message


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("SIGNAL", [KEY]),
        ("SIGNAL", ["us-cpi", KEY]),
        ("SIGNAL", ["us-cpi", None, None, KEY]),
        ("SIGNAL", ["us-cpi", None, None, f"err={KEY}"]),
        ("SIGNAL_HISTORY", [KEY]),
        ("SIGNAL_HISTORY", ["us-cpi", KEY]),
        ("SIGNALS", [KEY]),
        ("CURRENTS", [KEY]),
        ("EXPLAIN", [KEY]),
        ("WIRE", [None, KEY]),
    ],
)
async def test_a_key_in_the_place_of_an_argument_is_neither_shown_nor_sent(service, function, arguments):
    async with session_on(service) as session:
        shown = await cells(session, function, *arguments)
    assert isinstance(shown, CellError)
    assert [text for text in (shown.message, *service.running.requests) if KEY[3:] in text] == []


async def test_a_spent_allowance_is_told_with_its_size(service):
    key = service.store.create_key("free", cap=1)
    shown = await said(service.url, key, "SIGNAL", [["us-cpi"], ["wb.gold"]])
    value, error = sorted((row[0] for row in shown), key=lambda cell: isinstance(cell, CellError))  # either comes first
    assert isinstance(value, float)
    assert error.message.startswith("the month's one request is used up; ")


async def test_a_budget_that_is_spent_says_that_nothing_was_asked(service):
    shown = await said(service.url, service.key, "SIGNAL", "us-cpi", budget=Budget(monthly=0))
    assert shown.message == "not asked: the budget of 0 requests a month is spent here"


async def test_a_service_that_is_gone_is_said_not_to_answer(service):
    service.running.stop()
    shown = await said(service.url, service.key, "SIGNAL", "us-cpi", deadline_s=0.5)
    assert shown.message.startswith("the service did not answer (")


@pytest.mark.parametrize("kind", LEAVES)
def test_every_error_of_the_client_is_no_data_with_a_sentence(kind):
    shown = error_cell(kind("something happened", status=400), "SIGNAL")
    assert shown.code is ErrorCode.NA
    assert 10 < len(shown.message) < 200


@pytest.mark.parametrize(
    "error", [errors.ConnectionFailedError("check the date", needs_repair=True), errors.InterceptedError("sign in")]
)
def test_what_somebody_has_to_mend_first_advises_no_refresh_in_a_minute(error):
    assert reason(error, "X") == f"the service did not answer ({error.message}); press Refresh after that"
    assert reason(errors.ConnectionFailedError("the connection broke"), "X").endswith("; try Refresh in a minute")


def test_a_tier_that_is_not_known_is_left_out():
    assert reason(errors.TierError("no"), "WIRE") == "WIRE needs the Pro tier"


def test_a_request_that_the_service_refuses_is_quoted():
    assert reason(errors.InvalidRequestError("limit"), "X") == "the service refused the request (limit)"


def test_a_wrong_formula_is_another_code_than_missing_data():
    assert error_cell(ArgumentError("at 5"), "SIGNAL") == CellError(ErrorCode.VALUE, "at 5")
    assert error_cell(NoDataError("none"), "SIGNAL") == CellError(ErrorCode.NA, "none")


def test_a_mistake_of_ours_names_the_function_and_not_its_inside():
    shown = error_cell(ZeroDivisionError("secret"), "SIGNAL")
    assert shown == CellError(ErrorCode.NA, "SIGNAL failed (ZeroDivisionError); please report this")
