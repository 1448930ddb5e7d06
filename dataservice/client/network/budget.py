"""How much of the month's allowance this client may spend: a pure policy over the quota last seen."""

from __future__ import annotations

from dataclasses import dataclass

from dataservice.client.contract.quota import Quota
from dataservice.client.contract.timestamps import utc_day
from dataservice.errors import BudgetError


@dataclass(frozen=True, slots=True)
class Budget:
    """`reserve` requests of the key are never spent from here; `monthly` limits what is spent from here in a month.

    >>> Budget(reserve=50, monthly=400)
    Budget(reserve=50, monthly=400)
    """

    reserve: int = 0
    monthly: int | None = None

    def __post_init__(self) -> None:
        if self.reserve < 0:
            raise ValueError(f"reserve must be 0 or more requests, not {self.reserve}")
        if self.monthly is not None and self.monthly < 0:
            raise ValueError(f"monthly must be 0 or more requests, not {self.monthly}")

    def refusal(self, quota: Quota | None, *, used_here: int, under_way: int, now: float) -> BudgetError | None:
        """Why one more request must not be sent now, or None.

        What the service said counts on the UTC day it said so: on another day one request may find out anew.
        """
        if self.monthly is not None and used_here + under_way >= self.monthly:
            return BudgetError(f"the budget of {self.monthly:,} requests a month is spent here")
        if quota is None or not self.reserve or utc_day(quota.seen_at) != utc_day(now):
            return None
        if quota.remaining - under_way <= self.reserve:
            return BudgetError(f"{quota.remaining:,} requests are left and {self.reserve:,} are held in reserve")
        return None
