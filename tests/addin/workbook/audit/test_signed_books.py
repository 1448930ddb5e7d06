"""Signed books: every changed cell is found and no other, and the lines alone make the same values again."""

import re
import shutil
import zipfile
from pathlib import Path
from random import Random

import orjson
import pytest
from openpyxl.worksheet.formula import DataTableFormula

from addin.workbook.audit.frozen import sign_copy
from addin.workbook.audit.replay import books_to_replay, replay_book
from addin.workbook.audit.signing import BookSigner
from addin.workbook.audit.verify import verify_book
from addin.workbook.freeze import freeze_book
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.errors import WorkbookError
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.positions import address
from addin.workbook.refresh.refresh import refresh_book
from addin.workbook.refresh.report import Refreshed
from dataservice.client import AsyncClient
from tests.addin.workbook.books import make_book
from tests.embedded import EmbeddedService
from udfs import Session

CELLS = {
    "A1": '=_xldudf_DS_SIGNAL("us-cpi")',
    "A2": '=_xldudf_DS_SIGNAL("us-cpi","observed_at")',
    "A3": '=_xldudf_DS_INDEX("risk-dial")',
    "A4": '=_xldudf_DS_CURRENT("digital-tide","maturity_stage")',
    "A5": '=_xldudf_DS_SIGNAL("nope")',
    "A6": "=A1",
    "C1": ("C1:D2", '=_xldudf_DS_SIGNAL_HISTORY("us-10y","N60")'),
    "F1": "mine",
}


async def signed(service: EmbeddedService, book: Path, target: Path, audit: Path) -> Refreshed:
    async with AsyncClient(service.url, service.key) as client:
        session = Session(client, traced=True)
        return await refresh_book(session, book, target, signing=BookSigner(audit, service=service.url))


def values_of(path: Path) -> dict[str, bytes]:
    """The text of every value in the first sheet, as it stands in the file."""
    with zipfile.ZipFile(path) as archive:
        xml = archive.read("xl/worksheets/sheet1.xml")
    cells = re.findall(rb'<c r="([A-Z]+[0-9]+)"[^>]*?(?:/>|>(.*?)</c>)', xml)
    return {cell.decode(): b"".join(re.findall(rb"<v[^>]*>.*?</v>|<is>.*?</is>", content)) for cell, content in cells}


