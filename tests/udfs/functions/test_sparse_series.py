"""Series that are observed once a week or rarer, at the first look at a service that answers as documented."""

from datetime import date, timedelta

import pytest

from tests.dataservice.client.parts.clocks import Clock
from tests.dataservice.client.parts.scripted import Scripted, answer
from udfs.cells import CellError
from udfs.engine.session import Call, Session

TODAY = date(2026, 8, 16)


def service_of(rows: int, step_days: int) -> Scripted:
    """A service of one series, which answers its detail and its windows as the contract says."""
    days = [TODAY - timedelta(days=3 + step_days * back) for back in reversed(range(rows))]
    shown = [{"observed_at": f"{day}T00:00:00Z", "value": 100.0 + place} for place, day in enumerate(days)]

    def answered(request):
        signal = {"slug": "x", "name": "X", "latest": shown[-1]}
        if not request.url.path.endswith("/observations"):
            return answer({**signal, "history": shown[-365:]})
        start, end = request.url.params["start"], request.url.params["end"]
        found = [row for row in shown if start <= row["observed_at"][:10] <= end]
        return answer(found[:1_000], total=len(found))

    return Scripted(answered)


@pytest.mark.parametrize("step_days", [7, 14, 30, 91])
@pytest.mark.parametrize("rows", [20, 52, 86, 400])
async def test_the_value_before_the_latest_is_known_at_once(rows, step_days):
    service, clock = service_of(rows, step_days), Clock()
    async with service.client(clock) as client:
        calls = [Call("SIGNAL", ["x", field]) for field in ("value", "previous", "change")]
        outcomes = await Session(client, clock=clock).answer(calls)
    assert not [outcome.result for outcome in outcomes if isinstance(outcome.result, CellError)]
    assert [outcome.result for outcome in outcomes] == [99.0 + rows, 98.0 + rows, 1.0]
    # Few rows in little time, or days of no rhythm that anybody publishes in, may be a part: two looks more.
    assert len(service.requests) <= (1 if rows == 400 and step_days % 7 == 0 else 3)
