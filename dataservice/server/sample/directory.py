"""Writing the made-up data set in the layout an import reads."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

import orjson

from dataservice.server.imports.dataset import CURRENTS, INDICES, OBSERVATIONS, POSTS, WIRE
from dataservice.server.imports.dataset import SIGNALS as CATALOGUE
from dataservice.server.sample.signals import COLUMNS, SIGNALS, Walk, walk
from dataservice.server.sample.stories import posts, wire
from dataservice.server.timestamps import utc_now

REVISION_DAY = 12
"""On this day of each month, last month's value gets its second estimate, and that of the month before its third."""


@dataclass(frozen=True)
class Estimates:
    """A monthly value is estimated `count` times; the last estimate is final, the first is off by about `error`."""

    count: int
    error: float


ESTIMATES = {"us-cpi": Estimates(3, 0.3), "us-unemployment": Estimates(2, 0.12), "survey.pmi": Estimates(2, 0.5)}

LATE = {"eia.henry-hub": (20, 5)}
"""The value of this day of a month appears so many days later, when newer ones are there already."""

WITHDRAWN = {"pm.rate-cut": (10, 3)}
"""The value of this day of a month vanishes so many days later."""


def as_known(final: Walk, *, as_of: date, seed: int) -> Walk:
    """Return what the service shows of a walk on the day `as_of`."""
    slug = final.signal.slug
    if slug in ESTIMATES:
        return _estimated(final, ESTIMATES[slug], as_of, seed)
    shown = [_is_shown(slug, day, as_of) for day in final.days]
    days = [day for day, is_shown in zip(final.days, shown, strict=True) if is_shown]
    values = [value for value, is_shown in zip(final.values, shown, strict=True) if is_shown]
    return replace(final, days=days, values=values)


def estimates_known(month: date, as_of: date) -> int:
    """Count the estimates of a month's value: one from its first day on, one more on each revision day after.

    >>> [estimates_known(date(2026, 6, 1), date(2026, 7, day)) for day in (11, 12)]
    [1, 2]
    """
    months = (as_of.year - month.year) * 12 + as_of.month - month.month
    return max(1, months + (1 if as_of.day >= REVISION_DAY else 0))


def _estimated(final: Walk, estimates: Estimates, as_of: date, seed: int) -> Walk:
    values = []
    for day, value in zip(final.days, final.values, strict=True):
        random = Random(f"{seed}/{final.signal.slug}/{day}")  # noqa: S311  made-up errors, no secrets
        left = max(0, estimates.count - estimates_known(day, as_of)) / (estimates.count - 1)
        error = estimates.error * random.gauss(0, 1) * left
        values.append(round(value + error, final.signal.decimals))
    return replace(final, values=values)


def _is_shown(slug: str, day: date, as_of: date) -> bool:
    late_on, late_days = LATE.get(slug, (0, 0))
    withdrawn_on, kept_days = WITHDRAWN.get(slug, (0, 0))
    if day.day == late_on:
        return as_of >= day + timedelta(days=late_days)
    if day.day == withdrawn_on:
        return as_of < day + timedelta(days=kept_days)
    return True


SEED = 297
"""Of some hundreds the one whose walks look most like what they are named after."""

_INDICES: dict[str, tuple[str, str, dict[str, float]]] = {
    "pressure-gauge": (
        "Price pressure gauge",
        "macro",
        {"us-cpi": 0.4, "eia.wti.spot": 0.3, "eia.henry-hub": 0.1, "wb.gold": 0.2},
    ),
    "risk-dial": ("Risk dial", "equities", {"cboe.vix": 0.5, "sp-500": 0.3, "us-10y": 0.2}),
    "dollar-basket": ("Dollar basket", "fx", {"fx.eur-usd": 0.6, "fx.usd-jpy": 0.4}),
    "coin-heat": ("Coin heat", "crypto", {"btc-usd": 0.7, "eth-usd": 0.3}),
}

_CURRENTS: list[tuple[str, str, str | None, str | None, float | None, float | None, str | None]] = [
    ("energy-repricing", "Energy repricing", "commodities", "Oil and gas reset the cost base", 71.4, 58.2, "building"),
    ("calm-or-storm", "Calm or storm", "risk", "Volatility sets the price of patience", 44.0, 63.1, "fading"),
    ("rates-plateau", "Rates plateau", "macro", "Yields stop climbing and stay", 52.8, 70.5, "mature"),
    ("digital-tide", "Digital tide", "crypto", "Coins move before the news does", 83.6, 41.9, "emerging"),
    ("strong-dollar", "Strong dollar", "fx", None, 36.7, 55.4, "peaking"),
    ("undecided", "Undecided", None, None, None, None, None),
]


def write_sample(directory: str | Path, *, as_of: date | None = None, seed: int = SEED) -> None:
    """Write a made-up data set as the service shows it on the day `as_of` (today in UTC): the same for the same day.

    15 signals, 4 indices, 6 currents, 152 wire items and 12 posts, all of them named as made up. A later day shows
    newer observations, and some older ones revised.
    """
    directory = Path(directory)
    as_of = as_of or utc_now().date()
    finals = (walk(signal, as_of=as_of, seed=seed) for signal in SIGNALS)
    walks = {final.signal.slug: as_known(final, as_of=as_of, seed=seed) for final in finals}
    items = wire(walks, as_of=as_of, seed=seed)
    (directory / OBSERVATIONS).mkdir(parents=True, exist_ok=True)
    _write_csv(directory / CATALOGUE, COLUMNS, (signal.row for signal in SIGNALS))
    for slug, series in walks.items():
        rows = ((f"{day}T00:00:00Z", value) for day, value in zip(series.days, series.values, strict=True))
        _write_csv(directory / OBSERVATIONS / f"{slug}.csv", ["observed_at", "value"], rows)
    _write_array(directory / INDICES, _indices(walks))
    _write_array(directory / CURRENTS, _currents())
    _write_lines(directory / WIRE, items)
    _write_lines(directory / POSTS, posts(items))


def _indices(walks: dict[str, Walk]) -> list[dict[str, Any]]:
    """Composite indices: 100 plus the weighted change of the components over twelve months, in percent."""
    return [_index(slug, name, category, weights, walks) for slug, (name, category, weights) in _INDICES.items()]


def _index(slug: str, name: str, category: str, weights: dict[str, float], walks: dict[str, Walk]) -> dict[str, Any]:
    members = {component: walks[component] for component in weights}
    value = 100 + sum(weights[slug] * walk.change_pct(walk.steps_a_year) for slug, walk in members.items())
    read_at = min(walk.days[-1] for walk in members.values())
    return {
        "slug": slug,
        "name": f"{name} (made up)",
        "summary": f"Weighted twelve-month change of {len(weights)} made-up signals.",
        "category": category,
        "baseline_window_months": 12,
        "scale": "100 = unchanged",
        "components": [
            {"signal_slug": component, "weight": weight, "transform": "pct_change_12m"}
            for component, weight in weights.items()
        ],
        "latest": {"observed_at": f"{read_at}T00:00:00Z", "value": round(value, 4)},
    }


def _currents() -> list[dict[str, Any]]:
    """Currents of every family and stage, and one of which nothing is known yet."""
    fields = ("slug", "name", "family", "phrase", "momentum_score", "belief_score", "maturity_stage")
    rows = [dict(zip(fields, row, strict=True)) for row in _CURRENTS]
    return [{**row, "name": f"{row['name']} (made up)"} for row in rows]


def _write_csv(path: Path, header: list[str], rows: Iterable[Iterable[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def _write_array(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_bytes(orjson.dumps(records, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def _write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_bytes(b"".join(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records))
