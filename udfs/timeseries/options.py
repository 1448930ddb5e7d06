"""How a history is shown, by the names of the options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from udfs.arguments.kinds import Explained
from udfs.errors import ArgumentError
from udfs.timeseries.frequency import Freq
from udfs.timeseries.pipeline import Steps, text_of
from udfs.timeseries.resample import Agg, Partial

ALONE = 'corr needs several signals, such as "sp-500, cboe.vix"'
"""Why a signal has no correlation where there is no other."""


class Align(Explained):
    """The rows that several series have in common."""

    UNION = "union", "every date of any"
    INTERSECT = "intersect", "dates on which all have a value"


class Fill(Explained):
    """The way to fill gaps."""

    NONE = "none", "a blank"
    PREV = "prev", "with the previous value, even from before the start"
    NEXT = "next", "the value after"
    LINEAR = "linear", "a value between, by time"
    ZERO = "zero", "0"


class FillTo(Explained):
    """The end of a filled table."""

    LAST = "last", "to the last observation of any signal"
    END = "end", "to the end of the window, or today"


class Calc(Explained):
    """The values that a transform sees."""

    FILLED = "filled", "those that are shown: converted, aligned and filled before"
    OWN = "own", "each signal's own observations; aligned and filled after"


class Counted(Explained):
    """The unit that the n of a transform counts."""

    PERIODS = "periods", "periods of the series' rhythm; a missing one is a gap"
    ROWS = "rows", "observations, however far apart"


class Order(Explained):
    """The order of rows."""

    ASC = "asc", "oldest"
    DESC = "desc", "newest"


class Header(Explained):
    """The heading of a column of values."""

    SLUG = "slug", "slugs, and what was computed"
    NAME = "name", "names, and what was computed"
    BARE = "bare", "slugs alone"
    NONE = "none", "no header row"


class Dates(Explained):
    """The column of dates, shown or not."""

    SHOW = "show"
    HIDE = "hide"


class Layout(Explained):
    """One column for each series, or one row for each value."""

    WIDE = "wide", "a column for each signal"
    LONG = "long", "a row for each value"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """The options of a table; the defaults are the observations as they are."""

    freq: Freq = Freq.RAW
    agg: Agg = Agg.LAST
    partial: Partial | None = None
    align: Align = Align.UNION
    fill: Fill = Fill.NONE
    fillto: FillTo = FillTo.LAST
    transform: tuple[Steps, ...] = ()
    calc: Calc = Calc.FILLED
    count: Counted = Counted.PERIODS
    order: Order = Order.ASC
    header: Header = Header.SLUG
    dates: Dates = Dates.SHOW
    limit: int | None = None
    layout: Layout = Layout.WIDE

    @property
    def sees_filled(self) -> bool:
        """Return whether transforms see the rows of the table, and not each series' own."""
        return self.calc is Calc.FILLED and (self.fill is not Fill.NONE or self.align is Align.INTERSECT)

    def partial_of(self, steps: Steps) -> Partial:
        """Return what is done with partial periods: nothing is compared with a part, unless that is asked for."""
        if self.partial is not None:
            return self.partial
        return Partial.DROP if any(step.transform.name != "none" for step in steps) else Partial.MARK

    def heading(self, label: str, steps: Steps, marks: Sequence[str] = ()) -> str:
        """Return the heading of a series: its label, how its values were made, and what is odd with them."""
        if self.header is Header.BARE:
            return label
        made = [] if self.freq.is_raw else [str(self.agg)]
        if any(step.transform.name != "none" for step in steps):
            of_filled = " of filled" if self.calc is Calc.FILLED and self.fill is not Fill.NONE else ""
            made.append(f"{text_of(steps)}{of_filled}")
        inside = "; ".join([*filter(None, [", ".join(made)]), *marks])
        return f"{label} ({inside})" if inside else label

    def columns(self, slugs: Sequence[str]) -> list[tuple[str, Steps]]:
        """The signal and the chain of each column: one chain for all, one for each, or several for one signal.

        Raises `ArgumentError` where there are others.
        """
        chains = self.transform or ((),)
        if len({slug.casefold() for slug in slugs}) < 2 and any(
            step.transform.name == "corr" for steps in chains for step in steps
        ):
            raise ArgumentError(ALONE)
        if len(chains) == 1:
            return [(slug, chains[0]) for slug in slugs]
        if len(slugs) == 1:
            return [(slugs[0], chain) for chain in chains]
        if len(chains) != len(slugs):
            raise ArgumentError(
                f"option transform has {len(chains)} chains for {len(slugs)} signals: give one for all or one for each"
            )
        return list(zip(slugs, chains, strict=True))
