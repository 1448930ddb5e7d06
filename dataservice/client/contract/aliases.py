"""Whether an answer about another slug than was asked for is about the same signal: proven, or not believed."""

from __future__ import annotations

from dataservice.client.contract.results import Catalogue
from dataservice.models import Signal


def is_named(signal: Signal, asked: str) -> bool:
    """Return whether a record bears the name that was asked for: as its slug, its shortcode or in a further field.

    >>> is_named(Signal(slug="bls.cpi", extra={"aliases": ["us-cpi"]}), "US-CPI")
    True
    """
    told = [signal.slug, signal.shortcode, *signal.extra.values()]
    names = [name for each in told for name in (each if isinstance(each, list) else [each])]
    return asked.casefold() in {name.casefold() for name in names if isinstance(name, str)}


def is_alias(signal: Signal, asked: str, catalogue: Catalogue) -> bool:
    """Return whether a whole catalogue lists just one of two slugs: both name one signal.

    Where it lists both, or neither, an answer may have been mixed up with that to another question.
    """
    slugs = {each.slug.casefold() for each in catalogue}
    return not catalogue.may_be_cut and (signal.slug.casefold() in slugs) != (asked.casefold() in slugs)
