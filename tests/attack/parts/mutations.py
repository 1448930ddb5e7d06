"""Random damage to workbooks and formulas, as tools, transfers and attackers do it; a seed gives the same damage."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from random import Random

NASTY = (
    *("", " ", "-1", "0", "1.5", "x", "²", "٣", "99999999999", "1e999", "nan", "1_0", "true", " 3 ", "rId999"),
    *("A0", "XFE1", "A1048577", "A1:", "$A$1", "B2:A1", "A1:XFD1048576", "#REF!", "'", '"', "[/nope]", "]]>", "&"),
    *("../../x", "/xl/workbook.xml", "%2e%2e/x", "_xD800_", "_x0000_", "s", "str", "e", "array", "shared", "inlineStr"),
    *("DS.SIGNAL(", "[1]!_xldudf_DS_SIGNAL(A1)", '_xldudf_DS_SIGNAL("us-cpi")', "A" * 5_000, "(" * 500, "😀", "\x85"),
)
_PIECES = (
    *("DS.SIGNAL(", "_xldudf_DS_SIGNAL(", "_xll.DS.INDEX(", "'C:\\[x]y.XLAM'!", "[1]!", "@", "IFERROR(", "SUM(", ")"),
    *('"', "'", "{", "}", ",", ";", "!", "#", "%", "+", "-", "&", ":", "$", " ", "\n", "A1", "B:B", "2:3", "A1:B2"),
    *(
        "Rate",
        "Table1[Slug]",
        "[",
        "]",
        "1",
        "1e9",
        "TRUE",
        "#N/A",
        "_xlfn.ANCHORARRAY(",
        "'it''s'!A1",
        "²",
        "😀",
        "\\",
    ),
)
FORMULAS = (
    '=DS.SIGNAL("us-cpi","value")',
    '=_xldudf_DS_SIGNAL_HISTORY(A1:C3,"-5Y",,"freq=Q; transform=yoy")',
    "='C:\\Add-ins\\DataService.XLAM'!_xldudf_DS_SIGNAL(A1)",
    "=IFERROR([1]!_xldudf_DS_INDEX('My ''own'' sheet'!$B$2),0)*100%",
    '=DS.SIGNAL({"a","b";1,FALSE},_xlfn.ANCHORARRAY(A1),-1.5E-3,50%)',
    "=SUM(A1:A9)*Other!B2+Rate-VLOOKUP(A1,D:F,3,FALSE)",
)


def damaged_formula(random: Random) -> str:
    """A formula with pieces put in, left out, doubled or exchanged."""
    text = random.choice(FORMULAS)
    for _ in range(random.choice((1, 1, 2, 3, 8))):
        at, end = sorted((random.randint(0, len(text)), random.randint(0, len(text))))
        match random.randrange(6):
            case 0:
                text = text[:at] + random.choice(_PIECES) + text[at:]
            case 1:
                text = text[:at] + text[min(end, at + 9) :]
            case 2:
                text = text[:end] + text[at:end] + text[end:]
            case 3:
                text = text[:at] + chr(random.choice((random.randint(0, 127), random.randint(128, 0x2FFF)))) + text[at:]
            case 4:
                text = text[:at] + random.choice(_PIECES) * random.choice((2, 50, 400)) + text[at:]
            case _:
                text = text[:at] + random.choice(FORMULAS)[1:] + text[at:]
    return text[:20_000]


def damaged_book(book: bytes, random: Random) -> bytes:
    """A workbook file with damage in its zip file or in one to three of its parts."""
    if random.random() < 0.15:
        return _damaged_bytes(book, random)
    with zipfile.ZipFile(io.BytesIO(book)) as source:
        parts = {name: source.read(name) for name in source.namelist()}
    for _ in range(random.choice((1, 1, 2, 3))):
        names = [name for name in parts if name.endswith((".xml", ".rels"))]
        sheets = [name for name in names if "worksheets/sheet" in name]
        if not names:
            break
        name = random.choice(sheets if sheets and random.random() < 0.6 else names)
        if random.random() < 0.03:
            del parts[name]
        else:
            parts[name] = random.choice(_PART_DAMAGES)(parts[name], random)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def _damaged_bytes(content: bytes, random: Random) -> bytes:
    match random.randrange(3):
        case 0:
            return content[: random.randrange(len(content))]
        case 1:
            changed = bytearray(content)
            for _ in range(random.choice((1, 4, 30))):
                changed[random.randrange(len(changed))] = random.randrange(256)
            return bytes(changed)
        case _:  # the directory at the end says what and where everything is
            changed = bytearray(content)
            start = max(0, content.find(b"PK\x01\x02"))
            for _ in range(random.choice((1, 2, 6))):
                changed[random.randrange(start, len(changed))] = random.choice((0, 1, 8, 12, 14, 63, 99, 127, 255))
            return bytes(changed)


def _attribute(content: bytes, random: Random) -> bytes:
    return _replaced(content, rb'"[^"<>]*"', lambda _: b'"' + _nasty(random) + b'"', random)


def _text(content: bytes, random: Random) -> bytes:
    return _replaced(content, rb">[^<>]*<", lambda _: b">" + _nasty(random) + b"<", random)


def _tag(content: bytes, random: Random) -> bytes:
    found = rb"<(/?)(\w+)"
    return _replaced(content, found, lambda m: b"<" + m[1] + random.choice((b"c", b"row", b"f", b"v", b"x")), random)


def _repeated(content: bytes, random: Random) -> bytes:
    times = random.choice((2, 2, 2, 300))
    return _replaced(content, rb"<(\w+)[^<>]*(?:/>|>[^<>]*</\1>)", lambda m: m[0] * times, random)


def _removed(content: bytes, random: Random) -> bytes:
    return _replaced(content, rb"<(\w+)[^<>]*(?:/>|>[^<>]*</\1>)|<[^<>]*>", lambda _: b"", random)


def _inserted(content: bytes, random: Random) -> bytes:
    things = (b"<!-- c -->", b"<?p i?>", b"<![CDATA[x]]>", b"<x/>", b"<row/>", b"<c/>", b"<c><f>DS.SIGNAL(A1)</f></c>")
    return _replaced(content, rb"><", lambda _: b">" + random.choice(things) + b"<", random)


def _nested(content: bytes, random: Random) -> bytes:
    depth = random.choice((10, 300, 5_000))
    return _replaced(content, rb"><", lambda _: b">" + b"<x>" * depth + b"</x>" * depth + b"<", random)


def _encoded(content: bytes, random: Random) -> bytes:
    text = re.sub(r"^<\?xml.*?\?>\s*", "", content.decode("utf-8", "replace"))
    encoding = random.choice(("utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-7", "latin-1", "cp037", "utf-32"))
    declared = random.choice(("", f'<?xml version="1.0" encoding="{encoding}"?>', '<?xml version="1.0" encoding="x"?>'))
    return (declared + text).encode(encoding, "replace")


def _declared(content: bytes, random: Random) -> bytes:
    text = re.sub(rb"^<\?xml.*?\?>\s*", b"", content)
    return random.choice((b"<!DOCTYPE a>", b'<!DOCTYPE a [<!ENTITY e "x">]>', b"\xef\xbb\xbf", b"  ", b"x")) + text


def _cut(content: bytes, random: Random) -> bytes:
    return content[: random.randrange(len(content) + 1)]


def _noise(content: bytes, random: Random) -> bytes:
    at = random.randrange(len(content) + 1)
    return content[:at] + random.randbytes(random.choice((1, 2, 20))) + content[at:]


def _replaced(content: bytes, pattern: bytes, new: Callable[[re.Match[bytes]], bytes], random: Random) -> bytes:
    """The content with some of what matches replaced."""
    found = list(re.finditer(pattern, content[:200_000]))
    if not found:
        return content
    for match in sorted(random.sample(found, min(len(found), random.choice((1, 1, 1, 3)))), key=lambda m: -m.start()):
        content = content[: match.start()] + new(match) + content[match.end() :]
    return content


def _nasty(random: Random) -> bytes:
    return random.choice(NASTY).encode()


_PART_DAMAGES: tuple[Callable[[bytes, Random], bytes], ...] = (
    *(_attribute, _attribute, _attribute, _attribute, _text, _text, _text, _tag, _repeated, _removed, _inserted),
    *(_nested, _encoded, _declared, _cut, _noise),
)
