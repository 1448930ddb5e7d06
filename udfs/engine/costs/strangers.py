"""Signals of which nothing is known: what is asked of one costs what the same costs of another, so few stand for all.

A preview runs every function on several guesses. Of a book with thousands of new signals that would take longer than
to load them.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from dataservice.client import CatalogueResource, Cost, KnownDaysResource, SignalResource
from udfs.engine.binding import Call
from udfs.engine.costs.snapshot import Snapshot
from udfs.engine.registry import REGISTRY

LEAST = 64
"""Calls of a book that is worth the looks: fewer are all run."""

STAND_FOR_ALL = 3
"""Signals of each kind that are run: where they do not cost the same, nobody stands for others."""

OF_ONE_SIGNAL = frozenset({"SIGNAL", "SIGNAL_HISTORY", "SPARK"})
"""Functions about the signal in their first argument, and about no other one as long as they have no options."""

_is_slug = re.compile(r"[a-z0-9]+(?:[-._][a-z0-9]+)+").fullmatch
_words = re.compile(r"[\w.-]+").findall


class Standing(NamedTuple):
    """The calls that are run, and for how many signals each of theirs stands: of all others for itself."""

    calls: Sequence[Call]
    kinds: Sequence[Sequence[str]]
    """The signals of one kind that are run."""
    counts: Mapping[str, int]
    """For how many signals of its kind one stands, beside itself."""

    @property
    def left_out(self) -> int:
        """Return how many signals are not run."""
        return sum(self.counts.values())


async def standing_for_all(calls: Sequence[Call], client: Snapshot) -> Standing:
    """Let a few signals of each kind stand for the others of which nothing is known and the same is asked."""
    asked: dict[str, dict[int, Hashable]] = {}
    others: list[Call] = []
    for place, call in enumerate(calls):
        if (shape := _shape(call)) is None:
            others.append(call)
        else:
            asked.setdefault(call.args[0], {})[place] = shape
    if len(calls) < LEAST or len(asked) <= STAND_FOR_ALL:
        return Standing(calls, (), {})
    named = await _named(others, client)
    kinds: dict[Hashable, list[str]] = {}
    for slug, shapes in asked.items():
        known = (slug,) if slug in named else await _known(slug, client)
        kinds.setdefault((frozenset(shapes.values()), known), []).append(slug)
    run = {slug for slugs in kinds.values() for slug in slugs[:STAND_FOR_ALL]}
    left_out = {place for slug in asked.keys() - run for place in asked[slug]}
    return Standing(
        [call for place, call in enumerate(calls) if place not in left_out],
        [slugs[:STAND_FOR_ALL] for slugs in kinds.values()],
        {slugs[0]: len(slugs) - STAND_FOR_ALL for slugs in kinds.values() if len(slugs) > STAND_FOR_ALL},
    )


def for_all(costs: Mapping[Hashable, Cost], standing: Standing) -> Mapping[Hashable, Cost] | None:
    """The costs by subject, of those that stand for others for all of them; None where some differ of one kind."""
    for slugs in standing.kinds:
        if len({_numbers(costs.get(slug)) for slug in slugs}) > 1:
            return None
    return {subject: cost * (1 + standing.counts.get(str(subject), 0)) for subject, cost in costs.items()}


def _numbers(cost: Cost | None) -> object:
    return None if cost is None else (cost.at_least, cost.at_most, cost.likely)


def _shape(call: Call) -> Hashable:
    """What a call asks of the signal in its first argument; None where it may be about others, or not be read alike."""
    function_id = call.function_id.upper()
    slug, *rest = call.args or [None]
    if function_id not in OF_ONE_SIGNAL or not isinstance(slug, str) or _is_slug(slug) is None:
        return None
    options_at = REGISTRY[function_id].options_at
    has_options = options_at is not None and len(call.args) > options_at and call.args[options_at] is not None
    is_plain = all(each is None or isinstance(each, str | int | float | bool) for each in rest)
    return (function_id, *map(repr, rest)) if is_plain and not has_options else None


async def _named(calls: Iterable[Call], client: Snapshot) -> set[str]:
    """The signals that other calls may be about, by whatever name and in whatever argument."""
    texts = {text for call in calls for argument in call.args for text in _texts(argument)}
    words = {word for text in texts for word in (text, *_words(text))}
    named = {word.casefold().strip(".-") for word in words}
    catalogue = await client.last_known(CatalogueResource())
    if catalogue is not None:
        named |= {signal.slug for word in words if (signal := catalogue.value.find(word)) is not None}
    return named


def _texts(argument: object) -> Iterable[str]:
    if isinstance(argument, str):
        yield argument
    elif isinstance(argument, list | tuple):
        for each in argument:
            yield from _texts(each)


async def _known(slug: str, client: Snapshot) -> Hashable:
    """What is known of a signal, as far as it may decide on costs; its own name where that is more than nothing."""
    detail, days = SignalResource(slug), await client.last_known(KnownDaysResource(slug))
    if await client.last_known(detail) is not None or (days is not None and days.value):
        return (slug,)
    catalogue = await client.last_known(CatalogueResource())
    listed = catalogue.value.find(slug) if catalogue is not None else None
    if catalogue is not None and (listed is None or listed.slug != slug):
        return (slug,)
    return detail.may_be_refused, _numbers(await client.cost_of(detail))
