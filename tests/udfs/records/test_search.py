"""The catalogue's search: all words must be there, the best match comes first."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataservice.models import Signal
from udfs.errors import ArgumentError
from udfs.records.lookup import corrected, matches, ranked, words_of

SIGNALS = [
    Signal(slug="cboe.vix", shortcode="VIX", name="VIX volatility index, close", description="Daily close"),
    Signal(
        slug="eia.wti.spot", shortcode="WTI", name="WTI crude oil spot price", description="Cushing, Oklahoma, daily"
    ),
    Signal(slug="fx.usd-jpy", name="JPY per USD exchange rate", description="Japan, monthly"),
    Signal(slug="gold-etf", name="Fund of gold miners"),
    Signal(slug="marigold", name="Flowers"),
    Signal(
        slug="us-cpi", shortcode="CPI", name="US consumer price index", description="All urban consumers, gold basket"
    ),
    Signal(slug="wb.gold", shortcode="GOLD", name="Gold price, monthly", description="Monthly average"),
]

words = st.text(string.ascii_lowercase, min_size=1, max_size=6)
signals = st.lists(
    st.builds(Signal, slug=words, name=words, shortcode=st.none() | words, description=st.none() | words),
    unique_by=lambda signal: signal.slug,
    max_size=12,
)


def found(search):
    return [signal.slug for signal in ranked(search, SIGNALS)]


def test_the_shortcode_comes_before_a_beginning_before_a_word_before_a_part_before_the_description():
    assert found("gold") == ["wb.gold", "gold-etf", "marigold", "us-cpi"]


def test_all_words_must_be_there_in_any_order_and_field():
    assert found("oklahoma WTI") == ["eia.wti.spot"]


def test_the_slug_itself_is_the_best_match():
    assert found("us-cpi")[0] == "us-cpi"


def test_signs_between_words_do_not_matter():
    assert found("USD/JPY") == ["fx.usd-jpy"]


def test_a_search_of_signs_only_looks_for_the_signs():
    assert words_of(" % ") == ["%"]
    assert found("%") == []


def test_a_misspelt_word_is_corrected_to_one_that_would_find_something():
    assert corrected("volatilty", SIGNALS) == "volatility"
    assert corrected("crude iol", SIGNALS) == "crude oil"
    assert corrected("qqqqqq", SIGNALS) is None


def test_text_is_looked_for_without_regard_to_case_and_missing_texts():
    assert matches(words_of("OIL inventories"), ("Crude Oil", None, "Inventories fall"))
    assert not matches(words_of("oil gas"), ("Crude Oil", None))


@given(signals, words)
def test_what_is_found_holds_the_word_and_nothing_that_holds_it_is_missed(catalogue, word):
    def texts(signal):
        return " ".join(filter(None, (signal.slug, signal.shortcode, signal.name, signal.description)))

    assert {s.slug for s in ranked(word, catalogue)} == {s.slug for s in catalogue if word in texts(s)}


@given(signals, words, st.randoms())
def test_the_order_does_not_depend_on_the_order_of_the_catalogue(catalogue, word, random):
    shuffled = random.sample(catalogue, len(catalogue))
    assert ranked(word, catalogue) == ranked(word, shuffled)


@given(signals)
def test_a_signal_asked_for_by_its_slug_comes_first_or_shares_its_name(catalogue):
    for signal in catalogue:
        best = ranked(signal.slug, catalogue)[0]
        assert signal.slug in (best.slug, best.shortcode, best.name)


def test_a_search_with_more_words_than_anybody_looks_for_is_refused():
    with pytest.raises(ArgumentError, match=r"^a search has at most 32 words, not 5,000$"):
        ranked(" ".join(map(str, range(5_000))), [])
