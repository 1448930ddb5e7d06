"""The month's allowance: what the headers say, and what the budget makes of it."""

from datetime import UTC, datetime

import pytest

from dataservice.client.contract.quota import Quota, month_of, newer, quota_in, requests_at_once
from dataservice.client.network.budget import Budget

NOON = datetime(2026, 8, 31, 12, tzinfo=UTC).timestamp()
DAY_S = 86_400


def headers(tier: str = "free", cap: str = "1000", remaining: str = "412") -> dict[str, str]:
    return {"x-service-tier": tier, "x-service-ratelimit-cap": cap, "x-service-ratelimit-remaining": remaining}


def left(remaining: int, *, tier: str = "free", cap: int = 1_000, seen_at: float = NOON) -> Quota:
    return Quota(tier, cap, remaining, seen_at)


def test_the_headers_tell_tier_cap_and_remaining_requests():
    assert quota_in(headers(), NOON) == Quota("free", 1_000, 412, NOON)


@pytest.mark.parametrize("wrong", [headers(tier=""), headers(cap="many"), headers(remaining="-1"), {}])
def test_headers_that_tell_nothing_are_no_quota(wrong):
    assert quota_in(wrong, NOON) is None


@pytest.mark.parametrize(
    ("cap", "remaining", "told"),
    [
        ("60;w=60, 1000000;w=2592000", "0;w=60, 899000;w=2592000", (1_000_000, 899_000)),
        ("1,000,000;w=month, 60;w=minute", "899,000;w=month, 0;w=minute", (1_000_000, 899_000)),
        ('"m";q=60;w=60, "all";q=50000;w=2592000', '"m";r=0;w=60, "all";r=7;w=2592000', (50_000, 7)),
        ("50000;w=period", "7;w=period", (50_000, 7)),
        ("60;w=60", "0;w=60", None),
        ("60;w=minute, 1000;w=hour", "0;w=minute, 900;w=hour", None),
        ("60;w=month, 1000;w=month", "0;w=month, 900;w=month", None),
    ],
)
def test_of_several_counts_that_of_a_month_is_the_quota_and_others_are_none(cap, remaining, told):
    quota = quota_in(headers(cap=cap, remaining=remaining), NOON)
    assert (quota and (quota.cap, quota.remaining)) == told


def test_of_answers_that_overtook_each_other_the_lower_number_counts():
    assert newer(left(400), left(405, seen_at=NOON + 1)).remaining == 400
    assert newer(left(405), left(400, seen_at=NOON + 1)).remaining == 400


def test_a_new_month_a_new_tier_and_a_jump_are_believed():
    assert newer(left(400), left(402, seen_at=NOON + DAY_S)).remaining == 402
    assert newer(left(400), left(410, tier="pro")).tier == "pro"
    assert newer(left(3), left(999, seen_at=NOON + 60)).remaining == 999
    assert newer(None, left(1)) == left(1)


def test_the_month_is_that_of_utc():
    assert (month_of(NOON), month_of(NOON + DAY_S)) == ("2026-08", "2026-09")


def test_no_more_requests_are_sent_at_once_than_are_left_but_one_to_find_out():
    at_once = {remaining: requests_at_once(left(remaining), NOON, most=16) for remaining in (400, 16, 3, 1, 0)}
    assert at_once == {400: 16, 16: 16, 3: 3, 1: 1, 0: 1}
    assert requests_at_once(None, NOON, most=16) == 16
    assert requests_at_once(left(3), NOON + DAY_S, most=16) == 16  # another month


def test_a_quota_makes_a_frame_of_one_row():
    frame = Quota("free", 1_000, 412, NOON, 7).to_frame()
    assert frame.loc[0, ["tier", "remaining", "used_here"]].tolist() == ["free", 412, 7]


def refusal(budget: Budget, quota: Quota | None, *, used: int = 0, under_way: int = 0, now: float = NOON) -> str:
    return str(budget.refusal(quota, used_here=used, under_way=under_way, now=now) or "")


def test_without_a_budget_everything_may_be_sent():
    assert refusal(Budget(), left(1), used=10_000) == ""


def test_the_reserve_is_never_touched():
    budget = Budget(reserve=50)
    assert refusal(budget, left(51)) == ""
    assert refusal(budget, left(50)) == "50 requests are left and 50 are held in reserve"


def test_requests_under_way_count_as_spent():
    assert refusal(Budget(reserve=50), left(55), under_way=4) == ""
    assert refusal(Budget(reserve=50), left(55), under_way=5) != ""
    assert refusal(Budget(monthly=10), None, used=8, under_way=2) != ""


def test_the_monthly_budget_limits_what_this_installation_spends():
    assert refusal(Budget(monthly=400), left(900), used=399) == ""
    assert refusal(Budget(monthly=400), left(900), used=400) == "the budget of 400 requests a month is spent here"


def test_on_another_day_a_request_may_find_out_whether_there_is_more():
    assert refusal(Budget(reserve=50), left(10), now=NOON + DAY_S) == ""


@pytest.mark.parametrize("wrong", [{"reserve": -1}, {"monthly": -1}])
def test_a_negative_budget_is_refused(wrong):
    with pytest.raises(ValueError, match="-1"):
        Budget(**wrong)


def test_the_day_on_which_a_period_began_anew_is_remembered():
    hour = 3_600.0
    used = Quota("pro", 50_000, 120, 1_795_000_000.0)
    fresh = newer(used, Quota("pro", 50_000, 49_999, used.seen_at + hour))
    assert fresh.restarts_on == datetime.fromtimestamp(fresh.seen_at, UTC).day
    later = newer(fresh, Quota("pro", 50_000, 49_990, fresh.seen_at + hour))
    assert later.restarts_on == fresh.restarts_on
    unseen = newer(used, Quota("pro", 50_000, 49_999, used.seen_at + 72 * hour))
    assert unseen.restarts_on is None


@pytest.mark.parametrize("told", ["49,950/50,000", "49950 of 50000", "49950", "limit=50000, remaining=49950"])
def test_what_is_left_is_read_also_beside_the_cap(told):
    headers = {"x-service-tier": "pro", "x-service-ratelimit-cap": "50,000", "x-service-ratelimit-remaining": told}
    assert quota_in(headers, 0.0) == Quota("pro", 50_000, 49_950, 0.0)
