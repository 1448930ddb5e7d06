"""A name that another function shows: said with that function, as far as what is at hand tells it."""

import pytest

from tests.udfs.parts.asking import cells, session_on
from udfs.cells import CellError, ErrorCode


@pytest.mark.parametrize(
    ("function", "name", "told"),
    [
        ("SIGNAL", "risk-dial", "there is an index 'risk-dial': INDEX shows it"),
        ("SIGNAL", "Energy-Repricing", "there is a current 'energy-repricing': CURRENT shows it"),
        ("SIGNAL_HISTORY", "risk-dial", "there is an index 'risk-dial': INDEX shows it"),
        ("INDEX", "CPI", "there is a signal 'us-cpi': SIGNAL and SIGNAL_HISTORY show it"),
        ("INDEX", "energy-repricing", "there is a current 'energy-repricing': CURRENT shows it"),
        ("CURRENT", "risk-dial", "there is an index 'risk-dial': INDEX shows it"),
    ],
)
async def test_a_name_of_another_kind_is_told_what_it_is_and_what_shows_it_without_a_request(
    service, function, name, told
):
    async with session_on(service) as session:
        for known in ("SIGNALS", "INDICES", "CURRENTS"):
            await cells(session, known)
        spent = service.running.request_count
        kind = function.partition("_")[0].lower()
        assert await cells(session, function, name) == CellError(ErrorCode.NA, f"no {kind} '{name}'; {told}")
        assert service.running.request_count == spent


async def test_what_is_not_at_hand_is_not_fetched_for_a_better_message(service):
    async with session_on(service) as session:
        shown = await cells(session, "INDEX", "us-cpi")
    assert shown.message.startswith("no index 'us-cpi'; there are ")
    assert service.running.requests == ["/v1/indices"]
