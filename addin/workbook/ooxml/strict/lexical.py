"""The text of an XML part: only what every program reads alike, whether it parses XML or searches for patterns."""

from __future__ import annotations

import re

from addin.workbook.ooxml.errors import damaged

_DECLARATION = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml\b([^>]*?)\?>)?")
_ENCODING = re.compile(rb"""encoding\s*=\s*["'](?:utf-?8|us-ascii)["']""", re.IGNORECASE)
_HIDING = re.compile(rb"<(!--|!\[CDATA\[|\?)")
_HIDDEN = {b"!--": "a comment", b"![CDATA[": "a CDATA section", b"?": "a processing instruction"}

_NEEDED = {0x20, 0x22, 0x26, 0x27, 0x3C, 0x3E}
"""The printable characters of ASCII for which a reference may be needed: the blank, quotes, `&`, `<` and `>`."""
_REFERENCE = re.compile(rb"&#(?:x0*([2-7][0-9a-f])|0*(3[2-9]|[4-9][0-9]|1[01][0-9]|12[0-6]));", re.IGNORECASE)


_LETTER = re.compile(rb"_x00(?:[2-46][0-9a-f]|5[0-9a-e]|7[0-9a-e])_", re.IGNORECASE)
"""A printable letter of ASCII that programs have no reason to write by its number, but for the underscore itself."""
_EDGES = re.compile(rb"<(?:\w+:)?t>(?:[ \t\r\n]+[^<\s]|[^<]*[^<\s][ \t\r\n]+</)")
"""A text that begins or ends with blanks, and does not say that they belong to it."""


def check_letters(content: bytes, part: str) -> None:
    """Raise `WorkbookError` for texts of cells that not every program shows alike; such books are not signed."""
    if (letter := _LETTER.search(content)) is not None:
        raise damaged(part, f"a letter is written as {letter[0].decode()}, which some programs show as it stands")
    if _EDGES.search(content) is not None:
        raise damaged(part, "a text begins or ends with blanks that not every program keeps")


def check_text(content: bytes, part: str) -> None:
    """Raise `WorkbookError` for XML that not every program reads alike; `content` is the part as the file holds it."""
    begin = _DECLARATION.match(content)
    declared = begin[1] if begin is not None else None
    if content[:2] in (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<") or (
        declared is not None and b"encoding" in declared and not _ENCODING.search(declared)
    ):
        raise damaged(part, "it is not written in UTF-8, as every spreadsheet program does")
    hiding = _HIDING.search(content, begin.end() if begin is not None else 0)
    if hiding is not None:
        raise damaged(part, f"{_HIDDEN[hiding[1]]} stands in it, which some programs read and others do not")
    for reference in _REFERENCE.finditer(content):
        code = int(reference[1], 16) if reference[1] else int(reference[2])
        if code not in _NEEDED:
            raise damaged(part, f"the character {chr(code)!r} is written as {reference[0].decode()}")
