"""Ways to make a package say two things: each gets the parts of a book and a source of chance, and changes them."""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Callable
from random import Random

from tests.attack.forgeries.meanings import MEANINGS
from tests.attack.forgeries.numerals import (
    BOOK,
    BOOK_RELS,
    FALSE,
    NUMBER,
    NUMERALS,
    OTHER,
    ROOT_RELS,
    SHEET,
    STRINGS,
    STYLES,
    TYPES,
    Forgery,
    Parts,
    at_number,
)

_MAIN = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_KIND = b"application/vnd.openxmlformats-officedocument.spreadsheetml."
_ROW = re.compile(rb"<row .*?</row>", re.DOTALL)


def _in_sheet(parts: Parts, change: Callable[[bytes], bytes]) -> None:
    parts[SHEET] = change(parts[SHEET])


def _second_sheet_data(parts: Parts, random: Random) -> None:
    false = NUMBER.sub(rb"\g<1>999.111\3", b"".join(_ROW.findall(parts[SHEET])))
    places = [
        (b"</worksheet>", b"<sheetData>" + false + b"</sheetData></worksheet>"),
        (b"<sheetData>", b"<sheetData>" + false + b"</sheetData><sheetData>"),
    ]
    places.append(
        (b"</worksheet>", b'<extLst><ext uri="x"><sheetData>' + false + b"</sheetData></ext></extLst></worksheet>")
    )
    places.append((b"<sheetData>", b"<!--<sheetData>" + false + b"</sheetData>--><sheetData>"))
    places.append((b"</sheetData>", b'</sheetData><x:sheetData xmlns:x="urn:x">' + false + b"</x:sheetData>"))
    places.append((b"<sheetData>", b'<x:sheetData xmlns:x="urn:x">' + false + b"</x:sheetData><sheetData>"))
    old, new = random.choice(places)
    _in_sheet(parts, lambda xml: xml.replace(old, new, 1))


def _row(parts: Parts, random: Random) -> None:
    """A row twice, moved, hidden in an alternative, or without its number."""
    match = random.choice(list(_ROW.finditer(parts[SHEET])))
    row = match[0]
    false = NUMBER.sub(rb"\g<1>999.111\3", row)
    made = random.choice(
        [
            row + false,
            false + row,
            re.sub(rb'<row r="[0-9]+"', b"<row", row),
            re.sub(rb'<row r="([0-9]+)"', rb'<row r="0\1"', row),
            b"<x>" + row + b"</x>",
            b'<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice '
            b'Requires="x14">' + false + b"</mc:Choice><mc:Fallback>" + row + b"</mc:Fallback></mc:AlternateContent>",
            b"<!--" + row + b"-->" + false,
            re.sub(rb'<row r="[0-9]+"', b'<row r="50"', row),
            row.replace(b"<row ", b'<x:row xmlns:x="urn:x" ', 1).replace(b"</row>", b"</x:row>"),
        ]
    )
    parts[SHEET] = parts[SHEET][: match.start()] + made + parts[SHEET][match.end() :]


def _swapped_rows(parts: Parts, random: Random) -> None:
    rows = _ROW.findall(parts[SHEET])
    one, other = random.sample(range(len(rows)), 2)
    a, b = rows[one], rows[other]
    parts[SHEET] = parts[SHEET].replace(a, b"\0").replace(b, a).replace(b"\0", b)


def _swapped_cells(parts: Parts, random: Random) -> None:
    cells = list({match[2]: match for match in NUMBER.finditer(parts[SHEET])}.values())
    one, other = random.sample(cells, 2)
    parts[SHEET] = (
        parts[SHEET]
        .replace(b"<v>" + one[2] + b"<", b"\0", 1)
        .replace(b"<v>" + other[2] + b"<", b"<v>" + one[2] + b"<", 1)
    )
    parts[SHEET] = parts[SHEET].replace(b"\0", b"<v>" + other[2] + b"<")


def _array_over(parts: Parts, random: Random) -> None:
    match = random.choice(list(NUMBER.finditer(parts[SHEET])))
    kind = random.choice([b"array", b"dataTable"])
    formula = b'<f t="' + kind + b'" ref="A1:H40" r1="A1">999.111</f>'
    made = re.sub(rb"<f>[^<]*</f>", b"", match[1])[:-3] + formula + b"<v>" + match[2] + match[3]
    parts[SHEET] = parts[SHEET][: match.start()] + made + parts[SHEET][match.end() :]


