"""Words of Bloomberg, FRED, Macrobond, Haver and pandas, and what each is called here: advice, never an alias.

A word that means one thing there and another here would give a plausible wrong number, so each is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

Words = Mapping[str, tuple[str, str]]
"""A word in lower case: whose it is, and what is written here."""

_FRED, _BLOOMBERG, _HAVER, _MACROBOND, _PANDAS = "FRED", "Bloomberg", "Haver", "Macrobond", "pandas"

OPTIONS: Words = {
    "per": (_BLOOMBERG, "freq=M (D, W, M, Q or Y)"),
    "periodicity": (_BLOOMBERG, "freq=M (D, W, M, Q or Y)"),
    "days": (_BLOOMBERG, "freq=D; fill=prev for every day, freq=B; fill=prev for weekdays"),
    "dts": (_BLOOMBERG, "dates=hide or dates=show"),
    "dates_visible": (_BLOOMBERG, "dates=hide or dates=show"),
    "sort": (_BLOOMBERG, "order=desc for the newest first"),
    "dir": (_BLOOMBERG, "layout=wide, or TRANSPOSE around the formula"),
    "direction": (_BLOOMBERG, "layout=wide, or TRANSPOSE around the formula"),
    "points": (_BLOOMBERG, "limit=60, or N60 as start"),
    "quotetype": (_BLOOMBERG, "nothing: a signal has one value"),
    "units": (_FRED, "transform=pct, yoy, diff, yoydiff, ann or log"),
    "frequency": (_FRED, "freq=M (D, B, W, M, Q or Y)"),
    "aggregation_method": (_FRED, "agg=mean, sum or last"),
    "aggregation": (_HAVER, "agg=mean, sum or last"),
    "sort_order": (_FRED, "order=desc for the newest first"),
    "observation_start": (_FRED, "the argument start"),
    "observation_end": (_FRED, "the argument end"),
    "vintage_dates": (_FRED, "asof=2026-06-30"),
    "realtime_start": (_FRED, "asof=2026-06-30"),
    "realtime_end": (_FRED, "asof=2026-06-30"),
    "tolowerfrequencymethod": (_MACROBOND, "agg=mean, sum, last, first, min or max"),
    "tohigherfrequencymethod": (_MACROBOND, "fill=prev or fill=linear"),
    "missingvaluemethod": (_MACROBOND, "fill=prev, linear or none"),
    "partialperiodsmethod": (_MACROBOND, "partial=drop, mark or keep"),
    "calendarmergemode": (_MACROBOND, "align=union or align=intersect"),
    "method": (_PANDAS, "fill=prev"),
}

FREQ: Words = {
    "a": (_FRED, "Y"),
    "annual": (_FRED, "Y"),
    "yearly": (_FRED, "Y"),
    "quarterly": (_FRED, "Q"),
    "monthly": (_FRED, "M"),
    "weekly": (_FRED, "W"),
    "daily": (_FRED, "D, or B for weekdays"),
    "cy": (_BLOOMBERG, "Y"),
    "cq": (_BLOOMBERG, "Q"),
    "cm": (_BLOOMBERG, "M"),
    "cw": (_BLOOMBERG, "W"),
    "cd": (_BLOOMBERG, "D"),
    "wef": (_FRED, "W-FRI"),
    "weth": (_FRED, "W-THU"),
    "wew": (_FRED, "W-WED"),
    "wetu": (_FRED, "W-TUE"),
    "wem": (_FRED, "W-MON"),
    "wesu": (_FRED, "W or W-SUN"),
    "wesa": (_FRED, "W-SAT"),
    "me": (_PANDAS, "M"),
    "qe": (_PANDAS, "Q"),
    "ye": (_PANDAS, "Y"),
}

AGG: Words = {
    "avg": (_FRED, "mean"),
    "average": (_HAVER, "mean"),
    "eop": (_FRED, "last"),
    "end": (_HAVER, "last"),
    "flow": (_MACROBOND, "sum"),
    "highest": (_MACROBOND, "max"),
    "lowest": (_MACROBOND, "min"),
}

FILL: Words = {
    "p": (_BLOOMBERG, "prev"),
    "previous": (_MACROBOND, "prev"),
    "c": (_BLOOMBERG, "none"),
    "b": (_BLOOMBERG, "none"),
    "n": (_BLOOMBERG, "none"),
    "na": (_BLOOMBERG, "none"),
    "ffill": (_PANDAS, "prev"),
    "bfill": (_PANDAS, "next"),
    "interpolate": (_PANDAS, "linear"),
}

TRANSFORM: Words = {
    "lin": (_FRED, "none"),
    "chg": (_FRED, "diff"),
    "ch1": (_FRED, "yoydiff"),
    "pch": (_FRED, "pct (a fraction: 0.02 is 2 %)"),
    "pc1": (_FRED, "yoy (a fraction: 0.02 is 2 %)"),
    "pca": (_FRED, "ann (a fraction: 0.02 is 2 %)"),
    "cch": (_FRED, "log|diff (a fraction: 0.02 is 2 %)"),
    "cca": (_FRED, "log|diff, times the periods of a year"),
    "difa%": (_HAVER, "ann (a fraction: 0.02 is 2 %)"),
    "diff%": (_HAVER, "pct (a fraction: 0.02 is 2 %)"),
    "yryr%": (_HAVER, "yoy (a fraction: 0.02 is 2 %)"),
    "yryr": (_HAVER, "yoydiff"),
    "diffl": (_HAVER, "log|diff"),
    "yryrl": (_HAVER, "log|diff(1Y)"),
    "difal": (_HAVER, "log|diff, times the periods of a year"),
    "movv": (_HAVER, "ma(n)"),
    "yoyrate": (_MACROBOND, "yoy"),
    "cop": (_MACROBOND, "pct"),
    "aggregatesum": (_MACROBOND, "sum(n), or cum for a running sum"),
    "pct_change": (_PANDAS, "pct"),
    "shift": (_PANDAS, "lag(n)"),
    "rolling": (_PANDAS, "ma(n), sum(n), std(n) or median(n)"),
    "cumsum": (_PANDAS, "cum"),
    "rebase": (_MACROBOND, "index(100, 2020-01-01)"),
    "qoq": ("a usual word", "pct(1Q)"),
    "wow": ("a usual word", "pct(1W)"),
    "dod": ("a usual word", "pct"),
}

FIELD: Words = {
    "px_last": (_BLOOMBERG, "value"),
    "last_price": (_BLOOMBERG, "value"),
    "px_close_1d": (_BLOOMBERG, "previous"),
    "px_yest_close": (_BLOOMBERG, "previous"),
    "chg_net_1d": (_BLOOMBERG, "change"),
    "chg_pct_1d": (_BLOOMBERG, "pct_change (a fraction: 0.02 is 2 %)"),
    "last_update_dt": (_BLOOMBERG, "observed_at"),
    "last_update": (_BLOOMBERG, "observed_at"),
    "security_name": (_BLOOMBERG, "name"),
    "short_name": (_BLOOMBERG, "shortcode"),
    "desc": (_HAVER, "description"),
    "frq": (_HAVER, "rhythm"),
    "frequency": (_FRED, "rhythm"),
    "title": (_FRED, "name"),
    "last_updated": (_FRED, "observed_at"),
} | {
    each: ("SIGNAL_HISTORY", f'=DS.SIGNAL_HISTORY("us-cpi", "N1", , "transform={each}; dates=hide; header=none")')
    for each in ("yoy", "mom", "pct", "diff", "yoydiff", "ann", "log", "lag", "drawdown")
}

DATE: Words = {
    "ed": (_BLOOMBERG, "-1D, or leave end out for the newest"),
    "today": ("a usual word", "leave end out"),
    "-1ay": (_BLOOMBERG, "-1Y"),
    "-1cy": (_BLOOMBERG, "-1Y"),
    "-1cm": (_BLOOMBERG, "-1M"),
    "-1cq": (_BLOOMBERG, "-1Q"),
    "-1cw": (_BLOOMBERG, "-1W"),
    "-1cd": (_BLOOMBERG, "-1D"),
}

WORDS: Mapping[str, Words] = MappingProxyType(
    {
        "option": OPTIONS,
        "freq": FREQ,
        "agg": AGG,
        "fill": FILL,
        "transform": TRANSFORM,
        "field": FIELD,
        "date": DATE,
    }
)
"""The words by the place where they are written here."""

REMARK = re.compile(r",? (?!\d)")
"""Where a remark begins behind what is written here; the arguments of `index(100, 2020-01-01)` are none."""

PAGE = "see Coming from other tools"


def advice(place: str, word: str) -> str:
    """Return what to write in place of another tool's `word`, as the end of a message; empty for a word that is none.

    >>> advice("transform", "pc1")
    '; pc1 of FRED is yoy (a fraction: 0.02 is 2 %) here'
    """
    key = _key(word)
    found = WORDS[place].get(key)
    return "" if found is None else f"; {key.upper() if word.isupper() else key} of {found[0]} is {found[1]} here"


def other_word(place: str, word: str) -> str:
    """Return what another tool's `word` is called here, without a remark; empty for a word that is none.

    >>> other_word("freq", "Monthly")
    'M'
    """
    _, here = WORDS.get(place, {}).get(_key(word), ("", ""))
    return REMARK.split(here)[0]


def _key(word: str) -> str:
    return word.strip().casefold().partition("(")[0].strip()
