"""Books that count dates from 1904: the same days go in and come out as in any other book."""

from datetime import date, datetime, time
from pathlib import Path

import openpyxl
from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900

from addin.workbook.refresh.refresh import book_cost, refresh_book
from dataservice.client import AsyncClient
from tests.embedded import EmbeddedService
from udfs import Session

DAY = date(2026, 6, 30)
CELLS = {
    "B1": '=_xldudf_DS_SIGNAL("us-10y",,A1)',
    "B2": '=_xldudf_DS_SIGNAL("us-10y","observed_at",A1)',
    "B3": '=YEAR(_xldudf_DS_SIGNAL("us-10y","observed_at",A1))',
    "B4": '=_xldudf_DS_SIGNAL("us-10y",,DATE(2026,6,30))+0',
    "B5": '=INDEX(_xldudf_DS_SIGNAL_HISTORY("us-10y",A1,A1),2,2)',
    "B6": '=_xldudf_DS_SIGNAL("us-10y",,"2026-06-30")',
    "B7": '=TEXT(B2,"yyyy-mm-dd")',
}


async def _shown(service: EmbeddedService, path: Path, epoch: datetime) -> list[object]:
    book = openpyxl.Workbook()
    book.epoch = epoch
    book.active["A1"] = DAY
    for cell, formula in CELLS.items():
        book.active[cell] = formula
    book.save(path)
    async with AsyncClient(service.url, service.key) as client:
        session = Session(client)
        await refresh_book(session, path, path)
        cost = await book_cost(session, path)
    assert cost.cost.at_most == 0
    sheet = openpyxl.load_workbook(path, data_only=True).active
    return [sheet[cell].value for cell in CELLS]


async def test_a_book_of_1904_shows_the_same_values_and_days(service: EmbeddedService, tmp_path: Path):
    usual = await _shown(service, tmp_path / "usual.xlsx", CALENDAR_WINDOWS_1900)
    mac = await _shown(service, tmp_path / "mac.xlsx", CALENDAR_MAC_1904)
    assert mac == usual
    assert mac[1] == datetime.combine(DAY, time())
    assert mac[0] == mac[3] == mac[4] == mac[5]
