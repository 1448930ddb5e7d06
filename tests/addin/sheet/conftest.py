"""Fixtures of the sheet's tests: they need the component, which is downloaded and not in the repository."""

import asyncio
from datetime import UTC, datetime

import pytest

from addin.sheet.component import is_here
from addin.workbook.template.build import example_session, write_template
from tests.addin.sheet.parts.pages import empty_sheet, opened_sheet, sheet_server


@pytest.fixture
def component():
    """Skip a test where the sheet's component is not here."""
    if not is_here():
        pytest.skip("the sheet's component is not here: make sheet")


@pytest.fixture(scope="session")
def dashboard(tmp_path_factory):
    """Return the book that the demo opens, with the data of a fixed day."""
    path = tmp_path_factory.mktemp("book") / "workbook_template.xlsx"

    async def write() -> None:
        async with example_session() as session:
            await write_template(path, session, created=datetime(2026, 8, 31, tzinfo=UTC), opens_on="Dashboard")

    asyncio.run(write())
    return path


@pytest.fixture(scope="module")
def shown(chromium, sample_service, dashboard, tmp_path_factory):
    """Return the demo's book in a page, with its first values, for tests that only look."""
    if not is_here():
        pytest.skip("the sheet's component is not here: make sheet")
    with (
        sheet_server(sample_service, tmp_path_factory.mktemp("shown"), dashboard) as url,
        opened_sheet(chromium, url) as page,
    ):
        yield page


@pytest.fixture(scope="module")
def one_page(chromium, sample_service, tmp_path_factory):
    """Return the sheet in a page for all tests of a module."""
    if not is_here():
        pytest.skip("the sheet's component is not here: make sheet")
    with empty_sheet(chromium, sample_service, tmp_path_factory.mktemp("blank")) as page:
        yield page


@pytest.fixture
def blank(one_page):
    """Return the sheet with an empty book, for tests that need no service of their own."""
    one_page.begin_anew()
    yield one_page
    assert one_page.tab.errors + one_page.complaints == []
