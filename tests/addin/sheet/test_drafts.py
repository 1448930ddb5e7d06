"""What was changed and not downloaded is there again after a reload, a crash, a closed tab; nothing is left unasked."""

import asyncio
from contextlib import suppress

import pytest
from playwright.async_api import Error

from tests.addin.sheet.parts.pages import SETTLED, SheetPage, empty_sheet, opened_sheet, sheet_server
from tests.addin.workbook.books import make_book

pytestmark = pytest.mark.usefixtures("component")

WRITTEN = "sheet.drafts.left().then((drafts) => drafts.length)"


def changed(page: SheetPage) -> None:
    page.put({"A1": "41", "A2": "=A1+1"})
    page.tab.evaluate("() => sheet.drafts.write()")


def goes_on(page: SheetPage) -> None:
    """Take up the draft that the page offers."""
    page.until("!document.getElementById('draft').hidden")
    page.tab.evaluate("document.getElementById('restore').click()")
    page.until("sheet.book.model.getters.getCells(sheet.book.model.getters.getActiveSheetId()).length >= 2")


@pytest.mark.parametrize("end", ["reload", "close", "crash"])
def test_what_was_changed_is_offered_after_the_page_was_left(chromium, service, tmp_path, end):
    book = make_book(tmp_path / "report.xlsx", {"B1": 7})
    with sheet_server(service, tmp_path, book) as url, opened_sheet(chromium, url) as page:
        changed(page)
        left_by(page, end)
        page.until(f"{SETTLED} && sheet.book.name")
        assert page.cell("A1")["value"] in (None, ""), "nothing is changed before the user says so"
        page.sees("2 changed cells of report.xlsx")
        goes_on(page)
        assert page.values("A1", "A2", "B1") == [41, 42, 7]
        page.download(tmp_path / "copy.xlsx")
        page.until("!sheet.drafts.isUnsaved")
        assert page.tab.evaluate(f"() => {WRITTEN}") == 0, "what was downloaded is no draft any more"


def left_by(page: SheetPage, end: str) -> None:
    """Leave the page in this way, and come back to the same address in the same profile."""

    async def leave(tab):
        url = tab.url
        tab.on("dialog", lambda dialog: asyncio.ensure_future(dialog.accept()))
        if end == "reload":
            await tab.reload()
            return tab
        other = await tab.context.new_page()
        if end == "crash":
            with suppress(Error):
                await tab.goto("chrome://crash", timeout=5_000)
        await tab.close()
        await other.goto(url)
        return other

    page.tab.page = page.run(leave)


def test_nothing_is_left_unasked(chromium, service, tmp_path):
    other = make_book(tmp_path / "other.xlsx", {"A1": "other"})
    with empty_sheet(chromium, service, tmp_path) as page:
        asked = []
        page.tab.hear("dialog", lambda it: (asked.append(it.message), asyncio.ensure_future(it.dismiss())))
        changed(page)
        page.open_file(other)
        page.until("true")
        assert page.cell("A2")["value"] == 42, "without a yes the book stays"
        assert asked == ["sheet.xlsx has changes that are not downloaded. Leave it? They stay here as a draft."]
        assert page.tab.evaluate("() => !dispatchEvent(new Event('beforeunload', { cancelable: true }))")
        page.download(tmp_path / "copy.xlsx")
        page.until("!sheet.drafts.isUnsaved")
        page.open_file(other)
        page.until("sheet.book.name === 'other.xlsx'")
        assert len(asked) == 1, "what was downloaded needs no question"


def test_a_book_that_the_component_cannot_read_leaves_the_open_one_as_it_is(chromium, service, tmp_path):
    with empty_sheet(chromium, service, tmp_path) as page:
        changed(page)
        unreadable = """async () => {
          const { load } = o_spreadsheet;
          const { fetch } = globalThis;
          globalThis.fetch = async (...sent) => {
            const answer = await fetch(...sent);
            if (!String(sent[0]).includes("sheet/open")) return answer;
            const opened = await answer.json();
            opened.parts = { "[Content_Types].xml": "<none/>" };
            return new Response(JSON.stringify(opened), { headers: answer.headers });
          };
        }"""
        page.tab.evaluate(unreadable)
        page.tab.evaluate("() => { sheet.drafts.isUnsaved = false; }")
        page.open_file(make_book(tmp_path / "other.xlsx", {"A1": "other"}))
        page.sees("other.xlsx cannot be opened")
        assert page.values("A1", "A2") == [41, 42]
        page.put({"A1": "1"})
        assert page.cell("A2")["value"] == 2, "it goes on"


def test_a_draft_that_is_discarded_is_gone(chromium, service, tmp_path):
    with sheet_server(service, tmp_path) as url, opened_sheet(chromium, url) as page:
        changed(page)
        left_by(page, "close")
        page.sees("2 changed cells of sheet.xlsx")
        page.press("Discard")
        page.until("document.getElementById('draft').hidden")
        assert page.tab.evaluate(f"() => {WRITTEN}") == 0


def test_changes_that_are_undone_are_no_draft(chromium, service, tmp_path):
    with empty_sheet(chromium, service, tmp_path) as page:
        page.put({"A1": "41"})
        page.tab.evaluate("() => sheet.book.model.dispatch('REQUEST_UNDO')")
        page.until("!sheet.drafts.isUnsaved")
        assert page.tab.evaluate("() => sheet.book.changes.edits()") == []