def _merged_over(parts: Parts, random: Random) -> None:
    reference = random.choice([b"A1:H40", b"A1:A40", b"A2:F2"])
    merges = b'<mergeCells count="1"><mergeCell ref="' + reference + b'"/></mergeCells>'
    _in_sheet(parts, lambda xml: xml.replace(b"</sheetData>", b"</sheetData>" + merges, 1))


def _root_decoy(parts: Parts, random: Random) -> None:
    """A second workbook that some relationship leads to, or that stands where programs look for one."""
    parts["xl/decoy.xml"], parts["xl/worksheets/decoy.xml"] = parts[BOOK], parts[SHEET]
    at_number(parts, random, lambda a, v, z: a + FALSE + z)
    rels = re.sub(rb"worksheets/sheet1\.xml", b"worksheets/decoy.xml", parts[BOOK_RELS])
    parts["xl/_rels/decoy.xml.rels"] = rels
    kind = random.choice(
        [
            "urn:x/officeDocument",
            f"{_OFFICE}/officeDocument",
            f"{_OFFICE}/OfficeDocument",
            "http://purl.oclc.org/ooxml/officeDocument/relationships/officeDocument",
        ]
    )
    leads = f'<Relationship Id="rId99" Type="{kind}" Target="xl/decoy.xml"/>'.encode()
    if random.random() < 0.5:
        parts[ROOT_RELS] = parts[ROOT_RELS].replace(b"</Relationships>", leads + b"</Relationships>")
    else:
        parts[ROOT_RELS] = re.sub(rb"(<Relationships[^>]*>)", rb"\1" + leads, parts[ROOT_RELS])
    if random.random() < 0.5:
        parts[TYPES] = parts[TYPES].replace(
            b"</Types>",
            b'<Override PartName="/xl/decoy.xml" ContentType="' + _KIND + b'sheet.main+xml"/></Types>',
        )


def _book_moved(parts: Parts, random: Random) -> None:
    """The true workbook elsewhere, a false one in its usual place."""
    for name, moved in (
        (BOOK, "xl/book.xml"),
        (BOOK_RELS, "xl/_rels/book.xml.rels"),
        (SHEET, "xl/worksheets/true.xml"),
    ):
        parts[moved] = parts[name]
    parts["xl/_rels/book.xml.rels"] = parts[BOOK_RELS].replace(b"worksheets/sheet1.xml", b"worksheets/true.xml")
    at_number(parts, random, lambda a, v, z: a + FALSE + z)
    parts[ROOT_RELS] = parts[ROOT_RELS].replace(b"xl/workbook.xml", b"xl/book.xml")
    main = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
    parts[TYPES] = (
        parts[TYPES].replace(b'PartName="/xl/workbook.xml"', b'PartName="/xl/book.xml"')
        if random.random() < 0.5
        else parts[TYPES].replace(
            b"</Types>", b'<Override PartName="/xl/book.xml" ContentType="' + main + b'"/></Types>'
        )
    )


def _sheet_relation(parts: Parts, random: Random) -> None:
    """The relationship of a sheet twice, or of a kind that only looks like one, or to a part with the same name."""
    parts["xl/worksheets/false.xml"] = NUMBER.sub(rb"\g<1>999.111\3", parts[SHEET])
    match = re.search(rb"<Relationship [^>]*worksheets/sheet1\.xml[^>]*>", parts[BOOK_RELS])
    assert match is not None
    false = match[0].replace(b"sheet1.xml", b"false.xml")
    made = random.choice(
        [
            false + match[0],
            match[0] + false,
            false,
            match[0].replace(b"sheet1.xml", b"Sheet1.xml"),
            match[0].replace(b"sheet1.xml", b"./false.xml"),
            match[0].replace(b"sheet1.xml", b"%66alse.xml"),
            match[0].replace(b"sheet1.xml", b"x/../sheet2.xml"),
            match[0].replace(b"relationships/worksheet", b"relationships/Worksheet") + false,
            match[0].replace(b"http://schemas", b"urn:schemas") + false,
            re.sub(rb'Target="[^"]*"', b'TargetMode="External" Target="worksheets/false.xml"', match[0]),
        ]
    )
    parts[BOOK_RELS] = parts[BOOK_RELS].replace(match[0], made)
    if random.random() < 0.5:
        parts[TYPES] = parts[TYPES].replace(
            b"</Types>",
            b'<Override PartName="/xl/worksheets/false.xml" ContentType="' + _KIND + b'worksheet+xml"/></Types>',
        )


