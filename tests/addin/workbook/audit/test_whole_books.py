"""What is signed is the whole book: the file, every cell, the names and settings; and whose signature counts."""

import hashlib
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import orjson
import pytest

from addin.workbook.audit.chain import START, block_lines
from addin.workbook.audit.embedded import embedded_content, lines_part
from addin.workbook.audit.frozen import CHANGED, sign_copy
from addin.workbook.audit.keys import fingerprint, is_signed, is_weak, own_key
from addin.workbook.audit.signing import BookSigner
from addin.workbook.audit.statement import statement_in
from addin.workbook.audit.trusted import Trust, TrustedKey, UntrustedKeyError, revoked, rotated, trust_in
from addin.workbook.audit.verify import verify_book
from addin.workbook.freeze import freeze_book
from addin.workbook.ooxml.package import Package
from tests.addin.workbook.audit.test_signed_books import signed
from tests.addin.workbook.books import make_book
from tests.embedded import EmbeddedService

SHEET, BOOK = "xl/worksheets/sheet1.xml", "xl/workbook.xml"
CELLS = {
    "A1": "Signal",
    "A2": "us-cpi",
    "A3": "us-10y",
    "B2": "=_xldudf_DS_SIGNAL(A2)",
    "B3": "=_xldudf_DS_SIGNAL(A3)",
    "B4": "=B2+B3",
    "C1": 12.5,
}


def changed(book: Path, part: str, change: Callable[[bytes], bytes]) -> Path:
    """The book, with one part as `change` makes it, which must be another one."""
    with zipfile.ZipFile(book) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    content[part], before = change(content[part]), content[part]
    assert content[part] != before
    with zipfile.ZipFile(book, "w", zipfile.ZIP_DEFLATED) as out:
        for name, each in content.items():
            out.writestr(name, each)
    return book


def swapped(one: bytes, other: bytes) -> Callable[[bytes], bytes]:
    return lambda xml: xml.replace(one, b"\0").replace(other, one).replace(b"\0", other)


async def signed_book(service: EmbeddedService, folder: Path) -> tuple[Path, Path]:
    book, audit = make_book(folder / "book.xlsx", CELLS), folder / "numbers.jsonl"
    await signed(service, book, book, audit)
    return book, audit


async def test_the_file_as_it_was_signed_is_called_so_and_every_cell_is_counted(service, tmp_path: Path):
    book, audit = await signed_book(service, tmp_path)
    for found in (verify_book(book), verify_book(book, audit)):
        assert (found.holds, found.file.is_as_signed, found.trust) == (True, True, Trust.OWN)
        counts = found.coverage.from_service, found.coverage.calculated, found.coverage.entered
        assert (*counts, found.coverage.uncovered) == (2, 1, 4, 0)


async def test_other_tools_find_the_digests_of_all_parts_in_the_statement(service, tmp_path: Path):
    book, audit = await signed_book(service, tmp_path)
    statement = statement_in(verify_book(book, audit).block)
    digests = {each["name"]: each["digest"] for each in statement["subject"]}
    with zipfile.ZipFile(book) as archive, Package(book) as package:
        without = lines_part(package)
        parts = {f"/{name}": hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}
    assert {name: each["sha256"] for name, each in digests.items() if name != "book.xlsx"} == {
        name: digest for name, digest in parts.items() if name != f"/{without}"
    }
    assert statement["_type"] == "https://in-toto.io/Statement/v1"


