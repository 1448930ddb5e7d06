"""Ways to leave every cell as it was signed, and have it shown as something else: what a forger tries last."""

from __future__ import annotations

import re
from random import Random

from tests.attack.forgeries.numerals import BOOK, BOOK_RELS, NUMBER, SHEET, STRINGS, STYLES, TYPES, Forgery, Parts

_OFFICE = b"http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
_SPREADSHEET = b"application/vnd.openxmlformats-officedocument.spreadsheetml."
_PACKAGE = b"http://schemas.openxmlformats.org/package/2006/relationships"
_SHEET_RELS = "xl/worksheets/_rels/sheet1.xml.rels"
_FALSE_FORMAT = b'<numFmt numFmtId="199" formatCode="&quot;999.111&quot;"/>'
_RESULT = re.compile(rb"(<c r=\"[A-Z]+[0-9]+\"[^>]*)>(<f>[^<]*</f>)<v>[-0-9.Ee+]+</v>")


def _result(form: bytes, *, kind: bytes = b"") -> Forgery:
    """The result of a formula in another form."""

    def forge(parts: Parts, random: Random) -> None:
        found = list(_RESULT.finditer(parts[SHEET]))
        if not found:  # another forgery was there before
            return
        match = random.choice(found)
        parts[SHEET] = parts[SHEET].replace(match[0], match[1] + kind + b">" + match[2] + form, 1)

    return forge


def _in_styles(old: bytes, *choices: bytes) -> Forgery:
    def forge(parts: Parts, random: Random) -> None:
        parts[STYLES] = parts[STYLES].replace(old, random.choice(choices))

    return forge


def _in_sheet(old: bytes, *choices: bytes) -> Forgery:
    def forge(parts: Parts, random: Random) -> None:
        parts[SHEET] = parts[SHEET].replace(old, random.choice(choices), 1)

    return forge


def _in_book(old: bytes, *choices: bytes) -> Forgery:
    def forge(parts: Parts, random: Random) -> None:
        parts[BOOK] = parts[BOOK].replace(old, random.choice(choices), 1)

    return forge


def _wider_array(parts: Parts, random: Random) -> None:
    """An array formula over cells that hold values of their own, or nothing."""
    found = list(re.finditer(rb'<c r="C([0-9]+)"([^>]*)><f>([^<]*)</f>', parts[SHEET]))
    if not found:
        return
    match = random.choice(found)
    made = b'<c r="C%b"%b><f t="array" ref="C%b:D%b">%b</f>' % (match[1], match[2], match[1], match[1], match[3])
    parts[SHEET] = parts[SHEET].replace(match[0], made)


def _shared_before(parts: Parts, random: Random) -> None:
    """A value that shares a formula with a cell behind it."""
    values = [each for each in NUMBER.finditer(parts[SHEET]) if b"<f" not in each[0]]
    formulas = list(re.finditer(rb'<c r="(C[0-9]+)"([^>]*)><f>([^<]*)</f>', parts[SHEET]))
    if not values or not formulas:
        return
    value, last = random.choice(values[:4]), formulas[-1]
    parts[SHEET] = parts[SHEET].replace(value[0], value[0].replace(b"<v>", b'<f t="shared" si="7"/><v>', 1))
    master = b'<c r="%b"%b><f t="shared" ref="%b:%b" si="7">%b</f>' % (last[1], last[2], last[1], last[1], last[3])
    parts[SHEET] = parts[SHEET].replace(last[0], master)


def _related(parts: Parts, kind: bytes, target: bytes, content: bytes, content_type: bytes) -> None:
    """A further part that the first sheet leads to."""
    relation = b'<Relationship Id="rId77" Type="' + _OFFICE + kind + b'" Target="../' + target + b'"/>'
    parts[_SHEET_RELS] = b'<Relationships xmlns="' + _PACKAGE + b'">' + relation + b"</Relationships>"
    override = b'<Override PartName="/xl/' + target + b'" ContentType="' + content_type + b'"/></Types>'
    parts[TYPES] = parts[TYPES].replace(b"</Types>", override)
    parts[f"xl/{target.decode()}"] = content


