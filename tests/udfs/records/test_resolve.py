"""From slugs and shortcodes to signals: with a catalogue at hand without a request, and with the nearest name."""

import pytest

from dataservice.client import Catalogue, CatalogueResource, SignalDetail, SignalResource
from dataservice.models import Signal
from tests.udfs.parts.reader import NOW, MemoryReader, answered
from udfs.engine import batch
from udfs.engine.batch import Run
from udfs.errors import NoDataError
from udfs.records.resolve import looks_like_slug, need_detail, slug_of

CATALOGUE = CatalogueResource()
SIGNALS = Catalogue(
    (
        Signal(slug="us-cpi", shortcode="CPI", name="US consumer price index"),
        Signal(slug="eia.wti.spot", shortcode="WTI", name="WTI crude oil"),
    )
)
DAY_S = 86_400


async def told(reader, asking):
    run = Run(asking)
    await batch.answer([run], reader, NOW)
    if run.error:
        raise run.error
    return run.result


@pytest.mark.parametrize("name", ["us-cpi", "CPI", "US-CPI", "cpi"])
@pytest.mark.parametrize("age_s", [0, DAY_S - 1, 30 * DAY_S])
async def test_a_name_that_a_catalogue_at_hand_knows_costs_nothing_however_old_it_is(name, age_s):
    reader = MemoryReader(store={CATALOGUE: answered(SIGNALS, age_s=age_s)})
    assert await told(reader, slug_of(name)) == "us-cpi"
    assert reader.reads == []


@pytest.mark.parametrize(
    ("name", "nearest"), [("us-cpii", "us-cpi"), ("WTII", "eia.wti.spot"), ("us consumer prices", "us-cpi")]
)
async def test_an_unknown_name_is_refused_from_today_s_catalogue_with_the_nearest(name, nearest):
    reader = MemoryReader(memory={CATALOGUE: answered(SIGNALS, age_s=DAY_S - 1)})
    with pytest.raises(NoDataError, match=rf"^no signal '{name}'; did you mean {nearest}\?$"):
        await told(reader, slug_of(name))
    assert reader.reads == []


async def test_a_name_like_no_other_is_told_where_to_look():
    with pytest.raises(NoDataError, match=r"^no signal 'zzzz'; SIGNALS lists and searches those there are$"):
        await told(MemoryReader(memory={CATALOGUE: answered(SIGNALS)}), slug_of("zzzz"))


@pytest.mark.parametrize("memory", [{}, {CATALOGUE: answered(SIGNALS)}])
@pytest.mark.parametrize("name", ["us-cpi,us-10y", "us-cpi, eia.wti.spot", "CPI; WTI"])
async def test_several_names_in_one_text_are_told_how_to_be_given_and_cost_nothing(name, memory):
    reader = MemoryReader(memory=memory)
    with pytest.raises(NoDataError, match=rf"^no signal '{name}'; several are a range, or in braces: "):
        await told(reader, slug_of(name))
    assert reader.reads == []


async def test_an_older_catalogue_refuses_nothing_that_could_be_a_new_slug():
    reader = MemoryReader(memory={CATALOGUE: answered(SIGNALS, age_s=DAY_S + 1)})
    assert await told(reader, slug_of("us-new")) == "us-new"
    assert reader.reads == []


async def test_without_a_catalogue_what_looks_like_a_slug_is_asked_as_it_is():
    reader = MemoryReader()
    assert await told(reader, slug_of("us-cpi")) == "us-cpi"
    assert reader.reads == []


@pytest.mark.parametrize("name", ["WTI", "Eia.Wti.Spot", "EIA.WTI.SPOT"])
async def test_without_a_catalogue_a_shortcode_and_a_slug_in_capitals_need_it(name):
    reader = MemoryReader({CATALOGUE: SIGNALS})
    assert await told(reader, slug_of(name)) == "eia.wti.spot"
    assert reader.reads == [CATALOGUE]


async def test_a_signal_that_the_service_does_not_know_is_named_as_the_formula_named_it():
    with pytest.raises(NoDataError, match=r"^no signal 'us-new'; SIGNALS lists"):
        await told(MemoryReader(), need_detail("us-new"))


async def test_the_detail_comes_under_the_slug_whatever_the_name():
    detail = SignalDetail(SIGNALS.signals[0], None)
    reader = MemoryReader({SignalResource("us-cpi"): detail}, memory={CATALOGUE: answered(SIGNALS)})
    assert (await told(reader, need_detail("CPI"))).value is detail


@pytest.mark.parametrize(
    ("name", "is_slug"), [("us-cpi", True), ("eia.wti", True), ("EIA.WTI", False), ("WTI", False), ("S&P 500", False)]
)
def test_slugs_have_lower_case_letters_or_dots_and_no_capital_ones(name, is_slug):
    assert looks_like_slug(name) is is_slug


async def test_a_fresh_answer_under_a_slug_settles_it_without_a_catalogue():
    detail = SignalDetail(SIGNALS.signals[0], None)
    reader = MemoryReader(memory={SignalResource("us-cpi"): answered(detail)})
    assert (await told(reader, need_detail("us-cpi"))).value is detail
    assert await told(reader, slug_of("us-cpi")) == "us-cpi"
    assert reader.reads == reader.look_ups == []


async def test_what_has_answered_is_asked_again_though_today_s_catalogue_lacks_it():
    detail = SignalDetail(Signal(slug="us-old"), None)
    known = {CATALOGUE: answered(SIGNALS), SignalResource("us-old"): answered(detail, age_s=DAY_S)}
    reader = MemoryReader(store=known, service={SignalResource("us-old"): detail})
    assert (await told(reader, need_detail("us-old"))).value is detail
