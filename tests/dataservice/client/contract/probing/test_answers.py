"""What a probe says of one answer."""

import msgspec
import pytest

from dataservice.client.contract.body import Body
from dataservice.client.contract.probing.answers import detail
from dataservice.client.contract.probing.looks import Looks


def row(day, value):
    return {"observed_at": f"{day}T00:00:00Z", "value": value}


HISTORY = [row("2026-08-13", 1.5), row("2026-08-14", 2.5)]


@pytest.mark.parametrize(
    ("latest", "told"),
    [
        (row("2026-08-14", 2.75), ["2.75, and 2.5 in the history"]),
        (row("2026-08-14", 2.5), []),
        (row("2026-08-15", 2.75), []),
        (None, []),
    ],
)
def test_a_latest_observation_with_another_value_than_in_the_history_is_named(latest, told):
    said = {"data": {"slug": "a", "latest": latest, "history": HISTORY}}
    found = detail(Looks("a", {"detail": Body.of(msgspec.json.encode(said), {})}))
    assert [each.found for each in found if each.question == "latest: value" and each.differs] == told