def _sheet_list(parts: Parts, random: Random) -> None:
    """The list of sheets: a twin, a second list, other names, another order."""
    sheets = re.findall(rb"<sheet [^>]*>", parts[BOOK])
    first, second = sheets[0], sheets[1]
    identity = re.compile(rb'r:id="[^"]*"')
    ids = [re.search(rb'r:id="[^"]*"', each)[0] for each in (first, second)]  # type: ignore[index]
    change = random.choice(
        [
            (b"</sheets>", first.replace(b'sheetId="1"', b'sheetId="77"') + b"</sheets>"),
            (b"</workbook>", b"<extLst><ext uri='x'>" + identity.sub(ids[1], first) + b"</ext></extLst></workbook>"),
            (b"</workbook>", b"<sheets>" + identity.sub(ids[1], first) + b"</sheets></workbook>"),
            (b"<sheets>", b"<sheets>" + identity.sub(ids[1], first)),
            (first, identity.sub(ids[1], first)),
            (first + second, second + first),
            (first, first.replace(b"<sheet ", b"<sheet xmlns:y='urn:y' y:name='twin' ")),
            (first, re.sub(rb'state="visible"|(?<=<sheet )', b'state="veryHidden" ', first, count=1)),
            (first, re.sub(rb'name="[^"]*"', b'name="Twin"', first)),
            (first, b"<!--" + first + b"-->" + identity.sub(ids[1], first)),
        ]
    )
    parts[BOOK] = parts[BOOK].replace(*change)


def _date_system(parts: Parts, random: Random) -> None:
    made = random.choice(
        [
            b'<workbookPr date1904="1"/>',
            b'<workbookPr date1904="true"/>',
            b'<workbookPr/><workbookPr date1904="1"/>',
            b'<x:workbookPr xmlns:x="urn:x" date1904="1"/><workbookPr/>',
            b'<workbookPr date1904=" 1 "/>',
            b'<workbookPr xmlns:x="urn:x" x:date1904="1"/>',
        ]
    )
    parts[BOOK] = re.sub(rb"<workbookPr[^>]*/>", made, parts[BOOK], count=1)


def _strings(parts: Parts, random: Random) -> None:
    """The list of texts: one more in front, in an extension, of another kind, or a text that is there twice."""
    item = b"<si><t>999.111</t></si>"
    change = random.choice(
        [
            (b"<si>", item + b"<si>"),
            (b"<si>", b'<x:si xmlns:x="urn:x"><t>9</t></x:si><si>'),
            (b"<si>", b"<!--" + item + b"--><si>"),
            (b"<si>", b"<extLst>" + item + b"</extLst><si>"),
            (b"<si><t>", b"<si><t>9</t><t>"),
            (b"<si><t>", b"<si><r><t>9</t></r><t>"),
            (b"</si>", b"<r><t>9</t></r></si>"),
            (b"<t>", b"<t>9"),
            (b"<si>", b"<si/><si>"),
        ]
    )
    parts[STRINGS] = parts[STRINGS].replace(*change, 1)


def _formats(parts: Parts, random: Random) -> None:
    code = random.choice(
        [b"&quot;999.111&quot;", b"0.00E+00", b"0%", b"[&gt;0]&quot;9&quot;;General", b"General&quot;9&quot;", b"yyyy"]
    )
    numbers = b'<numFmts count="1"><numFmt numFmtId="190" formatCode="' + code + b'"/></numFmts>'
    own = re.sub(rb"<numFmts.*?</numFmts>", b"", parts[STYLES], flags=re.DOTALL)
    own = re.sub(rb"(<styleSheet[^>]*>)", rb"\1" + numbers.replace(b"\\", b"\\\\"), own)
    head, _, tail = own.partition(b"<cellXfs")
    parts[STYLES] = head + b"<cellXfs" + re.sub(rb'numFmtId="[0-9]+"', b'numFmtId="190"', tail)


def _types(parts: Parts, random: Random) -> None:
    parts["xl/worksheets/sheet9.xml"] = NUMBER.sub(rb"\g<1>999.111\3", parts[SHEET])
    kind = random.choice([b"sheet.main", b"worksheet", b"sharedStrings", b"styles"])
    of = b"application/vnd.openxmlformats-officedocument.spreadsheetml." + kind + b"+xml"
    name = random.choice(
        [b"/xl/worksheets/sheet9.xml", b"/xl/workbook.xml", b"/xl/worksheets/sheet1.xml", b"/xl/worksheets/SHEET1.xml"]
    )
    override = b'<Override PartName="' + name + b'" ContentType="' + of + b'"/>'
    parts[TYPES] = random.choice(
        [
            parts[TYPES].replace(b"</Types>", override + b"</Types>"),
            re.sub(rb"(<Types[^>]*>)", rb"\1" + override, parts[TYPES]),
        ]
    )


