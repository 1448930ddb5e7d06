"""From the name that a formula gives, a slug or a shortcode, to the slug that the service knows.

A catalogue at hand settles it without a request, whatever its age where it knows the name. Without one, what looks like
a slug is asked as it is, and what can only be a shortcode (`WTI`) needs the catalogue.
"""

from __future__ import annotations

from typing import TypeVar

from dataservice.client import Answer, Catalogue, CatalogueResource, Resource, SignalDetail, SignalResource
from dataservice.errors import NotFoundError
from udfs.arguments.kinds import shown
from udfs.engine.effects import EVER, FRESH, have, need
from udfs.errors import NoDataError
from udfs.records.lookup import CATALOGUE_AGE_S

T = TypeVar("T")

CATALOGUE = CatalogueResource()


async def slug_of(name: str) -> str:
    """The slug of the signal called `name`, by slug or shortcode in any case.

    Raises `NoDataError` with the nearest name where a catalogue less than a day old knows it not.
    """
    return name if await _detail_at_hand(name) else await _listed(name)


async def need_detail(name: str) -> Answer[SignalDetail]:
    """The answer about the signal called `name`; raises `NoDataError` where there is none of that name."""
    return await _detail_at_hand(name) or await need_of(name, SignalResource(await _listed(name)))


async def need_of(name: str, resource: Resource[T]) -> Answer[T]:
    """The answer to `resource`, which concerns the signal that the formula calls `name`."""
    try:
        return await need(resource)
    except NotFoundError:
        raise NoDataError(f"no signal {shown(name)}; SIGNALS lists and searches those there are") from None


async def _detail_at_hand(name: str) -> Answer[SignalDetail] | None:
    """A fresh answer under this very slug settles the name, and no catalogue has to be looked for."""
    return await have(SignalResource(name), max_age_s=FRESH) if looks_like_slug(name) else None


async def _listed(name: str) -> str:
    """The slug by a catalogue, or the name itself where none is at hand and it may be a slug."""
    at_hand = await have(CATALOGUE, max_age_s=EVER)
    known = at_hand and at_hand.value.find(name)
    if known:
        return known.slug
    if at_hand is not None:
        at_hand = await have(CATALOGUE, max_age_s=CATALOGUE_AGE_S)
    if at_hand is None:
        if looks_like_slug(name):
            return name
        at_hand = await need(CATALOGUE)
    return _found(at_hand.value, name)


def looks_like_slug(name: str) -> bool:
    """Whether a name can be asked as it is: slugs have lower-case letters or dots, shortcodes have neither."""
    return "." in name or name != name.upper()


def _found(catalogue: Catalogue, name: str) -> str:
    signal = catalogue.find(name)
    if signal is None:
        nearest = catalogue.nearest(name)
        hint = f"did you mean {nearest}?" if nearest else "SIGNALS lists and searches those there are"
        raise NoDataError(f"no signal {shown(name)}; {hint}")
    return signal.slug
