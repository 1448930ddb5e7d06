"""Completing the names of signals, indices and currents while a formula is typed."""

import pytest

from tests.addin.sheet.parts.pages import SheetPage, opened_sheet, sheet_server

pytestmark = pytest.mark.usefixtures("component")

PROPOSALS = ".o-autocomplete-value"
K3 = "{ sheetId: 'Sheet1', col: 10, row: 2 }"
FORMULA = f"sheet.book.model.getters.getCellText({K3}, {{ showFormula: true }})"


def typed(page: SheetPage, text: str) -> list[str]:
    """What is offered after the text was typed into the active cell."""
    page.run(lambda browser: browser.keyboard.type(text, delay=5))
    return page.texts(PROPOSALS)


def answered(path: str) -> str:
    """Whether the page has an answer of this path, asked without a query as the lists of names are."""
    return f"performance.getEntriesByName(new URL('{path}', location.href).href).some((each) => each.responseEnd > 0)"


@pytest.mark.parametrize(
    ("call", "begun", "expected", "formula"),
    [
        ('=DS.SIGNALS(,,"slug")', '=DS.SIGNAL("us-c', '"us-cpi"', '=DS.SIGNAL("us-cpi")'),
        ('=DS.SIGNALS(,,"slug")', '=DS.SPARK("gold', '"wb.gold"', '=DS.SPARK("wb.gold")'),
        ("=DS.INDICES()", '=DS.INDEX("risk', '"risk-dial"', '=DS.INDEX("risk-dial")'),
        ("=DS.CURRENTS()", '=DS.CURRENT("cal', '"calm-or-storm"', '=DS.CURRENT("calm-or-storm")'),
    ],
)
def test_names_at_hand_are_offered_inside_the_quotes(chromium, service, tmp_path, call, begun, expected, formula):
    with sheet_server(service, tmp_path) as url, opened_sheet(chromium, url) as page:
        page.put({"A1": call})
        assert page.cell("A1")["value"]
        spent = service.running.request_count
        page.select("K3")
        typed(page, begun[:-1])
        page.until(answered("functions/call"))
        typed(page, begun[-1])
        page.until(f"document.activeElement.textContent === '{begun}'")
        assert page.text(PROPOSALS) == expected
        # The component takes the caret from the page when a key goes up; no finger is faster than the next frame.
        page.run(lambda browser: browser.keyboard.down("Tab"))
        page.until(f"document.activeElement.textContent === '{formula[:-1]}'")
        page.run(lambda browser: browser.keyboard.up("Tab"))
        page.keys(")")
        page.until(f"document.activeElement.textContent === '{formula}'")
        page.keys("Enter")
        page.until(f"{FORMULA} === '{formula}'")
        page.cell("K3")
        assert service.running.request_count <= spent + 1


def test_without_a_catalogue_nothing_is_offered_and_nothing_is_spent(chromium, service, tmp_path):
    with sheet_server(service, tmp_path) as url, opened_sheet(chromium, url) as page:
        page.select("K3")
        assert typed(page, '=DS.SIGNAL("us-c') == []
        page.until(answered("functions/cost"))
        assert typed(page, "p") == []
    assert service.running.request_count == 0


def test_choices_of_other_arguments_are_offered_as_before(chromium, service, tmp_path):
    with sheet_server(service, tmp_path) as url, opened_sheet(chromium, url) as page:
        page.select("K3")
        page.put({"A1": '=DS.SIGNALS(,,"slug")'})
        assert '"observed_at"' in typed(page, '=DS.SIGNAL("us-cpi", "obs')
