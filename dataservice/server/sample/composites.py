"""The made-up indices, computed from the made-up signals, and the made-up currents."""

from typing import Any

from dataservice.server.sample.walks import Walk

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


def indices(walks: dict[str, Walk]) -> list[dict[str, Any]]:
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


def currents() -> list[dict[str, Any]]:
    """Currents of every family and stage, and one of which nothing is known yet."""
    fields = ("slug", "name", "family", "phrase", "momentum_score", "belief_score", "maturity_stage")
    rows = [dict(zip(fields, row, strict=True)) for row in _CURRENTS]
    return [{**row, "name": f"{row['name']} (made up)"} for row in rows]
