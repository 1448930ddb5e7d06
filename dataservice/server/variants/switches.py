"""What the contract leaves open, as switches: the first value of each is what the embedded service does by itself."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Switch:
    """One open question and the ways to answer it."""

    name: str
    values: tuple[str, ...]
    about: str

    @property
    def usual(self) -> str:
        """Return what the embedded service does."""
        return self.values[0]


EXACTNESS = ("same", "float32", "one-decimal", "two-decimals", "four-digits")

_TABLE = (
    Switch("start", ("included", "excluded"), "whether the first day of a window belongs to it"),
    Switch("end", ("included", "excluded", "midnight"), "whether the last day does, or is compared with its midnight"),
    Switch("no-start", ("everything", "year"), "what a window without `start` holds"),
    Switch("no-end", ("everything", "year"), "what a window without `end` holds: all, or a year from its start"),
    Switch("far-dates", ("accepted", "refused"), "whether days before 1900 and after 2100 are refused with 400"),
    Switch(
        "window-longest",
        (
            *("any", "year-refused", "year-refused-unsaid", "five-years-refused", "year-newest", "year-oldest"),
            *("ten-years-newest", "from-ten-years-ago", "from-a-year-ago", "1000-newest", "1000-oldest"),
        ),
        "how long a window may be: longer ones are refused with 400, or cut to a part that counts as all",
    ),
    Switch("page", ("1000", "997", "500", "300", "100"), "observations on a page"),
    Switch(
        "more",
        (
            "total",
            "page-total",
            "meta",
            "cursor",
            "next",
            "link",
            "has-more",
            "page-number",
            "next-start",
            "truncated",
            "not-complete",
            "unsaid",
        ),
        "how a page of observations says that more follow",
    ),
    Switch(
        "envelope",
        ("data", "bare", "observations", "items", "results", "nested", "columns"),
        "what the observations stand in",
    ),
    Switch(
        "record",
        ("observed_at", "date", "timestamp", "time", "pair", "short", "two-values"),
        "the names of an observation's fields",
    ),
    Switch(
        "times",
        ("utc", "offset", "date", "naive", "space", "seconds", "millis", "slashes"),
        "how the time of an observation is written",
    ),
    Switch("values", ("number", "text", "grouped"), "how the value of an observation is written"),
    Switch("nulls", ("none", "null", "nan", "dot"), "how a row without a value is written, if there are such rows"),
    Switch("detail-nulls", ("same", "left-out"), "whether the recent history leaves rows without a value out"),
    Switch("stamps", ("midnight", "evening"), "the time of day of all observations"),
    Switch("detail-stamps", ("same", "evening"), "the time of day in the recent history, and in `latest`"),
    Switch(
        "window-stamps",
        ("same", "evening", "period-end", "two-days-later"),
        "when windows date an observation, beside the recent history",
    ),
    Switch("detail-values", EXACTNESS, "how exact the values of the recent history are"),
    Switch("window-values", EXACTNESS, "how exact the values of a window are"),
    Switch(
        "window-unit",
        ("same", "adjusted", "percent", "thousands", "offset", "change"),
        "what windows tell of a value, beside the recent history: in another unit, adjusted otherwise, its change",
    ),
    Switch("forecasts", ("none", "window", "both"), "where there are rows of days to come"),
    Switch("history-lag", ("none", "one", "three"), "by how many rows the recent history ends before `latest`"),
    Switch("window-lag", ("none", "one", "three"), "by how many rows windows end before the recent history"),
    Switch("newest", ("both", "detail-only", "window-only"), "where the newest observation is shown first"),
    Switch("history", ("observations", "days", "cap-360", "cap-100", "ignored", "absent"), "what `history` counts"),
    Switch("history-order", ("oldest", "newest"), "which observation of the recent history comes first"),
    Switch("latest", ("object", "absent", "number"), "how the latest observation is told"),
    Switch("detail-envelope", ("data", "bare", "signal"), "what a signal stands in"),
    Switch("list-envelope", ("data", "bare", "items", "results"), "what the records of a list stand in"),
    Switch("catalogue-page", ("500", "100", "5"), "signals on a page of the catalogue, whatever `limit` says"),
    Switch("catalogue-total", ("told", "untold", "of-page"), "whether the catalogue says how many signals there are"),
    Switch(
        "collections",
        ("whole", "paged", "paged-unsaid"),
        "whether indices and currents come two at a time, and whether that is said",
    ),
    Switch("wire-page", ("200", "100", "50"), "items of the wire on a page, whatever `limit` says"),
    Switch("almanac", ("codex", "own-beats", "empty", "unlike"), "what the almanac shows beside the codex"),
    Switch(
        "reading",
        ("latest", "value", "beside-level", "other-name", "text", "words", "two-candidates"),
        "where an index keeps it",
    ),
    Switch("odd-record", ("none", "number-text", "number-words", "wrong-type", "nan"), "one record of a list is odd"),
    Switch(
        "headers",
        ("plain", "grouped", "window", "unlimited", "fraction", "spaced", "tier-plan", "draft", "nought", "absent"),
        "how the quota headers are written",
    ),
    Switch(
        "unknown",
        ("error-404", "html-404", "empty-404", "null-200", "error-200", "error-400"),
        "the answer about a signal that does not exist",
    ),
    Switch("slash", ("answered", "html-404"), "the answer where a slug holds a slash, as a web server gives it"),
    Switch("address", ("exact", "moved-301", "moved-308"), "whether the paths are answered with a redirection"),
    Switch("page-two", ("good", "fails"), "whether the second page of observations fails with 500"),
    Switch("catalogue-order", ("stable", "shuffled", "turned"), "whether the catalogue has one order on all pages"),
    Switch("catalogue-offset", ("heeded", "ignored"), "whether the catalogue minds `offset`"),
    Switch("feed-page", ("200", "50", "20", "10", "5", "3"), "posts and items on a page, whatever `limit` says"),
    Switch("feed-more", ("untold", "limit", "truncated", "not-complete"), "what posts and items say of others"),
    Switch("undated", ("none", "null", "absent"), "whether every third post and item tells no time of publication"),
    Switch("one-signal", ("open", "401", "403", "402"), "what the signal us-cpi is answered with"),
    Switch("prepared", ("at-once", "202"), "whether a window is answered with 202 and Retry-After at first"),
    Switch("alias", ("none", "prefixed"), "whether a signal tells another slug than it is asked by"),
    Switch("charset", ("utf-8", "windows-1252", "utf-16"), "the character set of the answers"),
    Switch("packing", ("asked", "never", "always"), "when answers are packed with gzip"),
)

SWITCHES: Mapping[str, Switch] = {switch.name: switch for switch in _TABLE}


class Variant(Mapping[str, str]):
    """One way to answer all open questions: those that are not named as the embedded service does.

    Raises `ValueError` for a question or an answer that there is none of.
    """

    def __init__(self, chosen: Mapping[str, str] | None = None) -> None:
        for name, value in (chosen or {}).items():
            if name not in SWITCHES:
                raise ValueError(f"{name!r} is no switch; there are {', '.join(SWITCHES)}")
            if value not in SWITCHES[name].values:
                raise ValueError(f"{name} is {' or '.join(SWITCHES[name].values)}, not {value!r}")
        self._chosen = dict(chosen or {})

    @classmethod
    def parse(cls, settings: Iterable[str]) -> "Variant":
        """The variant of texts such as `end=excluded`; raises `ValueError` for another text."""
        pairs = [text.partition("=") for text in settings]
        return cls({name.strip(): value.strip() for name, _, value in pairs})

    def __getitem__(self, name: str) -> str:
        return self._chosen.get(name, SWITCHES[name].usual)

    def __iter__(self) -> Iterator[str]:
        return iter(SWITCHES)

    def __len__(self) -> int:
        return len(SWITCHES)

    def __str__(self) -> str:
        return " ".join(f"{name}={value}" for name, value in self.unusual.items()) or "as the embedded service"

    @cached_property
    def unusual(self) -> dict[str, str]:
        """The switches that differ from the embedded service."""
        return {name: self[name] for name in self if self[name] != SWITCHES[name].usual}
