"""Whether the month's allowance suffices for what a batch would spend."""

from __future__ import annotations

from dataservice.client import Quota


def allowance_text(requests: int, quota: Quota | None, *, reserve: int, monthly_budget: int | None) -> str | None:
    """Why `requests` cannot all be sent now; None when they can, or when nothing is known of the allowance yet."""
    if requests == 0 or quota is None:
        return None
    spendable = max(0, quota.remaining - reserve)
    if requests > spendable:
        held = f" ({reserve:,} more are held in reserve)" if reserve else ""
        return f"{_requests(requests)} needed, {spendable:,} left this month{held}"
    if monthly_budget is not None and quota.used_here + requests > monthly_budget:
        left = max(0, monthly_budget - quota.used_here)
        return f"{_requests(requests)} needed, {left:,} left of the budget of {monthly_budget:,} a month"
    return None


def _requests(count: int) -> str:
    return f"{count:,} request{'' if count == 1 else 's'}"