def alter(path: Path, sheet: str, cells: list[tuple[int, int]]) -> None:
    """Put another number into each of the cells, as a program would that saves the book."""
    with Package(path) as package:
        book = Book(package)
        for spot in cells:
            old = book.sheet(sheet).value(spot)
            book.sheet(sheet).write(spot, old + 1e-9 if isinstance(old, float) else f"{old}x")
        parts = book.changed_parts()
        with zipfile.ZipFile(path) as archive:
            content = {name: parts.get(name, archive.read(name)) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as out:
        for name, part in content.items():
            out.writestr(name, part)


async def test_each_number_is_written_with_what_it_rests_on(service: EmbeddedService, tmp_path: Path):
    book, audit = make_book(tmp_path / "book.xlsx", CELLS), tmp_path / "numbers.jsonl"
    await signed(service, book, book, audit)
    lines = {line["cell"]: line for line in map(orjson.loads, audit.read_bytes().splitlines()) if "cell" in line}
    assert lines.keys() == {"A1", "A2", "A3", "A4", "A5", "A6", "C1"}
    cpi = lines["A1"]
    assert (cpi["book"], cpi["sheet"], cpi["formula"]) == ("book.xlsx", "Sheet1", '=DS.SIGNAL("us-cpi")')
    assert [source["resource"] for source in cpi["sources"]] == ["/v1/signals/us-cpi"]
    assert cpi["sources"] == lines["A2"]["sources"], "both cells rest on one answer"
    assert cpi["sources"][0].keys() == {"resource", "cache_entry", "fetched_at", "age_s", "sha256"}
    assert (lines["A2"]["value"], lines["C1"]["area"]) == ({"date": "2026-08-01"}, "C1:D61")
    assert (lines["A5"]["standing"], lines["A5"]["value"]) == ("error", {"error": "#N/A"})
    assert lines["A6"]["value"] == cpi["value"]
    assert service.key not in audit.read_text()


async def test_the_hash_of_an_answer_is_the_same_out_of_every_cache(service: EmbeddedService, tmp_path: Path):
    from dataservice.stores import SqliteStore

    book, hashes = make_book(tmp_path / "book.xlsx", CELLS), []
    for name in ("first.jsonl", "again.jsonl"):
        store = SqliteStore(tmp_path / "cache.sqlite")
        async with AsyncClient(service.url, service.key, store=store) as client:
            signing = BookSigner(tmp_path / name)
            report = await refresh_book(Session(client, traced=True), book, book, signing=signing)
        await store.aclose()
        numbers = map(orjson.loads, (tmp_path / name).read_bytes().splitlines())
        hashes.append({n["cell"]: [s["sha256"] for s in n["sources"]] for n in numbers if "cell" in n})
    assert report.requests == 0, "the store also knows which name does not exist"
    assert hashes[0] == hashes[1]


async def test_a_book_as_it_was_signed_holds_and_says_so_without_the_file_too(service: EmbeddedService, tmp_path: Path):
    book, audit = make_book(tmp_path / "book.xlsx", CELLS), tmp_path / "numbers.jsonl"
    for _ in range(2):
        await signed(service, book, book, audit)
        for verified in (verify_book(book, audit), verify_book(book)):
            assert (verified.holds, verified.cells) == (True, 6 + 122 + 1)


async def test_a_thousand_altered_cells_are_found_and_no_other(service: EmbeddedService, tmp_path: Path):
    formula = '=_xldudf_DS_SIGNAL_HISTORY("us-10y","N360")'
    cells = {f"{column}1": (f"{column}1", formula) for column in ("A", "D", "G", "J")}
    book, audit = make_book(tmp_path / "book.xlsx", cells), tmp_path / "numbers.jsonl"
    await signed(service, book, book, audit)
    numbers = [(row, column) for row in range(2, 362) for column in (1, 2, 4, 5, 7, 8, 10, 11)]
    chosen = Random(7).sample(numbers, 1_000)
    alter(book, "Sheet1", chosen)
    found = [difference.where for difference in verify_book(book, audit).differences]
    assert sorted(found) == sorted(f"Sheet1!{address(spot)}" for spot in chosen)


async def test_a_formula_that_was_replaced_is_found_even_if_it_shows_the_same(service: EmbeddedService, tmp_path: Path):
    book, audit = make_book(tmp_path / "book.xlsx", CELLS), tmp_path / "numbers.jsonl"
    await signed(service, book, book, audit)
    with zipfile.ZipFile(book) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    content["xl/worksheets/sheet1.xml"] = content["xl/worksheets/sheet1.xml"].replace(b"us-cpi", b"us-10y", 1)
    with zipfile.ZipFile(book, "w") as out:
        for name, part in content.items():
            out.writestr(name, part)
    assert [(d.where, d.found) for d in verify_book(book, audit).differences] == [("Sheet1!A1", '=DS.SIGNAL("us-10y")')]


async def test_the_lines_alone_make_the_same_bytes_again_in_every_value(service: EmbeddedService, tmp_path: Path):
    original, book = make_book(tmp_path / "original.xlsx", CELLS), tmp_path / "book.xlsx"
    shutil.copy(original, book)
    audit = tmp_path / "numbers.jsonl"
    await signed(service, book, book, audit)
    service.running.stop()
    expected = values_of(book)
    alter(book, "Sheet1", [(1, 1), (3, 3), (9, 4)])
    altered = shutil.copy(book, tmp_path / "altered.xlsx")
    for start in (original, altered):
        shutil.copy(start, book)
        task = books_to_replay(audit)[0]
        replayed = replay_book(task, tmp_path / "again.xlsx")
        assert (replayed.differences, replayed.numbers) == ([], 7)
        assert values_of(tmp_path / "again.xlsx") == expected


async def test_altered_lines_are_not_replayed(service: EmbeddedService, tmp_path: Path):
    book, audit = make_book(tmp_path / "book.xlsx", CELLS), tmp_path / "numbers.jsonl"
    await signed(service, book, book, audit)
    audit.write_bytes(audit.read_bytes().replace(b'"value":', b'"value": ', 1))
    with pytest.raises(WorkbookError, match="not as it was signed"):
        books_to_replay(audit)
    assert not verify_book(book, audit).holds


async def test_a_book_that_cannot_be_signed_is_not_written(service: EmbeddedService, tmp_path: Path):
    book, audit = make_book(tmp_path / "book.xlsx", CELLS), tmp_path / "numbers.jsonl"
    before = book.read_bytes()
    signing = BookSigner(audit)
    audit.mkdir()
    async with AsyncClient(service.url, service.key) as client:
        with pytest.raises(WorkbookError):
            await refresh_book(Session(client, traced=True), book, book, signing=signing)
    assert book.read_bytes() == before


async def test_a_frozen_copy_lists_its_sources_and_holds_what_was_signed(service: EmbeddedService, tmp_path: Path):
    (tmp_path / "reports").mkdir()
    book, audit = make_book(tmp_path / "reports" / "book.xlsx", CELLS), tmp_path / "numbers.jsonl"
    copy = tmp_path / "copy.xlsx"
    await signed(service, book, book, audit)
    freeze_book(book, tmp_path / "frozen.xlsx")
    done = sign_copy(book, tmp_path / "frozen.xlsx", copy, BookSigner(audit))
    assert (done.numbers, done.unknown) == (6, [])
    with Package(copy) as package:
        sheet = Book(package).sheet("Sources")
        header = [sheet.value((5, column)) for column in range(1, 11)]
        first = [sheet.value((6, column)) for column in range(1, 11)]
        assert Book(package).sheet_names == ["Sheet1", "Sources"]
    assert header[:4] == ["Sheet", "Cell", "Value", "Formula"]
    assert first[0:2] == ["Sheet1", "A1"]
    assert first[3:6] == ['=DS.SIGNAL("us-cpi")', "fresh", "/v1/signals/us-cpi"]
    assert verify_book(copy).holds
    assert verify_book(copy, audit).holds
    alter(copy, "Sources", [(6, 3)])
    alter(copy, "Sheet1", [(3, 3)])
    assert [d.where for d in verify_book(copy).differences] == ["Sheet1!C3", "Sources!C6"]


async def test_a_frozen_copy_is_not_built_again_and_the_error_says_what_to_do(service: EmbeddedService, tmp_path: Path):
    book, audit, copy = make_book(tmp_path / "book.xlsx", CELLS), tmp_path / "numbers.jsonl", tmp_path / "copy.xlsx"
    await signed(service, book, book, audit)
    freeze_book(book, tmp_path / "frozen.xlsx")
    sign_copy(book, tmp_path / "frozen.xlsx", copy, BookSigner(audit))
    assert [task.target for task in books_to_replay(audit)] == [book.resolve()]
    with pytest.raises(WorkbookError, match=r"frozen copy copy\.xlsx.*addin freeze book\.xlsx -o copy\.xlsx"):
        books_to_replay(audit, only="copy.xlsx")


async def test_a_copy_of_numbers_that_nobody_signed_names_them(service: EmbeddedService, tmp_path: Path):
    book, audit = make_book(tmp_path / "book.xlsx", CELLS), tmp_path / "numbers.jsonl"
    async with AsyncClient(service.url, service.key) as client:
        await refresh_book(Session(client), book, book)
    freeze_book(book, tmp_path / "frozen.xlsx")
    done = sign_copy(book, tmp_path / "frozen.xlsx", tmp_path / "copy.xlsx", BookSigner(audit))
    assert done.unknown == [f"Sheet1!{cell}" for cell in ("A1", "C1", "A2", "A3", "A4", "A5")]


def test_a_book_about_which_nothing_is_signed_says_what_to_do(tmp_path: Path):
    book = make_book(tmp_path / "book.xlsx", CELLS)
    with pytest.raises(WorkbookError, match=r"addin refresh .* --audit"):
        verify_book(book)


async def test_a_data_table_is_built_again_whole(service: EmbeddedService, tmp_path: Path):
    table = DataTableFormula(ref="C2:C4", dt2D=False, dtr=False, r1="A1")
    cells = {"A1": CELLS["A1"], "B1": "=A1*2", "B2": 1, "B3": 2, "B4": 3, "C1": "=B1", "C2": table, "C3": 4, "C4": 6}
    book = make_book(tmp_path / "book.xlsx", cells)
    before = _table_in(book)
    await signed(service, book, tmp_path / "signed.xlsx", tmp_path / "lines.jsonl")
    [task] = books_to_replay(tmp_path / "lines.jsonl")
    replayed = replay_book(task, tmp_path / "again.xlsx")
    assert replayed.differences == []
    assert before == _table_in(tmp_path / "signed.xlsx") == _table_in(tmp_path / "again.xlsx")
    assert before["ref"] == "C2:C4"
    shown = values_of(tmp_path / "again.xlsx")
    assert (shown["C3"], shown["C4"]) == (b"<v>4</v>", b"<v>6</v>")


def _table_in(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        xml = archive.read("xl/worksheets/sheet1.xml").decode()
    [attributes] = re.findall(r'<f ([^>]*t="dataTable"[^>]*)', xml)
    return dict(re.findall(r'(\w+)="([^"]*)"', attributes))