def _encoding(parts: Parts, random: Random) -> None:
    name = random.choice([SHEET, BOOK, STRINGS])
    text = re.sub(rb"^\s*<\?xml[^>]*\?>", b"", parts[name]).decode()
    choice = random.choice(["utf-16", "utf-16-be", "latin-1", "utf-7", "wrong", "1.1"])
    match choice:
        case "utf-16" | "utf-16-be":
            parts[name] = text.encode(choice)
        case "latin-1":
            parts[name] = b'<?xml version="1.0" encoding="iso-8859-1"?>' + text.encode("latin-1", "replace")
        case "utf-7":
            forged = NUMBER.sub(rb"\1+ADk-\3", text.encode())
            parts[name] = b'<?xml version="1.0" encoding="utf-7"?>' + forged
        case "wrong":
            parts[name] = b'<?xml version="1.0" encoding="utf-16"?>' + text.encode()
        case _:
            parts[name] = b'<?xml version="1.1"?>' + text.encode()


def _document_type(parts: Parts, random: Random) -> None:
    text = re.sub(rb"^\s*<\?xml[^>]*\?>", b"", parts[SHEET])
    parts[SHEET] = b'<!DOCTYPE x [<!ENTITY n "999.111">]>' + NUMBER.sub(rb"\1&n;\3", text, count=1)


def _prefixed(parts: Parts, random: Random) -> None:
    """Cells under a prefix: for some programs they are others."""
    root = parts[SHEET].replace(
        _MAIN, _MAIN + b' xmlns:m="http://schemas.openxmlformats.org/spreadsheetml/2006/main"', 1
    )
    match = random.choice(list(NUMBER.finditer(root)))
    cell = match[0].replace(b"<c ", b"<m:c ").replace(b"</c>", b"</m:c>")
    false = match[1] + FALSE + match[3] if random.random() < 0.5 else b""
    parts[SHEET] = root[: match.start()] + false + cell + root[match.end() :]


def _formula_tricks(parts: Parts, random: Random) -> None:
    found = list(re.finditer(rb"<f>([^<]*)</f>", parts[SHEET]))
    if not found:
        at_number(parts, random, lambda a, v, z: a[:-3] + b"<f>" + FALSE + b"</f><v>" + v + z)
        return
    match = random.choice(found)
    made = random.choice(
        [
            b"<f>" + match[1] + b"+1</f>",
            b"<f>999.111</f>",
            b"<f>" + match[1].replace(b"A", b"B") + b"</f>",
            b"<f>" + match[1] + b"</f><f>1</f>",
            b'<f t="shared" si="0" ref="A1:H9">999</f>',
            b"",
        ]
    )
    parts[SHEET] = parts[SHEET][: match.start()] + made + parts[SHEET][match.end() :]


def _names(parts: Parts, random: Random) -> None:
    name = b'<definedName name="' + random.choice([b"Rate", b"x", b"Total"]) + b'">Inputs!$A$1</definedName>'
    if b"<definedNames>" in parts[BOOK]:
        parts[BOOK] = parts[BOOK].replace(b"<definedNames>", b"<definedNames>" + name)
    else:
        parts[BOOK] = re.sub(
            rb"<definedNames/>|(?=<calcPr)", b"<definedNames>" + name + b"</definedNames>", parts[BOOK], count=1
        )


def _conditional(parts: Parts, random: Random) -> None:
    dxf = b'<dxfs count="1"><dxf><numFmt numFmtId="191" formatCode="&quot;999.111&quot;"/></dxf></dxfs>'
    parts[STYLES] = re.sub(rb"<dxfs.*?</dxfs>|<dxfs[^>]*/>", dxf, parts[STYLES], flags=re.DOTALL)
    if b"<dxfs" not in parts[STYLES]:
        parts[STYLES] = parts[STYLES].replace(b"<tableStyles", dxf + b"<tableStyles")
    rule = (
        b'<conditionalFormatting sqref="A1:H40"><cfRule type="expression" dxfId="0" priority="1">'
        b"<formula>TRUE</formula></cfRule></conditionalFormatting>"
    )
    _in_sheet(parts, lambda xml: xml.replace(b"</sheetData>", b"</sheetData>" + rule, 1))


def _sheets_swapped(parts: Parts, random: Random) -> None:
    parts[SHEET], parts[OTHER] = parts[OTHER], parts[SHEET]


