"""XML parts from untrusted files: brought to UTF-8, bounded before they are parsed, and written back."""

from __future__ import annotations

import codecs
import re
from typing import Any

from lxml import etree

from addin.workbook.ooxml.errors import damaged

MAX_TREE_BYTES = 640 * 1024**2
"""What the parsed parts of one book may take in memory together: about half a million cells, below 1 GB in all."""

_ELEMENT_BYTES, _ATTRIBUTE_BYTES = 400, 250
"""What an element and an attribute take at most in a parsed part, measured, with our index of cells."""

_DECLARATION = re.compile(rb"""\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)["'][^>]*\?>""")
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def utf8(content: bytes, part: str) -> bytes:
    """The XML of a part in UTF-8, whatever encoding it has; raises `WorkbookError` for bytes that are none."""
    encoding = next((name for mark, name in _BOMS if content.startswith(mark)), "")
    if not encoding and content[:2] in (b"<\0", b"\0<"):
        encoding = "utf-16-le" if content[0] else "utf-16-be"
    declared = _DECLARATION.match(content)
    if not encoding and declared:
        encoding = declared[1].decode().lower()
    if encoding in ("", "utf-8", "us-ascii"):
        return content
    try:
        text = content.decode(encoding)
    except (LookupError, ValueError) as error:
        raise damaged(part, f"it is not readable as {encoding} ({error})") from None
    return re.sub(r"^\s*<\?xml.*?\?>", "", text, count=1).encode()


def tree_bytes(content: bytes) -> int:
    """Return what the parsed content will take in memory at most, counted without parsing it."""
    elements = content.count(b"<") - content.count(b"</")
    return len(content) + elements * _ELEMENT_BYTES + content.count(b"=") * _ATTRIBUTE_BYTES


def parse_xml(content: bytes, part: str, target: Any = None) -> Any:
    """The root of untrusted XML in UTF-8, or what `target` makes of its events; raises `WorkbookError`.

    No entity is replaced, no other file is read, comments are left out. A document type is refused before parsing.
    """
    if b"<!DOCTYPE" in content:
        raise damaged(part, "it declares a document type, which no spreadsheet program writes; it is refused")
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=True,
        remove_comments=True,
        remove_pis=True,
        target=target,
    )
    try:
        return etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise damaged(part, f"it is not well-formed ({error})") from None


def xml_bytes(root: etree._Element) -> bytes:
    """The content of an XML part."""
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True))
