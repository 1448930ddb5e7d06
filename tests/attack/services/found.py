"""What one service showed, and whether a probe named what it does otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.attack.services.cells import Cell, Verdict
from tests.attack.services.foreign import FOREIGN
from tests.attack.services.least import least
from tests.attack.services.ways.clauses import UNASKED

AT_ANY_TIME = "at any time"
"""The phase of processes that ask again sooner or later: nobody knows in how few requests."""


@dataclass
class Found:
    """What one variant showed."""

    variant: str
    verdicts: list[tuple[str, Cell, Verdict, str]] = field(default_factory=list)
    requests: dict[str, int] = field(default_factory=dict)
    invented: list[str] = field(default_factory=list)
    deviations: tuple[str, ...] = ()
    """What a probe named, if there was one."""
    chosen: Mapping[str, str] = field(default_factory=dict)
    """How it differs, by its switches."""

    @property
    def is_named(self) -> bool:
        """Whether the probe named each of its deviations that an answer can show, and nothing where there is none.

        Of a service that no switch describes it is to name any.
        """
        if self.variant in FOREIGN:
            return bool(self.deviations) or self.variant in UNASKED
        wanted = [NAMES[name] for name, value in self.chosen.items() if is_seen(name, value, self.chosen)]
        if not wanted:
            return not self.deviations
        return all(any(told.startswith(names) for told in self.deviations) for names in wanted)

    @property
    def spent(self) -> int:
        """The requests of the phases that can be told in how few they can be asked."""
        return sum(count for phase, count in self.requests.items() if phase != AT_ANY_TIME)

    @property
    def fewest(self) -> int:
        """In how few these can be asked."""
        return sum(count for phase, count in least(self.chosen).items() if phase in self.requests)

    def count(self, verdict: Verdict) -> int:
        """How many cells were so."""
        return sum(each[2] is verdict for each in self.verdicts)

    @property
    def is_right(self) -> bool:
        """Whether every cell was right."""
        return self.count(Verdict.RIGHT) == len(self.verdicts)


UNSEEN = {
    *(("window-longest", value) for value in ("ten-years-newest", "from-ten-years-ago")),
    *((name, how) for name in ("detail-values", "window-values") for how in ("two-decimals", "four-digits")),
    ("window-stamps", "period-end"),
    *(("detail-nulls", "left-out"), ("stamps", "evening"), ("catalogue-total", "of-page")),
    *(("catalogue-order", "shuffled"), ("catalogue-order", "turned"), ("catalogue-offset", "ignored")),
    *(("one-signal", "401"), ("one-signal", "402"), ("one-signal", "403")),
    *(("almanac", "own-beats"), ("slash", "html-404"), ("packing", "never"), ("packing", "always")),
}
"""What makes no answer of a probe differ from a documented one, or not that of every signal."""


def is_seen(name: str, value: str, chosen: Mapping[str, str]) -> bool:
    """Whether an answer shows how a switch stands: rows of the evening of the last day lie behind its midnight."""
    if (name, value) == ("end", "midnight"):
        return "evening" in (chosen.get("stamps"), chosen.get("window-stamps"))
    return (name, value) not in UNSEEN


NAMES: dict[str, tuple[str, ...]] = {
    "start": ("start:",),
    "end": ("end:",),
    "no-start": ("without start",),
    "no-end": ("without end",),
    "far-dates": ("far dates",),
    "page": ("observations: page",),
    "more": ("observations: what follows", "observations: total"),
    "envelope": ("all: stands in",),
    "record": ("observation: fields",),
    "times": ("observation: time",),
    "values": ("observation: value",),
    "nulls": ("observation: value", "rows without a value", "all: JSON"),
    "detail-nulls": ("rows without a value", "history", "detail and window"),
    "stamps": ("detail and window: times",),
    "detail-stamps": ("detail and window",),
    "detail-values": ("detail and window: values",),
    "window-values": ("detail and window: values",),
    "window-stamps": ("detail and window",),
    "window-unit": ("detail and window: values", "detail and window"),
    "history-lag": ("latest", "history", "the newest observation", "detail and window"),
    "window-lag": ("the newest observation", "detail and window"),
    "window-longest": ("windows", "observations: total"),
    "forecasts": ("days to come",),
    "newest": ("the newest observation", "detail and window"),
    "history": ("history",),
    "history-order": ("recent history: order",),
    "latest": ("latest",),
    "detail-envelope": ("signal: stands in",),
    "list-envelope": ("catalogue: stands in",),
    "catalogue-page": ("catalogue: pages",),
    "catalogue-total": ("catalogue: pages",),
    "collections": ("indices: pages",),
    "wire-page": ("wire: most items",),
    "almanac": ("almanac",),
    "reading": ("an index: reading",),
    "odd-record": ("wire: ", "catalogue: records", "currents: "),
    "headers": ("quota headers",),
    "unknown": ("an unknown signal",),
    "address": ("paths",),
    "page-two": ("second page",),
    "catalogue-order": ("catalogue: pages", "catalogue: order"),
    "catalogue-offset": ("catalogue: pages", "catalogue: order"),
    "feed-page": ("wire: most items", "almanac: most posts"),
    "feed-more": ("wire: what follows", "wire: most items"),
    "undated": ("wire: records", "almanac: records"),
    "alias": ("signal: slug",),
    "charset": ("content type",),
    "prepared": ("the answer about",),
}
"""By switch, how the questions begin one of which names it."""
