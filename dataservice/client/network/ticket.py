"""The right to send a request, and what its answer told of the quota."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from dataservice.client.contract.quota import Quota


@dataclass(frozen=True, slots=True)
class Ticket:
    """The right to send one request: its number in the month, and how many were under way, itself included."""

    number: int
    month: str
    under_way: int = 0
    """0 where no reserve is kept: then nobody counts."""
    day: str = ""
    is_probe: bool = False
    """Whether it is today's one request that may find out what is left."""


class Seen(msgspec.Struct, frozen=True):
    """What an answer told of the quota, and the last ticket of its month that leaves 0 or more requests."""

    quota: Quota
    month: str = ""
    last_ticket: int | None = None


def unpacked(payload: bytes) -> Seen | None:
    """What an entry of the store says was seen; None where it cannot be read."""
    try:
        return msgspec.json.decode(payload, type=Seen)
    except msgspec.MsgspecError:
        pass
    try:  # an earlier version kept the quota alone
        return Seen(msgspec.json.decode(payload, type=Quota))
    except msgspec.MsgspecError:
        return None
