"""From the name that a formula gives, a slug or a shortcode, to the slug that the service knows.

A catalogue at hand settles it without a request, whatever its age where it knows the name. Without one, what looks like
a slug (`us-cpi`) is requested as it is; what may be a shortcode (`WTI`, `wti`), or has capital letters, needs the
catalogue. So does a slug that turns out not to exist, before that is said, and with it all others that are asked then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar, cast

from dataservice.client import Answer, Catalogue, CatalogueResource, Resource, SignalDetail, SignalResource
from dataservice.client.contract import ALL, CATALOGUE_AGE_S
from dataservice.errors import DataServiceError, NotFoundError
from udfs.arguments.kinds import shown
from udfs.engine.effects import EVER, FRESH, INTERNED, Question, ask, asked_at_hand, check_catalogue_first, have, need
from udfs.errors import NoDataError
from udfs.records.elsewhere import SIGNAL, called

T = TypeVar("T")

CATALOGUE = CatalogueResource()

SEPARATORS = frozenset(".-_")
"""One of these stands in nearly every slug, and in hardly any shortcode."""

SEE_SIGNALS = "SIGNALS lists and searches those there are"

SEVERAL = frozenset(",;")
HOW_SEVERAL = 'several are a range, or in braces: {"us-cpi","us-10y"}'


async def recent_catalogue(records: int = 0) -> Catalogue | None:
    """The catalogue, if one less than a day old is at hand; fewer than so many `records` may be a part."""
    answer = await have(CATALOGUE, max_age_s=CATALOGUE_AGE_S, records=records)
    return answer.value if answer else None


async def need_catalogue() -> Catalogue:
    """The catalogue, at most a day old; said to be a part where the service may have cut it."""
    catalogue = await recent_catalogue(ALL)
    return (await need(CATALOGUE, records=ALL)).value if catalogue is None else catalogue


async def slug_of(name: str) -> str:
    """The slug of the signal called `name`, by slug or shortcode in any case.

    Raises `NoDataError` with the nearest name where a catalogue less than a day old does not know it.
    """
    return name if await fresh_detail(name) else await listed(name)


async def need_detail(name: str) -> Answer[SignalDetail]:
    """The answer about the signal called `name`; raises `NoDataError` where there is none of that name."""
    asked = asked_under(name)  # written out, because nearly every cell asks this
    found = (await ask(asked))[0] if asked else None
    return found or await need_of(name, _signal(await listed(name)))  # type: ignore[return-value]


async def need_of(name: str, resource: Resource[T]) -> Answer[T]:
    """The answer to `resource`, which concerns the signal that the formula calls `name`.

    What the service does not know is looked up in the catalogue before it is said not to exist: it may be a shortcode.
    Raises `NoDataError` with the nearest name where it is none.
    """
    try:
        return await need(resource)
    except NotFoundError:
        slug = await _slug_instead(name, resource)
    try:
        return await need(replace(cast("Any", resource), slug=slug))
    except NotFoundError:
        raise await _unknown(name, SEE_SIGNALS) from None


async def _slug_instead(name: str, resource: Resource[Any]) -> str:
    """Under which other slug the catalogue lists `name`, whatever its age; raises `NoDataError` where it does not."""
    _require_name(name)
    answer = await have(CATALOGUE, max_age_s=EVER)
    if answer is None:
        try:
            answer = await need(CATALOGUE)
        except DataServiceError:
            answer = None
    slug = None if answer is None else await _found(answer.value, name)
    if slug is not None and slug == getattr(resource, "slug", None):
        raise NoDataError(f"the catalogue lists {shown(name)}, and the service has no answer about it").about("slug")
    if slug is None:
        raise await _unknown(name, SEE_SIGNALS)
    return slug


async def fresh_detail(name: str) -> Answer[SignalDetail] | None:
    """A fresh answer under this very slug settles the name, without a look into the catalogue."""
    asked = asked_under(name)
    return (await ask(asked))[0] if asked else None  # type: ignore[return-value]  # never an exception


_signal = lru_cache(maxsize=INTERNED)(SignalResource)
"""Equal ones as one object, which is found in memory without comparing it."""


@lru_cache(maxsize=INTERNED)
def asked_under(name: str) -> Sequence[Question]:
    """The question for a fresh answer under this very slug; none where the name cannot be one."""
    return asked_at_hand(_signal(name), max_age_s=FRESH) if looks_like_slug(name) else ()


async def listed(name: str) -> str:
    """The slug by a catalogue, or the name itself where none is at hand and it may be a slug."""
    any_age = await have(CATALOGUE, max_age_s=EVER)
    signal = any_age.value.find(name) if any_age else None
    if signal is not None:
        return signal.slug
    if not SEVERAL.isdisjoint(name):
        raise NoDataError(f"no signal {shown(name)}; {HOW_SEVERAL}").about("slug")
    catalogue = await recent_catalogue() if any_age else None
    if catalogue is None and not looks_like_slug(name):
        _require_name(name)
        try:
            catalogue = (await need(CATALOGUE)).value
        except DataServiceError:
            if name != name.lower():
                raise
            return name  # it may be a slug all the same
    if catalogue is None:
        listed = await check_catalogue_first(CATALOGUE, SignalResource(name), max_age_s=CATALOGUE_AGE_S)
        catalogue = listed.value if listed else None
    if catalogue is None:
        return name
    if catalogue.find(name) is None and (catalogue.may_be_cut or (looks_like_slug(name) and await _has_answered(name))):
        return name  # the service may have it all the same
    return await _found(catalogue, name)


def _require_name(name: str) -> None:
    """Raise `NoDataError` for what no signal is called, such as the `..` of tables without a value."""
    if not (name.isprintable() and any(map(str.isalnum, name))):
        raise NoDataError(f"no signal {shown(name)}; {SEE_SIGNALS}").about("slug")


async def _has_answered(slug: str) -> bool:
    """Return whether the service ever answered under this slug: a list that lacks it may be wrong."""
    return await have(_signal(slug), max_age_s=EVER) is not None


def looks_like_slug(name: str) -> bool:
    """Return whether a name can be requested as it is: slugs have dots or hyphens beside letters, and no capitals.

    `gold` may be a slug or the shortcode GOLD: the catalogue knows, and costs no more than to ask in vain.
    """
    is_written_so = name == name.lower() and (len(name) == 1 or not SEPARATORS.isdisjoint(name))
    return is_written_so and name.isprintable() and any(map(str.isalnum, name)) and SEVERAL.isdisjoint(name)


async def _found(catalogue: Catalogue, name: str) -> str:
    signal = catalogue.find(name)
    if signal is None:
        nearest = catalogue.nearest(name)
        lacks = f"the service may not have listed all: give the slug; {SEE_SIGNALS}"
        hint = f"did you mean {nearest}?" if nearest else lacks if catalogue.may_be_cut else SEE_SIGNALS
        raise await _unknown(name, hint)
    return signal.slug


async def _unknown(name: str, hint: str) -> NoDataError:
    """That no signal has this name, and what has it instead, else the hint."""
    return NoDataError(f"no signal {shown(name)}; {await called(name, other_than=SIGNAL) or hint}").about("slug")