def put(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda xml: xml.replace(old, new)


ADDED_ROW = b'<row r="9"><c r="A9"><v>1</v></c></row></sheetData>'
A_NAME = b'<definedNames><definedName name="x">1</definedName></definedNames>'
ALTERED = {
    "inputs": (SHEET, swapped(b"us-cpi", b"us-10y"), ["Sheet1!A2", "Sheet1!A3"]),
    "a number": (SHEET, put(b"<v>12.5</v>", b"<v>999</v>"), ["Sheet1!C1"]),
    "a total": (SHEET, lambda xml: re.sub(rb'(<c r="B4".*?<v>)[^<]*', rb"\g<1>7", xml), ["Sheet1!B4"]),
    "a formula": (SHEET, put(b"<f>B2+B3</f>", b"<f>B2-B3</f>"), ["Sheet1!B4"]),
    "no formula": (SHEET, put(b"<f>B2+B3</f>", b""), ["Sheet1!B4"]),
    "a cell more": (SHEET, put(b"</sheetData>", ADDED_ROW), ["Sheet1!A9"]),
    "dates": (BOOK, put(b"<workbookPr/>", b'<workbookPr date1904="1"/>'), ["the date system"]),
    "a name": (BOOK, put(b"<definedNames/>", A_NAME), ["the name x"]),
    "a hidden sheet": (BOOK, put(b'state="visible"', b'state="veryHidden"'), ["the sheet Sheet1"]),
    "a format": ("xl/styles.xml", put(b'<xf numFmtId="0"', b'<xf numFmtId="9"'), None),
}


@pytest.mark.parametrize("what", ALTERED)
async def test_whatever_is_altered_is_named(service, tmp_path: Path, what: str):
    part, change, where = ALTERED[what]
    book, audit = await signed_book(service, tmp_path)
    found = verify_book(changed(book, part, change), audit)
    assert (found.holds, found.file.is_as_signed, found.file.changed) == (False, False, [part])
    if where is None:
        assert {each.signed for each in found.differences} == {"the number format General"}
    else:
        assert [each.where for each in found.differences] == where


async def test_lines_of_one_book_do_not_fit_another(service, tmp_path: Path):
    (tmp_path / "empty").mkdir()
    key = own_key()
    begin = {"book": "book.xlsx", "numbers": 0, "format": 1, "by": "refresh", "at": "2026-08-31T00:00:00.000Z"}
    lines = block_lines(begin, [], previous=START, public_key=key.public, sign=key.sign)
    book, _ = await signed_book(service, tmp_path)
    with Package(book) as package:
        part = lines_part(package)
    old = verify_book(changed(Path(shutil.copy(book, tmp_path / "old.xlsx")), part, lambda _: embedded_content(lines)))
    assert old.problems == ["they cover no cell of the book"]
    other = make_book(tmp_path / "empty" / "book.xlsx", {"A1": CELLS["B2"].replace("A2", '"us-cpi"')})
    await signed(service, other, other, tmp_path / "empty" / "numbers.jsonl")
    found = verify_book(book, tmp_path / "empty" / "numbers.jsonl")
    assert (found.coverage.uncovered, len(found.differences)) == (6, 7)


async def test_lines_with_other_ends_of_lines_are_the_same_lines(service, tmp_path: Path):
    book, audit = await signed_book(service, tmp_path)
    audit.write_bytes(audit.read_bytes().replace(b"\n", b"\r\n"))
    found = verify_book(book, audit)
    assert (found.holds, found.unfinished) == (True, 0)
    await signed(service, book, book, audit)
    assert verify_book(book, audit).holds


async def test_a_copy_that_another_program_saved_unchanged_holds(service, tmp_path: Path):
    book, audit = await signed_book(service, tmp_path)
    freeze_book(book, tmp_path / "frozen.xlsx", allow_stale=True)
    sign_copy(book, tmp_path / "frozen.xlsx", tmp_path / "copy.xlsx", BookSigner(audit))
    openpyxl.load_workbook(tmp_path / "copy.xlsx").save(tmp_path / "saved.xlsx")
    found = verify_book(tmp_path / "saved.xlsx", audit, named="copy.xlsx")
    assert (found.holds, found.file.is_as_signed, found.differences) == (True, False, [])


async def test_numbers_whose_inputs_were_changed_since_get_no_source_in_a_copy(service, tmp_path: Path):
    book, audit = await signed_book(service, tmp_path)
    changed(book, SHEET, swapped(b"us-cpi", b"us-10y"))
    freeze_book(book, tmp_path / "frozen.xlsx", allow_stale=True)
    done = sign_copy(book, tmp_path / "frozen.xlsx", tmp_path / "copy.xlsx", BookSigner(audit))
    assert done.unknown == ["Sheet1!B2", "Sheet1!B3"]
    lines = map(orjson.loads, audit.read_bytes().splitlines())
    assert [line["why"] for line in lines if line.get("standing") == "kept"] == [CHANGED] * 2


async def test_ones_own_key_does_not_vouch_for_a_strangers_numbers(service, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "stranger"))
    book, _ = await signed_book(service, tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "me"))
    freeze_book(book, tmp_path / "frozen.xlsx", allow_stale=True)
    with pytest.raises(UntrustedKeyError, match="a key that is not yours; your key would vouch for it"):
        sign_copy(book, tmp_path / "frozen.xlsx", tmp_path / "copy.xlsx", BookSigner(tmp_path / "mine.jsonl"))
    assert not (tmp_path / "copy.xlsx").exists()
    found = verify_book(book)
    assert (found.holds, found.trust) == (True, Trust.UNKNOWN)
    assert verify_book(book, key=fingerprint(found.block.public_key)).trust is Trust.NAMED
    assert verify_book(book, key=fingerprint(found.block.public_key)[:19]).trust is Trust.UNKNOWN