def _random_bytes(parts: Parts, random: Random) -> None:
    """A digit somewhere in a part that programs read."""
    name = random.choice([SHEET, OTHER, BOOK, STYLES, BOOK_RELS, STRINGS])
    content = bytearray(parts[name])
    digits = [at for at, byte in enumerate(content) if 48 <= byte <= 57]
    for at in random.sample(digits, min(len(digits), random.randint(1, 3))):
        content[at] = random.choice(b"0123456789")
    parts[name] = bytes(content)


def _random_elements(parts: Parts, random: Random) -> None:
    """An element somewhere removed, doubled, or moved behind another."""
    name = random.choice([SHEET, SHEET, BOOK, STYLES, BOOK_RELS, STRINGS, TYPES])
    found = list(re.finditer(rb"<(\w+)(?: [^<>]*)?(?:/>|>[^<>]*</\1>)", parts[name]))
    if not found:
        return
    one, other = random.choice(found), random.choice(found)
    content = parts[name]
    match random.randrange(3):
        case 0:
            parts[name] = content[: one.start()] + content[one.end() :]
        case 1:
            parts[name] = content[: one.end()] + one[0] + content[one.end() :]
        case _:
            without = content[: one.start()] + content[one.end() :]
            at = min(other.end(), len(without))
            parts[name] = without[:at] + one[0] + without[at:]


STRUCTURES: dict[str, Forgery] = {
    "a second list of cells": _second_sheet_data,
    "a row": _row,
    "rows in another order": _swapped_rows,
    "two numbers swapped": _swapped_cells,
    "an array over the cells": _array_over,
    "merged cells": _merged_over,
    "a decoy workbook": _root_decoy,
    "a workbook that was moved": _book_moved,
    "the relationship of a sheet": _sheet_relation,
    "the list of sheets": _sheet_list,
    "the date system": _date_system,
    "the list of texts": _strings,
    "number formats": _formats,
    "types of contents": _types,
    "another encoding": _encoding,
    "a document type": _document_type,
    "a prefix": _prefixed,
    "formulas": _formula_tricks,
    "names": _names,
    "a format by condition": _conditional,
    "two sheets swapped": _sheets_swapped,
    "digits at random": _random_bytes,
    "elements at random": _random_elements,
}

FORGERIES: dict[str, Forgery] = NUMERALS | STRUCTURES | MEANINGS


def parts_of(content: bytes) -> Parts:
    """The parts of a package, in their order."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts: Parts, random: Random | None = None, false: Parts | None = None) -> bytes:
    """The package of these parts; with `random`, as a zip file that may hold a second book, `false`."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    if random is None or false is None:
        return out.getvalue()
    true, lie = out.getvalue(), packed(false)
    return random.choice([_behind, _before, _between, _twice, _renamed])(true, lie, parts, false)


def _behind(true: bytes, lie: bytes, parts: Parts, false: Parts) -> bytes:
    return true + lie


def _before(true: bytes, lie: bytes, parts: Parts, false: Parts) -> bytes:
    return lie + true


def _between(true: bytes, lie: bytes, parts: Parts, false: Parts) -> bytes:
    """A part of the false book between those of the true one, which no directory lists."""
    infos = zipfile.ZipFile(io.BytesIO(lie)).infolist()
    at = next(number for number, info in enumerate(infos) if info.filename == SHEET)
    hidden = lie[infos[at].header_offset : infos[at + 1].header_offset]
    archive = zipfile.ZipFile(io.BytesIO(true))
    places = [info.header_offset for info in archive.infolist()]
    before, directory = places[1], archive.start_dir
    made = bytearray(true[:before] + hidden + true[before:])
    end = made.rindex(b"PK\5\6")
    made[end + 16 : end + 20] = struct.pack("<I", directory + len(hidden))
    at = directory + len(hidden)
    for place in places:
        if place >= before:
            made[at + 42 : at + 46] = struct.pack("<I", place + len(hidden))
        at += 46 + sum(struct.unpack("<HHH", made[at + 28 : at + 34]))
    return bytes(made)


def _twice(true: bytes, lie: bytes, parts: Parts, false: Parts) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
        archive.writestr(SHEET.upper() if len(parts) % 2 else "xl/worksheets/Sheet1.xml", false[SHEET])
    return out.getvalue()


def _renamed(true: bytes, lie: bytes, parts: Parts, false: Parts) -> bytes:
    """The name in front of a part is another one than in the directory."""
    return true.replace(SHEET.encode(), b"xl/worksheets/sheet7.xml", 1)
