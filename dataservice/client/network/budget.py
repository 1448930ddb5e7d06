"""What may be spent of the month's requests: a pure policy."""

from __future__ import annotations

from dataclasses import dataclass

from dataservice.client.contract.quota import Quota
from dataservice.client.contract.windows import utc_day
from dataservice.errors import BudgetError
from dataservice.key_text import quoted


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
            raise ValueError(f"reserve must be 0 or more requests, not {quoted(self.reserve)}")
        if self.monthly is not None and self.monthly < 0:
            raise ValueError(f"monthly must be 0 or more requests, not {quoted(self.monthly)}")

    @property
    def is_unlimited(self) -> bool:
        """Return whether nothing is ever refused."""
        return not self.reserve and self.monthly is None

    def refusal(self, quota: Quota | None, *, used_here: int, under_way: int, now: float) -> BudgetError | None:
        """Return why one more request must not be sent now, or None.

        What the service said counts on the UTC day it said so: on another day one request may find out again.
        """
        if self.monthly is not None and used_here + under_way >= self.monthly:
            return BudgetError(f"the budget of {self.monthly:,} requests a month is spent here")
        if quota is None or not self.reserve or utc_day(quota.seen_at) != utc_day(now):
            return None
        return self.at_reserve(quota.remaining) if quota.remaining - under_way <= self.reserve else None

    def at_reserve(self, remaining: int) -> BudgetError:
        """Return why nothing more is sent when so many requests are left to the key."""
        return BudgetError(f"{remaining:,} requests are left and {self.reserve:,} are held in reserve")

    def unknown(self) -> BudgetError:
        """Return why nothing more is sent when the request that was to find out what is left found out nothing."""
        held = f"{self.reserve:,} requests are held in reserve"
        return BudgetError(f"{held}, and no answer of today says how many are left; Refresh asks once more")
