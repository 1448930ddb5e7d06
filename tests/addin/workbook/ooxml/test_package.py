"""Workbook files from anywhere: good ones are copied part by part, others refused with a reason."""

import re
import zipfile
from pathlib import Path

import openpyxl
import pytest

from addin.workbook.ooxml import package as package_module
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.errors import WorkbookError
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.relations import RELATIONSHIPS
from addin.workbook.ooxml.strict.parts import OFFICE_DOCUMENT
from addin.workbook.ooxml.target import Target
from tests.addin.workbook.books import make_book


def _book(path: Path) -> Path:
    book = openpyxl.Workbook()
    book.active["A1"] = 1
    book.save(path)
    return path


def _with_part(path: Path, name: str, content: bytes) -> Path:
    _book(path)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return path


def test_every_part_that_was_not_changed_keeps_its_bytes_and_order(tmp_path: Path):
    source = _with_part(tmp_path / "book.xlsx", "xl/vbaProject.bin", bytes(range(256)))
    with Package(source) as package:
        package.write(Target(tmp_path / "out.xlsx"), {"xl/workbook.xml": b"<new/>"})
    with zipfile.ZipFile(source) as before, zipfile.ZipFile(tmp_path / "out.xlsx") as after:
        assert after.namelist() == before.namelist()
        changed = [name for name in before.namelist() if before.read(name) != after.read(name)]
        assert changed == ["xl/workbook.xml"]


def test_a_book_is_written_over_itself_and_no_other_file_stays_behind(tmp_path: Path):
    source = _book(tmp_path / "book.xlsx")
    with Package(source) as package:
        package.write(Target(source), {"xl/workbook.xml": b"<new/>"})
    assert [path.name for path in tmp_path.iterdir()] == ["book.xlsx"]
    with zipfile.ZipFile(source) as archive:
        assert archive.read("xl/workbook.xml") == b"<new/>"


def test_a_write_that_fails_leaves_the_book_as_it_was(tmp_path: Path):
    source = _book(tmp_path / "book.xlsx")
    before = source.read_bytes()
    with Package(source) as package, pytest.raises(TypeError):
        package.write(Target(source), {"xl/workbook.xml": object()})  # type: ignore[dict-item]
    assert source.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["book.xlsx"]


def test_what_is_no_workbook_is_refused_with_the_reason(tmp_path: Path):
    empty = tmp_path / "empty.xlsx"
    empty.write_bytes(b"")
    old = tmp_path / "old.xls"
    old.write_bytes(b"\xd0\xcf\x11\xe0" + bytes(600))
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("readme.txt", "hello")
    for path, why in [
        (tmp_path / "none.xlsx", "no such file"),
        (tmp_path, "is a folder"),
        (empty, "not an .xlsx"),
        (old, "save it as .xlsx"),
        (other, "no workbook"),
    ]:
        with pytest.raises(WorkbookError, match=why):
            Package(path)


def test_half_a_file_is_refused(tmp_path: Path):
    whole = _book(tmp_path / "book.xlsx").read_bytes()
    for size in (10, len(whole) // 2, len(whole) - 1):
        half = tmp_path / "half.xlsx"
        half.write_bytes(whole[:size])
        with pytest.raises(WorkbookError, match="damaged"):
            Package(half)


def test_a_part_with_broken_bytes_is_named(tmp_path: Path):
    path = _book(tmp_path / "book.xlsx")
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("xl/worksheets/sheet1.xml")
    content = bytearray(path.read_bytes())
    start = info.header_offset + 30 + len(info.filename)
    content[start : start + 20] = bytes(20)
    path.write_bytes(content)
    with Package(path) as package, pytest.raises(WorkbookError, match=r"sheet1\.xml"):
        package.read("xl/worksheets/sheet1.xml")


@pytest.mark.parametrize("name", ["../evil.xml", "/etc/evil.xml", "xl\\..\\..\\evil.xml", "XL/Workbook.xml"])
def test_a_part_outside_the_package_or_twice_in_it_is_refused(tmp_path: Path, name: str):
    with pytest.raises(WorkbookError, match="refused"):
        Package(_with_part(tmp_path / "book.xlsx", name, b"x"))


def test_a_part_that_unpacks_beyond_reason_is_refused_without_being_unpacked(tmp_path: Path):
    bomb = _with_part(tmp_path / "bomb.xlsx", "xl/media/image1.png", bytes(package_module.RATIO_FREE_BYTES + 1))
    with pytest.raises(WorkbookError, match="unpack"):
        Package(bomb)


def test_entities_and_outside_files_are_refused(tmp_path: Path):
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret")
    xml = f'<!DOCTYPE a [<!ENTITY x SYSTEM "{secret.as_uri()}">]><a>&x;</a>'.encode()
    book = _with_part(tmp_path / "book.xlsx", "xl/evil.xml", xml)
    with Package(book) as package, pytest.raises(WorkbookError, match="document type"):
        package.xml("xl/evil.xml")


def test_entities_that_grow_without_end_are_refused(tmp_path: Path):
    levels = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(12))
    xml = f'<!DOCTYPE a [<!ENTITY e0 "ha">{levels}]><a>&e12;</a>'.encode()
    with Package(_with_part(tmp_path / "book.xlsx", "xl/evil.xml", xml)) as package, pytest.raises(WorkbookError):
        package.xml("xl/evil.xml")


@pytest.mark.parametrize(
    ("target", "content", "told"),
    [
        ("xl/workbook.bin", b"\x83\x01\x00", "is a binary workbook (.xlsb): save it as .xlsx"),
        ("word/document.xml", b'<w:document xmlns:w="http://x.example/w"/>', "is a file of another Office program"),
        (None, b"", "is an OpenDocument file: save it as .xlsx"),
    ],
)
def test_a_file_of_another_kind_is_named(target, content, told, tmp_path):
    with zipfile.ZipFile(tmp_path / "given.xlsx", "w") as file:
        if target is None:
            file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        else:
            file.writestr("[Content_Types].xml", "<Types/>")
            leads = f'<Relationship Id="r" Type="{OFFICE_DOCUMENT}" Target="{target}"/>'
            file.writestr("_rels/.rels", f'<Relationships xmlns="{RELATIONSHIPS}">{leads}</Relationships>')
            file.writestr(target, content)
    with pytest.raises(WorkbookError, match=re.escape(told)), Package(tmp_path / "given.xlsx") as package:
        Book(package)


def test_a_digitally_signed_book_is_not_written_over(tmp_path):
    book = make_book(tmp_path / "book.xlsx", {"A1": 1})
    with zipfile.ZipFile(book) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    origin = "http://schemas.openxmlformats.org/package/2006/relationships/digital-signature/origin"
    leads = f'<Relationship Id="rId77" Type="{origin}" Target="_xmlsignatures/origin.sigs"/></Relationships>'
    content["_rels/.rels"] = content["_rels/.rels"].replace(b"</Relationships>", leads.encode())
    with zipfile.ZipFile(book, "w") as out:
        for name, each in {**content, "_xmlsignatures/origin.sigs": b""}.items():
            out.writestr(name, each)
    before = book.read_bytes()
    with (
        pytest.raises(WorkbookError, match="digital signature, which any change"),
        Package(book) as package,
    ):
        package.write(Target(book), {})
    assert book.read_bytes() == before
