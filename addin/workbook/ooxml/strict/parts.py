"""How the parts of a package lead to each other: by exact types, each to one part, and none that nobody leads to."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from addin.workbook.ooxml.errors import WorkbookError, damaged

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
OFFICE_DOCUMENT = f"{_OFFICE}/officeDocument"
_STRICT = "http://purl.oclc.org/ooxml/"
_TYPES = "{http://schemas.openxmlformats.org/package/2006/content-types}"
_RELATIONS = "{http://schemas.openxmlformats.org/package/2006/relationships}"
_SHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.{}+xml"
_MACROS = "application/vnd.ms-excel.{}.macroEnabled.main+xml"
_BOOK_TYPES = frozenset(
    (_SHEET_TYPE.format("sheet.main"), _SHEET_TYPE.format("template.main"), *map(_MACROS.format, ("sheet", "template")))
)
_SINGLE = ("sharedStrings", "styles")
_OF_BOOK = ("worksheet", *_SINGLE)
"""What a workbook's relationships lead to where cells and their looks are."""

_FIXED_PLACES = {
    "xl/workbook.xml": "officeDocument",
    "xl/sharedstrings.xml": "sharedStrings",
    "xl/styles.xml": "styles",
}
"""Where some programs look without asking any relationship."""
_SHEET_PLACE = re.compile(r"xl/worksheets/sheet[0-9]+\.xml")
_ODD_TARGET = re.compile(r"[\\%?#\s]|//|(?:^|/)\.(?:/|$)")


class Relation(NamedTuple):
    """A relationship as the file states it."""

    key: str
    kind: str
    target: str
    part: str
    is_outside: bool


def relations_in(root: Any, source: str, part: str) -> list[Relation]:
    """The relationships in the part `part`, of the part `source`; raises `WorkbookError` where an id stands twice."""
    found = []
    folder = posixpath.dirname(source)
    for element in root:
        if element.tag != f"{_RELATIONS}Relationship":
            raise damaged(part, "it holds something else than relationships")
        target = element.get("Target", "")
        is_outside = element.get("TargetMode") == "External"
        path = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        found.append(Relation(element.get("Id", ""), element.get("Type", ""), target, path, is_outside))
    twice = [key for key, count in Counter(each.key for each in found).items() if count > 1]
    if twice:
        raise damaged(part, f"two relationships have the id {twice[0][:40]!r}")
    return found


def the_book(relations: Iterable[Relation]) -> str:
    """The one workbook part of a package; empty where it names none. Raises `WorkbookError` for anything else."""
    relations = list(relations)
    for each in relations:
        if each.kind.casefold().endswith("/officedocument") and each.kind != OFFICE_DOCUMENT:
            if each.kind.startswith(_STRICT):
                raise WorkbookError("the book is saved as Strict Open XML; save it as an ordinary workbook first")
            raise damaged("the package", f"its workbook is of the kind {each.kind[:120]!r}, which only looks like one")
    books = [each for each in relations if each.kind == OFFICE_DOCUMENT]
    if len(books) > 1 or any(each.is_outside for each in books):
        raise damaged("the package", "it leads to more than one workbook, or to one outside of it")
    return books[0].part if books else ""


def check_book_relations(relations: Iterable[Relation], part: str) -> None:
    """Raise `WorkbookError` for a workbook whose sheets, texts or styles programs may find in different parts."""
    relations = list(relations)
    for each in relations:
        last = each.kind.rpartition("/")[2]
        known = next((kind for kind in _OF_BOOK if kind.casefold() == last.casefold()), None)
        if known is None:
            continue
        if each.kind != f"{_OFFICE}/{known}":
            raise damaged(part, f"a relationship is of the kind {each.kind[:120]!r}, which only looks like {known}")
        if each.is_outside or _ODD_TARGET.search(each.target):
            raise damaged(part, f"a relationship leads to {each.target[:60]!r}, where not every program finds it")
    for kind in _SINGLE:
        if sum(each.kind == f"{_OFFICE}/{kind}" for each in relations) > 1:
            raise damaged(part, f"two relationships lead to {kind}")
    sheets = Counter(each.part.casefold() for each in relations if each.kind == f"{_OFFICE}/worksheet")
    if twice := [name for name, count in sheets.items() if count > 1]:
        raise damaged(part, f"two relationships lead to {twice[0]}")


def check_parts(names: Iterable[str], book: str, relations: Iterable[Relation], types: Any, part: str) -> None:
    """Raise `WorkbookError` for parts that only look like those of the book, by their place or by their type."""
    relations = list(relations)
    names = list(names)
    places = {kind: {each.part for each in relations if each.kind == f"{_OFFICE}/{kind}"} for kind in _OF_BOOK}
    places["officeDocument"] = {book}
    for name in names:
        folded = name.casefold()
        kind = next((kind for place, kind in _FIXED_PLACES.items() if folded.endswith(place)), "")
        kind = kind or ("worksheet" if _SHEET_PLACE.search(folded) and "_rels/" not in folded else "")
        if kind and name not in places[kind]:
            raise WorkbookError(
                f"the workbook is refused: its part {name} stands where programs look for {kind}, but the workbook "
                "does not lead to it"
            )
    type_of = _types(types, part)
    if not any(program in type_of(book) for program in ("spreadsheetml", "ms-excel")):
        raise WorkbookError(f"this is a file of another Office program, and no workbook: {book} is {type_of(book)!r}")
    for name in names:
        found = "" if name == part or name.endswith((".rels", "/")) else type_of(name)
        if (found in _BOOK_TYPES) != (name == book) and (found in _BOOK_TYPES or name.endswith(".xml")):
            raise damaged(part, f"the type of {name} is {found!r}")
        for kind in _OF_BOOK:
            if found == _SHEET_TYPE.format(kind) and name not in places[kind]:
                raise damaged(part, f"{name} has the type of {kind}, but the workbook does not lead to it")


def _types(root: Any, part: str) -> Callable[[str], str]:
    """Return what tells the type of a part; raises `WorkbookError` where two are given."""
    by_name: dict[str, str] = {}
    by_ending: dict[str, str] = {}
    for element in root:
        known, key = (by_name, "PartName") if element.tag == f"{_TYPES}Override" else (by_ending, "Extension")
        folded = element.get(key, "").casefold()
        if element.tag not in (f"{_TYPES}Override", f"{_TYPES}Default") or folded in known:
            raise damaged(part, f"it names {element.get(key, '')[:60]!r} twice, or something else than types")
        known[folded] = element.get("ContentType", "")
    return lambda name: _type_of(name, by_name, by_ending)


def _type_of(name: str, by_name: Mapping[str, str], by_ending: Mapping[str, str]) -> str:
    found = by_name.get(f"/{name}".casefold())
    return found if found is not None else by_ending.get(name.rpartition(".")[2].casefold(), "")
