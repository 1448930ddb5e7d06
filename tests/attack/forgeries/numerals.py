"""Ways to make one number of a package say two things."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import TypeAlias

Parts: TypeAlias = dict[str, bytes]
Forgery: TypeAlias = Callable[[Parts, Random], None]

SHEET, OTHER, BOOK = "xl/worksheets/sheet1.xml", "xl/worksheets/sheet2.xml", "xl/workbook.xml"
STRINGS, STYLES, TYPES = "xl/sharedStrings.xml", "xl/styles.xml", "[Content_Types].xml"
BOOK_RELS, ROOT_RELS = "xl/_rels/workbook.xml.rels", "_rels/.rels"
NUMBER = re.compile(rb'(<c r="[A-Z]+[0-9]+"(?: s="[0-9]+")?(?: t="n")?>(?:<f>[^<]*</f>)?<v>)([-0-9.Ee+]+)(</v></c>)')
FALSE = b"999.111"


def at_number(parts: Parts, random: Random, put: Callable[[bytes, bytes, bytes], bytes]) -> None:
    """Change one number: `put` makes the cell from what is before its value, the value, and what is behind."""
    found = list(NUMBER.finditer(parts[SHEET]))
    match = random.choice(found)
    parts[SHEET] = parts[SHEET][: match.start()] + put(*match.groups()) + parts[SHEET][match.end() :]


def numeral(put: Callable[[bytes, bytes, bytes], bytes]) -> Forgery:
    """A forgery of one number."""
    return lambda parts, random: at_number(parts, random, put)


def _marked(before: bytes, kind: bytes) -> bytes:
    """The beginning of a cell with another mark of its kind."""
    return re.sub(rb'^<c (r="[A-Z]+[0-9]+")(?: t="n")?', rb'<c \1 t="' + kind + rb'"', before.replace(b' t="n"', b""))


NUMERALS: dict[str, Forgery] = {
    "another number": numeral(lambda a, v, z: a + FALSE + z),
    "two values": numeral(lambda a, v, z: a + v + b"</v><v>" + FALSE + z),
    "two values, the false one first": numeral(lambda a, v, z: a + FALSE + b"</v><v>" + v + z),
    "a comment in a number": numeral(lambda a, v, z: a + v + b"<!-- -->5" + z),
    "a comment that holds a value": numeral(lambda a, v, z: a[:-3] + b"<!--<v>" + FALSE + b"</v>--><v>" + v + z),
    "a CDATA section": numeral(lambda a, v, z: a + b"<![CDATA[" + FALSE + b"]]>" + z),
    "a CDATA section before the value": numeral(lambda a, v, z: a[:-3] + b"<![CDATA[<v>1</v>]]><v>" + v + z),
    "a processing instruction": numeral(lambda a, v, z: a + v + b"<?x 5?>7" + z),
    "Arabic digits": numeral(lambda a, v, z: a + "٩٩٩".encode() + z),
    "full-width digits": numeral(lambda a, v, z: a + "９９９".encode() + z),
    "digits as references": numeral(lambda a, v, z: a + b"&#57;" + v + z),
    "hexadecimal references": numeral(lambda a, v, z: a + v + b"&#x39;" + z),
    "blanks": numeral(lambda a, v, z: a + b" " + v[:1] + b" " + v[1:] + z),
    "a comma": numeral(lambda a, v, z: a + b"9,5" + z),
    "an underscore": numeral(lambda a, v, z: a + b"1_000" + z),
    "hexadecimal": numeral(lambda a, v, z: a + b"0x10" + z),
    "a number beyond all": numeral(lambda a, v, z: a + b"1e999" + z),
    "not a number": numeral(lambda a, v, z: a + b"NaN" + z),
    "two numbers": numeral(lambda a, v, z: a + v + b" " + FALSE + z),
    "a number with a tail": numeral(lambda a, v, z: a + v + b"abc" + z),
    "a text for a number": numeral(lambda a, v, z: _marked(a, b"str") + FALSE + z),
    "a text that looks the same": numeral(lambda a, v, z: _marked(a, b"str") + v + z),
    "a truth value": numeral(lambda a, v, z: _marked(a, b"b") + b"1" + z),
    "an error": numeral(lambda a, v, z: _marked(a, b"e") + b"#N/A" + z),
    "a date as text": numeral(lambda a, v, z: _marked(a, b"d") + b"2020-01-01" + z),
    "a shared text": numeral(lambda a, v, z: _marked(a, b"s") + b"0" + z),
    "an unknown kind": numeral(lambda a, v, z: _marked(a, b"z") + FALSE + z),
    "a text of its own": numeral(
        lambda a, v, z: _marked(a, b"inlineStr") + v + b"</v><is><t>" + FALSE + b"</t></is></c>"
    ),
    "a text of its own beside a number": numeral(lambda a, v, z: a + v + b"</v><is><t>" + FALSE + b"</t></is></c>"),
    "a value in an extension": numeral(lambda a, v, z: a[:-3] + b"<extLst><v>" + FALSE + b"</v></extLst><v>" + v + z),
    "a value of another kind of XML": numeral(
        lambda a, v, z: a[:-3] + b'<x:v xmlns:x="urn:x">' + FALSE + b"</x:v><v>" + v + z
    ),
    "a value of another kind behind": numeral(
        lambda a, v, z: a + v + b'</v><x:v xmlns:x="urn:x">' + FALSE + b"</x:v></c>"
    ),
    "an attribute of another kind": numeral(
        lambda a, v, z: a.replace(b"<c ", b'<c xmlns:x="urn:x" x:t="b" ', 1) + v + z
    ),
    "another place by an attribute of another kind": numeral(
        lambda a, v, z: a.replace(b"<c ", b'<c xmlns:x="urn:x" x:r="Z99" ', 1) + v + z
    ),
    "a value in an attribute": numeral(
        lambda a, v, z: (
            a.replace(b"<c ", b'<c ph="><v>' + FALSE.replace(b"<", b"") + b'" ', 1).replace(b"><v>9", b"&gt;9") + v + z
        )
    ),
    "an attribute that looks like a value": numeral(lambda a, v, z: a.replace(b"<v>", b'<v x="&lt;v>5">', 1) + v + z),
    "an alternative": numeral(
        lambda a, v, z: (
            a[:-3]
            + b'<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice '
            b'Requires="x14"><v>' + FALSE + b"</v></mc:Choice><mc:Fallback><v>" + v + b"</v></mc:Fallback>"
            b"</mc:AlternateContent></c>"
        )
    ),
    "a formula before it": numeral(
        lambda a, v, z: a[:-3] + b"<f>999.111</f><v>" + v + z if b"<f>" not in a else a + FALSE + z
    ),
    "a formula behind it": numeral(lambda a, v, z: a + v + b"</v><f>1+998</f></c>"),
    "elements inside of the value": numeral(lambda a, v, z: a + v + b"<x>9</x>" + z),
    "a long number": numeral(lambda a, v, z: a + v + b"9" * 3 + z),
    "a sign": numeral(lambda a, v, z: a + (v[1:] if v.startswith(b"-") else b"-" + v) + z),
    "a higher power": numeral(lambda a, v, z: a + v + b"E2" + z),
    "a rich value": numeral(lambda a, v, z: a.replace(b"<c ", b'<c vm="1" ', 1) + FALSE + z),
    "another style": numeral(
        lambda a, v, z: re.sub(rb'^<c (r="[A-Z]+[0-9]+")(?: s="[0-9]+")?', rb'<c \1 s="1"', a) + v + z
    ),
    "the place in another row": numeral(
        lambda a, v, z: re.sub(rb'r="([A-Z]+)[0-9]+"', rb'r="\g<1>77"', a, count=1) + v + z
    ),
    "the place in small letters": numeral(
        lambda a, v, z: re.sub(rb'r="([A-Z]+)', lambda m: m[0].lower(), a, count=1) + v + z
    ),
    "no place": numeral(lambda a, v, z: re.sub(rb' r="[A-Z]+[0-9]+"', b"", a, count=1) + v + z),
    "the place with a dollar": numeral(lambda a, v, z: re.sub(rb'r="([A-Z]+)', rb'r="$\1', a, count=1) + v + z),
    "the place twice": numeral(lambda a, v, z: a + v + z + a + FALSE + z),
    "the place in single quotes, and another": numeral(
        lambda a, v, z: re.sub(rb'r="([A-Z]+[0-9]+)"', rb"r='\1' ph='r=&quot;Z9&quot;'", a, count=1) + v + z
    ),
}
