"""Tables in Calc's own formulas: blanks do not count, texts are found, dates are dates in every language."""

import pytest

from addin.calc.extension import Extension
from tests.addin.calc.counting import counted_backend
from tests.addin.calc.office import COMMAND, require_soffice, running_office

GAPS = '=DS.SIGNAL_HISTORY({"btc-usd";"us-cpi"};"2026-06-20";;"fill=none")'


@pytest.fixture(scope="module")
def shared_office(sample_service, tmp_path_factory):
    """Return a running Calc without a screen."""
    require_soffice()
    folder = tmp_path_factory.mktemp("calc")
    with counted_backend(sample_service, folder) as backend, running_office(Extension(url=backend.url)) as running:
        yield running


@pytest.fixture
def office(shared_office):
    """Return the running Calc with an empty document."""
    shared_office.new_hidden()
    yield shared_office
    shared_office.close()


def computed(office, *formulas):
    office.put_formulas("N1", formulas)
    return [row[0] for row in office.show(f"N1:N{len(formulas)}")]


@pytest.mark.parametrize(("kind", "suffix"), [("Calc MS Excel 2007 XML", "xlsx"), ("calc8", "ods")])
def test_blanks_do_not_count_also_after_saving(kind, suffix, office, tmp_path):
    office.put_array("A1:C2", GAPS)
    office.dispatch(COMMAND + "refresh")
    file = (tmp_path / f"book.{suffix}").as_uri()
    office.store_as(file, kind)
    for _ in ("saved", "opened again"):
        cells = [row[0] for row in office.show("C2:C40")]
        known = [value for value in cells if isinstance(value, float)]
        assert len(known) < len(cells)
        mean, least, count = computed(office, "=AVERAGE(C2:C40)", "=MIN(C2:C40)", "=COUNT(C2:C40)")
        assert (mean, least, count) == (pytest.approx(sum(known) / len(known)), min(known), len(known))
        office.close()
        office.load_hidden(file)


def test_texts_of_a_table_of_texts_are_found(office):
    office.put_array("A1:B16", '=DS.SIGNALS(;;"slug, name")')
    assert computed(
        office,
        '=A2="btc-usd"',
        '=MATCH("btc-usd";A1:A16;0)',
        '=COUNTIF(A1:A16;"btc-usd")',
        '=VLOOKUP("btc-usd";A1:B16;2;0)=B2',
        '=XLOOKUP("btc-usd";A1:A16;B1:B16)=B2',
    ) == [1.0, 2.0, 1.0, 1.0, 1.0]
    office.put_array("P1:Q1", '=FILTER(A1:B16;A1:A16="btc-usd")')
    assert office.show("P1:Q1") == office.show("A2:B2")


def test_texts_among_numbers_are_found_in_the_ways_that_the_page_names(office):
    office.put_array("A1:C16", '=DS.SIGNALS(;;"slug, name, is_premium")')
    assert computed(
        office,
        '=(A2&"")="btc-usd"',
        '=MATCH("btc-usd";A1:A16&"";0)',
        '=COUNTIF(A1:A16;"btc-usd*")',
        '=VLOOKUP("btc-usd*";A1:C16;2;0)=B2',
        '=XLOOKUP("btc-usd";TRIM(A1:A16);TRIM(B1:B16))=TRIM(B2)',
    ) == [1.0, 2.0, 1.0, 1.0, 1.0]
    office.put_array("P1:R1", '=FILTER(A1:C16;A1:A16&""="btc-usd")')
    assert office.show("P1:R1") == office.show("A2:C2")


@pytest.mark.parametrize("locale", ["de-DE", "fr-FR", "ja-JP"])
def test_dates_of_a_table_are_dates_in_every_language(locale, sample_service, tmp_path):
    require_soffice()
    with (
        counted_backend(sample_service, tmp_path) as backend,
        running_office(Extension(url=backend.url), locale=locale) as office,
    ):
        office.new_hidden()
        assert office.standard_format() != "General" or locale == "fr-FR", "the profile has another language"
        office.put_array("A1:B2", '=DS.SIGNAL_HISTORY("btc-usd";"N3")')
        office.put_array("D1:E2", '=DS.SIGNAL_HISTORY("btc-usd";"N3";;"header=none")')
        office.dispatch(COMMAND + "refresh")
        assert [office.shown_text(cell) for cell in ("A1", "A4", "D1", "D3")] == [
            "date",
            "2026-08-31",
            "2026-08-29",
            "2026-08-31",
        ]
        assert "-" not in office.shown_text("B4") + office.shown_text("E1")