def test_a_key_counts_from_its_first_day_to_its_last_and_never_after_it_was_revoked():
    ann, own = "11" * 32, "22" * 32
    listed = [TrustedKey(ann, "Ann", since="2026-01-01", until="2026-06-30T23:59:59.999Z")]
    days = {"2025-12-31T10:00:00.000Z": Trust.OUT_OF_TIME, "2026-06-30T10:00:00.000Z": Trust.TRUSTED}
    assert {day: trust_in(ann, day, listed, own) for day in days} == days
    assert trust_in("33" * 32, "2026-02-01", listed, own) is Trust.UNKNOWN
    assert trust_in(ann, "2026-02-01", revoked(listed, ann, 0.0), own, named=ann) is Trust.REVOKED
    kept = rotated([], own, 1_800_000_000.0)
    assert trust_in(own, "2026-02-01T00:00:00.000Z", kept, "44" * 32) is Trust.OWN
    assert trust_in(own, "2030-02-01T00:00:00.000Z", kept, "44" * 32) is Trust.OUT_OF_TIME


def test_points_of_small_order_are_no_keys():
    prime = 2**255 - 19
    d = -121665 * pow(121666, -1, prime) % prime

    def added(one, other):
        (x1, y1), (x2, y2) = one, other
        product = d * x1 * x2 * y1 * y2
        x = (x1 * y2 + x2 * y1) * pow(1 + product, -1, prime)
        return x % prime, (y1 * y2 + x1 * x2) * pow(1 - product, -1, prime) % prime

    order, weak = 2**252 + 27742317777372353535851937790883648493, set()
    for y in range(2, 60):
        x2 = (y * y - 1) * pow(d * y * y + 1, -1, prime) % prime
        x = pow(x2, (prime + 3) // 8, prime)
        x = x if x * x % prime == x2 else x * pow(2, (prime - 1) // 4, prime) % prime
        if x * x % prime == x2:
            point, small, left = (x, y), (0, 1), order
            while left:
                small, point, left = added(small, point) if left & 1 else small, added(point, point), left >> 1
            weak.add((small[1] | (small[0] & 1) << 255).to_bytes(32, "little"))
    assert len(weak) == 8
    assert all(map(is_weak, weak))
    assert not is_signed("00" * 32, "00" * 64, b"anything")
    assert not is_weak(bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"))


async def test_a_book_that_an_older_version_signed_holds_and_says_what_that_leaves_out(service, tmp_path: Path):
    book, _ = await signed_book(service, tmp_path)
    found = verify_book(book)
    kept = [{name: value for name, value in number.items() if name != "calls"} for number in found.block.numbers]
    begin = {"format": 1, "book": "book.xlsx", "by": "refresh", "at": "2026-08-31T00:00:00.000Z", "numbers": len(kept)}
    key = own_key()
    lines = block_lines(begin, kept, previous=START, public_key=key.public, sign=key.sign)
    with Package(book) as package:
        part = lines_part(package)
    old = verify_book(changed(book, part, lambda _: embedded_content(lines)))
    assert (old.holds, old.is_old, old.trust) == (True, True, Trust.OWN)
    assert (old.coverage.cells, old.coverage.uncovered) == (3, 4)
    swapped_inputs = verify_book(changed(book, SHEET, swapped(b"us-cpi", b"us-10y")))
    assert swapped_inputs.holds, "only its numbers were signed, and that is what is told"
