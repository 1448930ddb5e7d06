"""XML with the prefixes that spreadsheet programs usually write: the component knows no others, which mean the same."""

from __future__ import annotations

import re

from addin.workbook.ooxml.relations import CONTENT_TYPES, RELATIONSHIPS
from addin.workbook.ooxml.stored import MAIN

_OFFICE = "http://schemas.openxmlformats.org"
_USUAL = {
    MAIN: "",
    RELATIONSHIPS: "",
    CONTENT_TYPES: "",
    f"{_OFFICE}/officeDocument/2006/relationships": "r",
    f"{_OFFICE}/drawingml/2006/spreadsheetDrawing": "xdr",
    f"{_OFFICE}/drawingml/2006/main": "a",
    f"{_OFFICE}/drawingml/2006/chart": "c",
    f"{_OFFICE}/markup-compatibility/2006": "mc",
}
"""The prefix of each namespace; empty where its names have none."""

_DECLARED = re.compile(rb"""\sxmlns(?::([\w.-]+))?=(?:"([^"]*)"|'([^']*)')""")


def usual_prefixes(content: bytes) -> bytes:
    """The same XML, in UTF-8, with the usual prefixes; one that is usual already, or means two things, stays.

    >>> usual_prefixes(b'<x:row xmlns:x="%b"><x:c/></x:row>' % MAIN.encode())[:33]
    b'<row xmlns="http://schemas.openxm'
    """
    declared = {(found[1] or b"", found[2] or found[3] or b"") for found in _DECLARED.finditer(content)}
    for prefix, namespace in sorted(declared):
        usual = _USUAL.get(namespace.decode("utf-8", "replace"))
        if usual is None or usual.encode() == prefix:
            continue
        if any(other == usual.encode() and meant != namespace for other, meant in declared):
            continue
        content = _renamed(content, prefix, usual.encode())
    return content


def _renamed(content: bytes, prefix: bytes, usual: bytes) -> bytes:
    """The XML with `usual` in place of a prefix; what had none gets it."""
    new = usual + b":" if usual else b""
    if prefix:
        content = re.sub(rb"(</?)" + re.escape(prefix) + rb":", rb"\1" + new, content)
        content = re.sub(rb"(\s)" + re.escape(prefix) + rb":(?=[\w.-]+=[\"'])", rb"\1" + new, content)
    else:
        content = re.sub(rb"(</?)(?=[A-Za-z_][\w.-]*[\s/>])", rb"\1" + new, content)
    old = rb"xmlns:" + re.escape(prefix) if prefix else rb"xmlns"
    now = rb"xmlns" + (b":" + usual if usual else b"")
    content = re.sub(rb"(\s)" + old + rb"=", rb"\1" + now + b"=", content)
    # A tag may have declared both.
    return re.sub(rb"(<[^<>]*\s)(" + now + rb"=\"[^\"]*\")([^<>]*)\s\2", rb"\1\2\3", content)
