"""Search by words, and the order of what was found, best match first: pure functions of texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dataservice.models import Signal
from udfs.records.lookup import nearest

WORD = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    """The words that are looked for, in lower case; what holds none, such as `%`, is looked for as it is."""
    folded = text.casefold()
    return WORD.findall(folded) or folded.split()


def matches(words: Sequence[str], texts: Iterable[str | None]) -> bool:
    """Whether every word is found in one of the texts."""
    whole = "\n".join(text for text in texts if text).casefold()
    return all(word in whole for word in words)


def ranked(search: str, signals: Iterable[Signal]) -> list[Signal]:
    """The signals that hold every word of `search`, the best match first, equal ones in the order of their slugs."""
    words = words_of(search)
    asked = search.strip().casefold()
    found = [(_rank(asked, words, signal), signal) for signal in signals if matches(words, _texts(signal))]
    return [signal for _, signal in sorted(found, key=lambda pair: (pair[0], pair[1].slug))]


def corrected(search: str, signals: Iterable[Signal]) -> str | None:
    """The search with words that no signal holds replaced by the nearest that one does; None where none is near."""
    known = sorted({word for signal in signals for text in _texts(signal) if text for word in words_of(text)})
    words = [word if any(word in each for each in known) else nearest(word, known) for word in words_of(search)]
    return " ".join(word for word in words if word) if all(words) and words != words_of(search) else None


def _texts(signal: Signal) -> tuple[str | None, ...]:
    return signal.slug, signal.shortcode, signal.name, signal.description


def _rank(asked: str, words: Sequence[str], signal: Signal) -> tuple[int, int]:
    """Small is good: how the whole search meets a name of the signal, then how its words do."""
    names = [text.casefold() for text in (signal.slug, signal.shortcode, signal.name) if text]
    if asked in names:
        whole = 0
    elif any(name.startswith(asked) for name in names):
        whole = 1
    else:
        whole = 2
    return whole, sum(_word_rank(word, names, signal) for word in words)


def _word_rank(word: str, names: Sequence[str], signal: Signal) -> int:
    name = signal.name.casefold()
    name_words = WORD.findall(name)
    described = (signal.description or "").casefold()
    ladder = (
        word in names or word in name_words,
        any(text.startswith(word) for text in names),
        any(text.startswith(word) for text in name_words),
        any(word in text for text in names),
        word in WORD.findall(described),
    )
    return next((step for step, met in enumerate(ladder) if met), len(ladder))
