"""Of which days of a signal anything is known: one question in place of one for each day that a sheet asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dataservice.client.contract.resources import Resource
from dataservice.client.contract.windows import Window


@dataclass(frozen=True, slots=True)
class KnownDaysResource(Resource[Sequence[Window]]):
    """The windows of the signal `slug` of which observations are known, however old; no request answers it."""

    slug: str

    is_requested: ClassVar[bool] = False
