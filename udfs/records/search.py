"""The search of the catalogue as people ask: in their own words, singular or plural, by source or category.

Each word may be met by itself, by its singular, by another word for the same thing, by the initials of a source
(`BLS`), or as a part of a longer word. A search is one pass over the signals: as many steps as the catalogue has words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from dataservice.models import Signal

WORD = re.compile(r"\w+")

KEPT_SIGNALS = 20_000
"""Signals whose words are kept: of a larger catalogue they are read anew at each search."""

SHORTEST_PART = 3
"""Letters of a word that may be met inside a longer one: fewer are in everything."""

STOP_WORDS = frozenset(
    WORD.findall(
        "a an and are as at by current do does for from get give has have high how i in index is it its latest me much "
        "need now of on or our please right series show signal signals so tell than that the their there this to today "
        "up vs versus was we were what when where which who why with you"
    )
)
"""Words of a question that name nothing. They are looked for only where a search has no others."""

SAME_THING: tuple[tuple[str, ...], ...] = (
    ("inflation", "cpi", "consumer price"),
    ("living", "consumer price"),
    ("cost", "price"),
    ("crypto", "cryptocurrency", "bitcoin", "btc", "ethereum", "ether", "eth"),
    ("job", "employment", "payroll", "labor", "labour", "unemployment", "jobless"),
    ("oil", "crude", "petroleum", "wti", "brent"),
    ("gas", "natural gas", "henry hub", "natgas"),
    ("petrol", "gasoline"),
    ("yield", "treasury", "bond", "interest"),
    ("bund", "gilt", "note", "bond"),
    ("equity", "stock", "share"),
    ("volatility", "vix", "fear"),
    ("valuation", "cape", "pe", "p e", "shiller", "earning"),
    ("gdp", "gross domestic product", "growth", "output"),
    ("house", "home", "housing"),
    ("fx", "currency", "forex", "exchange"),
    ("metal", "gold", "silver", "copper"),
    ("bullion", "gold"),
    ("commodity", "commodities"),
    ("economy", "macro"),
    ("dollar", "usd", "greenback", "buck"),
    ("euro", "eur"),
    ("yen", "jpy", "japan", "japanese"),
    ("pound", "gbp", "sterling", "british", "britain", "uk", "united kingdom", "cable"),
    ("franc", "chf", "swiss", "switzerland"),
    ("yuan", "cny", "renminbi", "rmb", "china", "chinese"),
    ("rupee", "inr", "india", "indian"),
    ("real", "brl", "brazil", "brazilian"),
    ("peso", "mxn", "mexico", "mexican"),
    ("krona", "sek", "sweden", "swedish"),
    ("krone", "nok", "norway", "norwegian"),
    ("won", "krw", "korea", "korean"),
    ("loonie", "cad", "canada", "canadian"),
    ("aussie", "aud", "australia", "australian"),
    ("singapore", "sgd"),
    ("america", "us", "usa", "american"),
    ("fed", "federal reserve", "frb"),
    ("ten", "10"),
    ("10y", "10 year"),
    ("2y", "2 year"),
    ("30y", "30 year"),
)
"""Words for one thing; several words in one text are met together."""

OTHER_WORDS = frozenset(word for group in SAME_THING for text in group for word in WORD.findall(text))
"""All of these words."""

OWN, IN_NAME, OF_GROUP, DESCRIBED, PART = 16.0, 8.0, 4.0, 3.0, 1.0
"""How much a word counts that is the slug or shortcode, is in the name, in category, type, source, description, or in a
longer word."""

OTHER_WORD = 0.6
"""How much of it a word counts that means the same, against the very word."""


def found(search: str, signals: Iterable[Signal]) -> list[Signal]:
    """The signals that hold every word of `search`, the best first; where none does, those that hold at least half.

    Of these the ones that hold most. Equal ones are in the order of their slugs.
    """
    asked = search.strip().casefold()
    ways = [_ways(word) for word in asked_words(search)]
    if not ways:
        return []
    scored = [(signal, _score(ways, signal)) for signal in signals]
    most = max((met for _, (met, _) in scored), default=0)
    if most * 2 < len(ways) or not most:
        return []
    best = [(_is_own(asked, signal), score, signal) for signal, (met, score) in scored if met == most]
    best.sort(key=lambda each: (-each[0], -each[1], each[2].slug))
    return [signal for _, _, signal in best]


def findable(words: Iterable[str], signals: Iterable[Signal]) -> set[str]:
    """The words that, each looked for alone, find one of the signals.

    All signals are looked at as one first: of the words for one thing, most are in none of them.
    """
    apart = [_read(signal) for signal in signals]
    words_of_all = {word: value for worth, _ in apart for word, value in worth.items()}
    together = words_of_all, "\n".join(text for _, text in apart)

    def is_met(way: tuple[str, ...]) -> bool:
        held = all(_worth(word, *together) for word in way)
        return held and (len(way) == 1 or any(all(_worth(word, *one) for word in way) for one in apart))

    return {word for word in words if any(is_met(way) for each in asked_words(word) for _, way in _ways(each))}


def asked_words(search: str) -> list[str]:
    """The words that are looked for, without those that only make a question of them."""
    words = list(dict.fromkeys(map(singular, WORD.findall(search.casefold()))))
    return [word for word in words if word not in STOP_WORDS] or words


def singular(word: str) -> str:
    """A word without the ending of its plural.

    >>> singular("yields"), singular("currencies"), singular("us"), singular("gas"), singular("indices")
    ('yield', 'currency', 'us', 'gas', 'index')
    """
    if word in ("indices", "indexes"):
        return "index"
    if word == "commodities":
        return "commodity"
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    is_plural = word.endswith("s") and not word.endswith(("ss", "us", "is", "as")) and len(word) > 3
    return word[:-1] if is_plural else word


@lru_cache(maxsize=1_024)
def _ways(word: str) -> tuple[tuple[float, tuple[str, ...]], ...]:
    """The words that meet a word, all of each way, and what each way is worth."""
    others = [each for group in SAME_THING if word in group for each in group if each != word]
    split = [tuple(map(singular, WORD.findall(each))) for each in dict.fromkeys(others)]
    return ((1.0, (word,)), *((OTHER_WORD, way) for way in split))


def _score(ways: Sequence[Sequence[tuple[float, tuple[str, ...]]]], signal: Signal) -> tuple[int, float]:
    """Return how many of the words a signal holds, and how well."""
    worth, whole = _read(signal)
    best = [
        max((share * min(_worth(word, worth, whole) for word in words) for share, words in each), default=0.0)
        for each in ways
    ]
    return sum(value > 0 for value in best), sum(best)


def _read(signal: Signal) -> tuple[Mapping[str, float], str]:
    texts = (signal.slug, signal.shortcode, signal.name, signal.category, signal.signal_type, signal.source)
    return _words_in(*texts, f"{signal.description or ''} {signal.unit or ''}")


def _worth(word: str, worth: Mapping[str, float], whole: str) -> float:
    exact = worth.get(word)
    if exact is not None:
        return exact
    return PART if len(word) >= SHORTEST_PART and word in whole else 0.0


@lru_cache(maxsize=KEPT_SIGNALS)
def _words_in(
    slug: str,
    shortcode: str | None,
    name: str,
    category: str | None,
    signal_type: str | None,
    source: str | None,
    description: str,
) -> tuple[Mapping[str, float], str]:
    """The words of a signal with the worth of each, and all its text."""
    worth: dict[str, float] = {}
    groups = [text for text in (category, signal_type, source) if text]
    for words, value in (
        (_words(description), DESCRIBED),
        (chain.from_iterable(map(_words, groups)), OF_GROUP),
        (_initials(source), OF_GROUP),
        (_words(name), IN_NAME),
        (_words(slug), IN_NAME),
        ([text.casefold() for text in (slug, shortcode) if text], OWN),
    ):
        worth.update(dict.fromkeys(words, value))
    whole = "\n".join(text for text in (slug, shortcode, name, *groups, description) if text).casefold()
    return worth, whole


def _words(text: str | None) -> list[str]:
    return list(map(singular, WORD.findall((text or "").casefold())))


def _initials(source: str | None) -> list[str]:
    """The initials of a source, with and without its first word: `BLS` of the U.S. Bureau of Labor Statistics."""
    letters = [word[0].casefold() for word in re.findall(r"\b[A-Z]\w*", source or "") if word]
    return ["".join(letters[start:]) for start in range(len(letters) - 1)]


def _is_own(asked: str, signal: Signal) -> int:
    """Return whether the search is the signal's own name, or begins one."""
    names = [text.casefold() for text in (signal.slug, signal.shortcode, signal.name) if text]
    return 2 if asked in names else 1 if any(name.startswith(asked) for name in names) else 0