def _pivot_table(parts: Parts, random: Random) -> None:
    """A pivot table over cells, which is worked out when the book is opened."""
    main = b'xmlns="' + _SPREADSHEETML + b'" xmlns:r="' + _OFFICE.rstrip(b"/") + b'"'
    caches = b'<pivotCaches><pivotCache cacheId="1" r:id="rId90"/></pivotCaches></workbook>'
    parts[BOOK] = parts[BOOK].replace(b"</workbook>", caches)
    cache = b'<Relationship Id="%b" Type="' + _OFFICE + b'pivotCacheDefinition" Target="%b"/></Relationships>'
    parts[BOOK_RELS] = parts[BOOK_RELS].replace(b"</Relationships>", cache % (b"rId90", b"pivotCache/cache1.xml"))
    fields = b"".join(
        b'<cacheField name="%b" numFmtId="0"><sharedItems/></cacheField>' % name
        for name in (b"Signal", b"Value", b"Double", b"Entered")
    )
    parts["xl/pivotCache/cache1.xml"] = (
        b"<pivotCacheDefinition " + main + b' refreshOnLoad="1"><cacheSource type="worksheet"><worksheetSource '
        b'ref="A1:D13" sheet="Report"/></cacheSource><cacheFields count="4">' + fields + b"</cacheFields>"
        b"</pivotCacheDefinition>"
    )
    table = (
        b"<pivotTableDefinition " + main + b' name="P" cacheId="1" dataCaption="Values"><location ref="A2:B3" '
        b'firstHeaderRow="1" firstDataRow="1" firstDataCol="1"/><pivotFields count="4"><pivotField axis="axisRow">'
        b'<items count="1"><item t="default"/></items></pivotField><pivotField/><pivotField/><pivotField '
        b'dataField="1"/></pivotFields><rowFields count="1"><field x="0"/></rowFields><rowItems count="1"><i t="grand">'
        b'<x/></i></rowItems><colItems count="1"><i/></colItems><dataFields count="1"><dataField name="Sum" fld="3"/>'
        b"</dataFields></pivotTableDefinition>"
    )
    _related(parts, b"pivotTable", b"pivotTables/table1.xml", table, _SPREADSHEET + b"pivotTable+xml")
    relation = cache % (b"rId1", b"../pivotCache/cache1.xml")
    parts["xl/pivotTables/_rels/table1.xml.rels"] = b'<Relationships xmlns="' + _PACKAGE + b'">' + relation
    override = b'<Override PartName="/xl/pivotCache/cache1.xml" ContentType="' + _SPREADSHEET
    parts[TYPES] = parts[TYPES].replace(b"</Types>", override + b'pivotCacheDefinition+xml"/></Types>')


def _text_box(parts: Parts, random: Random) -> None:
    """A box with another number over a cell."""
    drawing = b"http://schemas.openxmlformats.org/drawingml/2006/"
    place = b"<xdr:col>%d</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>%d</xdr:row><xdr:rowOff>0</xdr:rowOff>"
    corners = b"<xdr:from>" + place % (1, 1) + b"</xdr:from><xdr:to>" + place % (2, 2) + b"</xdr:to>"
    content = (
        b'<xdr:wsDr xmlns:xdr="'
        + drawing
        + b'spreadsheetDrawing" xmlns:a="'
        + drawing
        + b'main"><xdr:twoCellAnchor>'
        + corners
        + b'<xdr:sp><xdr:nvSpPr><xdr:cNvPr id="2" name="T"/><xdr:cNvSpPr txBox="1"/></xdr:nvSpPr><xdr:spPr/>'
        b"<xdr:txBody><a:bodyPr/><a:p><a:r><a:t>999.111</a:t></a:r></a:p></xdr:txBody></xdr:sp><xdr:clientData/>"
        b"</xdr:twoCellAnchor></xdr:wsDr>"
    )
    kind = b"application/vnd.openxmlformats-officedocument.drawing+xml"
    _related(parts, b"drawing", b"drawings/drawing1.xml", content, kind)
    parts[SHEET] = parts[SHEET].replace(b"</worksheet>", b'<drawing r:id="rId77"/></worksheet>')


_SPREADSHEETML = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_NEWER_RULE = (
    b'</sheetData><extLst><ext xmlns:x14="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main" uri="{78C0D931'
    b'-6437-407d-A8EE-F0AAD7539E65}"><x14:conditionalFormattings><x14:conditionalFormatting xmlns:xm="http://schemas.'
    b'microsoft.com/office/excel/2006/main"><x14:cfRule type="expression" priority="1" id="{00000000-0000-0000-0000-'
    b'000000000001}"><xm:f>TRUE</xm:f><x14:dxf>'
    + _FALSE_FORMAT
    + b"</x14:dxf></x14:cfRule><xm:sqref>D2:D9</xm:sqref></x14:"
    b"conditionalFormatting></x14:conditionalFormattings></ext></extLst>"
)

