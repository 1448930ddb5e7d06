"""The catalogue is searched as people ask: 39 phrases on real signals, the right one among the first three."""

import csv
from pathlib import Path

import pytest

from dataservice.models import Signal
from udfs.records.lookup import ranked
from udfs.records.search import OTHER_WORDS, findable, found, singular

CATALOGUE = Path(__file__).parents[4] / "shared" / "data" / "signals.csv"

PHRASES = {
    "inflation": "us-cpi",
    "consumer prices": "us-cpi",
    "the cost of living": "us-cpi",
    "BLS": "us-cpi",
    "bureau of labor statistics": "us-cpi",
    "American inflation": "us-cpi",
    "how high is US inflation now?": "us-cpi",
    "price of gold": "wb.gold",
    "gold prices": "wb.gold",
    "bullion": "wb.gold",
    "precious metals": "wb.gold",
    "World Bank": "wb.gold",
    "oil": "eia.wti.spot",
    "crude": "eia.wti.spot",
    "what does a barrel of oil cost": "eia.wti.spot",
    "petroleum": "eia.wti.spot",
    "EIA": "eia.wti.spot",
    "commodities": "eia.wti.spot",
    "yields": "us-10y",
    "treasuries": "us-10y",
    "10 year bond": "us-10y",
    "ten-year treasury yield": "us-10y",
    "US interest rates": "us-10y",
    "volatility": "cboe.vix",
    "fear index": "cboe.vix",
    "VIX": "cboe.vix",
    "stock valuation": "shiller.cape",
    "Shiller": "shiller.cape",
    "P/E ratio": "shiller.cape",
    "dollar yen": "fx.usd-jpy",
    "Japanese yen": "fx.usd-jpy",
    "euro exchange rate": "fx.eur-usd",
    "british pound": "fx.gbp-usd",
    "sterling": "fx.gbp-usd",
    "Swiss franc": "fx.usd-chf",
    "renminbi": "fx.usd-cny",
    "Canadian dollar": "fx.usd-cad",
    "aussie dollar": "fx.aud-usd",
    "korean won": "fx.usd-krw",
}


@pytest.fixture(scope="module")
def signals():
    if not CATALOGUE.exists():
        pytest.skip(f"{CATALOGUE} is not here")
    with CATALOGUE.open(encoding="utf-8", newline="") as stream:
        return [Signal(**{**row, "is_premium": row["is_premium"] == "true"}) for row in csv.DictReader(stream)]


def test_natural_phrases_find_the_right_signal_among_the_first_three(signals):
    first = {phrase: [signal.slug for signal in found(phrase, signals)[:3]] for phrase in PHRASES}
    missed = {phrase: first[phrase] for phrase, slug in PHRASES.items() if slug not in first[phrase]}
    assert len(PHRASES) == 39
    assert missed == {}


def test_what_is_not_there_is_not_found(signals):
    assert [
        phrase for phrase in ("bitcoin", "xyzzy", "unemployment in mars colonies", "") if found(phrase, signals)
    ] == []


def test_words_looked_for_together_are_those_that_find_something_alone(signals):
    words = [*OTHER_WORDS, *PHRASES, "zzz", "of", "o", "ol", "oil", "banks"]
    alone = [word for word in words if len(word.split()) == 1]
    for some in (signals, signals[:3], []):
        assert findable(alone, some) == {word for word in alone if found(word, some)}


def test_a_name_in_any_case_comes_first(signals):
    assert [ranked(name, signals)[0].slug for name in ("cpi", "US-CPI", "fx.usd")] == ["us-cpi", "us-cpi", "fx.usd-brl"]


@pytest.mark.parametrize("word", ["us", "gas", "bus", "basis", "loss", "fed"])
def test_a_word_that_is_no_plural_keeps_its_end(word):
    assert singular(word) == word
