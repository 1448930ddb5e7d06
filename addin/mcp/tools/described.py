"""What signals are, beside their values: name, unit, source, rhythm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from addin.mcp.schemas import TEXT, Schema
from dataservice.client import CatalogueResource, SignalDetail, SignalResource
from dataservice.errors import DataServiceError
from dataservice.models import Signal
from udfs.engine import EVER, have, need
from udfs.timeseries import rhythm_at_hand

ABOUT = ("name", "unit", "source", "category")
"""What a value needs beside it to be understood."""

AFTER_OTHERS_S = 3_153_600_000.0
"""Any age, as a number of its own: the batch remembers that there was no catalogue before others asked for it."""

ABOUT_SCHEMA: dict[str, Schema] = {
    "slug": TEXT,
    **dict.fromkeys(ABOUT, TEXT),
    "frequency": {"type": "string", "description": "how often observations come, told by their dates"},
}


async def about_signals(slugs: Sequence[str]) -> list[dict[str, Any]]:
    """Return what signals measure: by what is at hand, else by the detail of one, or the catalogue for several."""
    known = {slug: await _at_hand(slug) for slug in dict.fromkeys(slugs)}
    missing = [slug for slug, signal in known.items() if signal is None]
    with suppress(DataServiceError):  # the values are told without it
        if len(missing) == 1:
            known[missing[0]] = (await need(SignalResource(missing[0]))).value.signal
        elif missing:
            catalogue = (await need(CatalogueResource())).value
            known |= {slug: catalogue.find(slug) for slug in missing}
    return [{"slug": slug} if (signal := known[slug]) is None else about(signal) for slug in slugs]


async def _at_hand(slug: str) -> Signal | None:
    detail = await have(SignalResource(slug), max_age_s=EVER)
    if detail is not None:
        return detail.value.signal
    catalogue = await have(CatalogueResource(), max_age_s=AFTER_OTHERS_S)
    return catalogue.value.find(slug) if catalogue else None


def about(signal: Signal) -> dict[str, Any]:
    """Return what a signal measures."""
    return {"slug": signal.slug, **present({name: getattr(signal, name) for name in ABOUT})}


async def frequency_of(detail: SignalDetail) -> dict[str, Any]:
    """Return how often observations of a signal come, as far as what is at hand tells it."""
    found = await rhythm_at_hand(detail)
    return {} if found is None else {"frequency": str(found)}


def present(members: Mapping[str, Any]) -> dict[str, Any]:
    """The members that have a value."""
    return {name: value for name, value in members.items() if value is not None}
