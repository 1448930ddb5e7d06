"""What a probe says of one answer."""

import msgspec
import pytest

from dataservice.client.contract.body import Body
from dataservice.client.contract.probing.answers import detail
from dataservice.client.contract.probing.looks import Looks


def test_the_first_row_of_a_window_lies_not_before_it_where_days_are_those_of_another_zone():
    def looks(*before):
        told = {"before": before, "all": HISTORY}
        return Looks("a", {name: Body.of(msgspec.json.encode({"data": rows}), {}) for name, rows in told.items()})

    assert looks(HISTORY[0]).older() == 0
    assert looks(row("2026-08-12", 1.0), HISTORY[0]).older() == 1


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