MEANINGS: dict[str, Forgery] = {
    "a zero that looks like none": _result(b"<v>0</v>"),
    "an empty text as result": _result(b"<v></v>", kind=b' t="str"'),
    "an array over values": _wider_array,
    "a formula shared with a cell behind it": _shared_before,
    "a scenario": _in_sheet(
        b"</sheetData>",
        b'</sheetData><scenarios current="0" show="0"><scenario name="x" count="1"><inputCells r="D2" val="999.111"/>'
        b"</scenario></scenarios>",
    ),
    "a pivot table over cells": _pivot_table,
    "a text box over a cell": _text_box,
    "the style of a column": _in_sheet(
        b"<sheetData>", b'<cols><col min="1" max="9" width="9" style="3"/></cols><sheetData>'
    ),
    "the style of a row": _in_sheet(b'<row r="2" ', b'<row r="2" s="3" customFormat="1" '),
    "another calendar": _in_styles(
        b'formatCode="yyyy-mm-dd"',
        b'formatCode="[$-107041E]yyyy-mm-dd"',
        b'formatCode="[$-1060401]yyyy-mm-dd"',
        b'formatCode="[$-F800]yyyy-mm-dd"',
    ),
    "other digits": _in_styles(b'formatCode="0.00"', b'formatCode="[$-2000000]0.00"', b'formatCode="[DBNum1]0.00"'),
    "a number format twice": _in_styles(
        b'<numFmt numFmtId="164" ',
        *(
            _FALSE_FORMAT.replace(b'"199"', number) + b'<numFmt numFmtId="164" '
            for number in (b'"0164"', b'" 164"', b'"+164"')
        ),
    ),
    "a number format of programs": _in_styles(
        b'<numFmt numFmtId="164" ', _FALSE_FORMAT.replace(b'"199"', b'"0"') + b'<numFmt numFmtId="164" '
    ),
    "values that repeat": _in_styles(
        b'applyNumberFormat="1"/>', b'applyNumberFormat="1" applyAlignment="1"><alignment horizontal="fill"/></xf>'
    ),
    "a newer kind of condition": _in_sheet(b"</sheetData>", _NEWER_RULE),
    "a condition that hides values": _in_sheet(
        b"</sheetData>",
        b'</sheetData><conditionalFormatting sqref="D2:D9"><cfRule type="dataBar" priority="1"><dataBar showValue="0">'
        b'<cfvo type="min"/><cfvo type="max"/><color rgb="FF638EC6"/></dataBar></cfRule></conditionalFormatting>',
    ),
    "hidden rows and columns": _in_sheet(
        b"<sheetData>",
        b'<cols><col min="2" max="2" width="9" hidden="1"/></cols><sheetData>',
        b'<cols><col min="2" max="2" width="0" customWidth="1"/></cols><sheetData>',
        b'<cols><col min="2" max="2" width="0.1" customWidth="1"/></cols><sheetData>',
    ),
    "a view of another kind": _in_sheet(b"<sheetView ", b'<sheetView showFormulas="1" ', b'<sheetView showZeros="0" '),
    "a rich value": _in_sheet(b'<c r="E2" ', b'<c r="E2" vm="1" '),
    "a name of one sheet": _in_book(
        b'<definedName name="Rate">',
        *(
            b'<definedName name="Rate" localSheetId="' + owner + b'">Inputs!$B$2</definedName><definedName name="Rate">'
            for owner in (b"0", b"00", b"99", b" 0")
        ),
    ),
    "the precision": _in_book(
        b"<calcPr ", b'<calcPr fullPrecision="0" ', b'<calcPr fullPrecision="FALSE" ', b'<calcPr fullPrecision="00" '
    ),
    "letters by their numbers": lambda parts, random: parts.update(
        {STRINGS: parts[STRINGS].replace(b"<t>note 1</t>", b"<t>note _x0031_</t>")}
    ),
    "blanks that are not kept": lambda parts, random: parts.update(
        {STRINGS: parts[STRINGS].replace(b"<t>note 1</t>", b"<r><t>note </t></r><r><t>1</t></r>")}
    ),
    "a function of another add-in": lambda parts, random: parts.update(
        {SHEET: parts[SHEET].replace(b"<f>SUM(", b"<f>_xll.SUM(")}
    ),
}
