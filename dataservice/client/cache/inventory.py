"""What a store holds for each key: how many answers, histories and archived signals, and how large they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote

from dataservice.stores import EntrySize, LogSize

ANSWER, HISTORY_END = "/v1/", "/observations"
"""Parts of the names of answers and of histories; other entries are notes, such as the quota last seen."""


SIGNAL = "/v1/signals/"

SEALED = "~1/"
"""Behind the hash of a key: the rest of the name is sealed (`dataservice.stores.seal`)."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of things, and their bytes together."""

    count: int = 0
    nbytes: int = 0

    def plus(self, nbytes: int) -> Amount:
        """One thing more."""
        return Amount(self.count + 1, self.nbytes + nbytes)


@dataclass(frozen=True, slots=True)
class KeyShare:
    """The share of the key whose hash is `scope`."""

    scope: str
    answers: Amount
    histories: Amount
    archive: Amount

    @property
    def nbytes(self) -> int:
        """All of it."""
        return self.answers.nbytes + self.histories.nbytes + self.archive.nbytes


def key_shares(entries: Iterable[EntrySize], logs: Iterable[LogSize]) -> list[KeyShare]:
    """Return what `entries` and `logs`, the contents of a store, are for each key; the largest share first.

    Entries that are sealed, so that only who has the key knows what they are, count as answers.

    >>> entry = EntrySize("1f3b/v1/signals/us-cpi/observations", 400)
    >>> key_shares([entry], [])
    [KeyShare(scope='1f3b', answers=Amount(count=0, nbytes=0), histories=Amount(count=1, nbytes=400), \
archive=Amount(count=0, nbytes=0))]
    """
    answers: dict[str, Amount] = {}
    histories: dict[str, Amount] = {}
    archive: dict[str, Amount] = {}
    for entry in entries:
        if ANSWER in entry.name or SEALED in entry.name:
            _add(histories if entry.name.endswith(HISTORY_END) else answers, entry)
    for log in logs:
        _add(archive, log)
    none = Amount()
    shares = [
        KeyShare(scope, answers.get(scope, none), histories.get(scope, none), archive.get(scope, none))
        for scope in sorted({*answers, *histories, *archive})
    ]
    return sorted(shares, key=lambda share: -share.nbytes)


def cached_slugs(names: Iterable[str]) -> list[str]:
    """The signals of which there is an answer or a history among entries of these names, sorted.

    >>> cached_slugs(["1f3b/v1/signals/us-cpi?history=90", "1f3b/v1/signals/us-cpi/observations", "1f3b/v1/signals"])
    ['us-cpi']
    """
    found = (name.partition("?")[0].partition(SIGNAL)[2].removesuffix(HISTORY_END) for name in names)
    return sorted({unquote(slug) for slug in found if slug and "/" not in slug})


def _add(amounts: dict[str, Amount], item: EntrySize | LogSize) -> None:
    scope = item.name.partition("/")[0].removesuffix(SEALED.rstrip("/"))
    amounts[scope] = amounts.get(scope, Amount()).plus(item.nbytes)
