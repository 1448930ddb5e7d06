"""Who serves the sheet, under which policy, and what it answers to what is no workbook."""

import base64
import re

import httpx
import pytest

from addin.cli.backend import served_pages
from addin.config.settings import Settings
from addin.sheet.files import blank_book, book_file
from addin.sheet.routes import routes
from addin.workbook.calculation.engine.process import EngineFailedError
from addin.workbook.ooxml.errors import WorkbookError
from addin.workbook.ooxml.package import Package
from tests.addin.sheet.parts.pages import sheet_server
from tests.addin.workbook.books import make_book

BLANK = base64.b64encode(blank_book()).decode()

pytestmark = pytest.mark.usefixtures("component")


def test_a_backend_serves_no_sheet_unless_a_setting_says_so(backend):
    assert backend.http.get("/sheet").status_code == 404
    assert backend.http.get("/sheet/component/owl.js").status_code == 404
    alone = served_pages(Settings(url="https://data.example"))
    assert not any(route.path.startswith("/sheet") for route in alone)
    allowed = served_pages(Settings(url="https://data.example", serve_sheet=True))
    assert "/sheet" in {route.path for route in allowed}


def test_the_bare_address_leads_to_the_sheet_where_it_is_served(service, tmp_path):
    with sheet_server(service, tmp_path) as url, httpx.Client(base_url=url, trust_env=False) as http:
        assert http.get("/").headers["location"] == "sheet"
        assert http.get("/", follow_redirects=True).headers["content-type"].startswith("text/html")


def test_only_the_page_itself_may_make_functions_from_text(service, tmp_path):
    with sheet_server(service, tmp_path) as url, httpx.Client(base_url=url, trust_env=False) as http:
        paths = ["/sheet", "/taskpane.html", "/help", "/functions.js", "/sheet/main.js", "/sheet/book", "/status"]
        policies = {path: http.get(path).headers["content-security-policy"] for path in paths}
    assert [path for path, policy in policies.items() if "unsafe-eval" in policy] == ["/sheet"]
    assert "frame-ancestors 'none'" in policies["/sheet"]
    assert "https:" not in policies["/sheet"], "the page loads nothing from anywhere else"


def test_a_calculation_that_fails_is_not_taken_for_a_file_that_cannot_be_read():
    with pytest.raises(WorkbookError, match=r"^mine\.xlsx"), book_file(b"no book", "mine.xlsx") as path:
        Package(path)
    with pytest.raises(EngineFailedError, match="took longer"), book_file(blank_book(), "mine.xlsx"):
        raise EngineFailedError("the calculation took longer than 20 s")


def test_the_licences_of_the_component_are_served_with_it(service, tmp_path):
    with sheet_server(service, tmp_path) as url, httpx.Client(base_url=url, trust_env=False) as http:
        text = http.get("/sheet/component/o_spreadsheet.LICENSE.txt")
        versions = http.get("/sheet/component/versions.txt").text
    assert "GNU" in text.text
    assert text.headers["content-type"].startswith("text/plain")
    assert "@odoo/o-spreadsheet 19.3.7 (LGPL-3.0-or-later) sha512-" in versions


def test_the_first_book_is_read_anew_as_soon_as_its_file_changes(service, tmp_path):
    path = make_book(tmp_path / "book.xlsx", {"A1": 1})
    with sheet_server(service, tmp_path, path) as url, httpx.Client(base_url=url, trust_env=False) as http:
        first, again = (http.get("/sheet/book").json() for _ in range(2))
        make_book(path, {"A1": 2})
        changed = http.get("/sheet/book").json()
    assert again == first
    assert [opened["cells"]["Sheet1"]["rows"] for opened in (first, changed)] == [
        [[1, [1, 0, "1"]]],
        [[1, [1, 0, "2"]]],
    ]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/sheet/open", {"name": "x.xlsx", "content": "%%%"}),
        ("/sheet/open", {"name": "x.xlsx", "content": base64.b64encode(b"no zip").decode()}),
        ("/sheet/open", {"name": 1}),
        ("/sheet/save", {"name": "x.xlsx", "content": "%%%"}),
        ("/sheet/save", {"name": "x.xlsx", "content": base64.b64encode(b"no zip").decode()}),
        (
            "/sheet/save",
            {"name": "x.xlsx", "content": BLANK, "sheets": [{"name": "there is none", "cells": {"A1": {}}}]},
        ),
        ("/sheet/save", {"name": "x.xlsx", "content": BLANK, "sheets": [{"name": "Sheet1", "cells": {"A0": {}}}]}),
        ("/sheet/save", []),
    ],
)
def test_what_is_no_workbook_is_refused_with_a_sentence(service, tmp_path, path, body):
    with sheet_server(service, tmp_path) as url:
        response = httpx.post(f"{url}{path}", json=body, trust_env=False)
    assert response.status_code == 400, response.text
    assert response.json()["error"]
    assert not re.search(r"/tmp|addin-sheet-|Traceback", response.text), "it names the user's file, and no other"


def test_pages_of_other_sites_can_neither_open_nor_save(service, tmp_path):
    foreign = {"origin": "https://evil.example"}
    with sheet_server(service, tmp_path) as url:
        for path in ("open", "save"):
            assert httpx.post(f"{url}/sheet/{path}", json={}, headers=foreign, trust_env=False).status_code == 403


def test_sheets_come_in_the_order_of_their_tabs(service, tmp_path):
    book = make_book(tmp_path / "book.xlsx", {"A1": 1}, Zebra={"A1": 2}, Ant={"A1": 3})
    with sheet_server(service, tmp_path, book) as url:
        parts = httpx.get(f"{url}/sheet/book", trust_env=False).json()["parts"]
    assert [name for name in sorted(parts) if "worksheets/sheet" in name] == [
        f"xl/worksheets/sheet{number}.xml" for number in (1, 2, 3)
    ]
    assert 'Target="worksheets/sheet2.xml"' in parts["xl/_rels/workbook.xml.rels"], "no link is absolute"


def test_without_the_component_there_is_no_page(monkeypatch, tmp_path):
    monkeypatch.setattr("addin.sheet.routes.is_here", lambda: False)
    assert routes(Settings(url="https://data.example")) == []
