"""What is wrong with a manifest, as far as the file alone shows it."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit
from uuid import UUID

from lxml import etree

from addin.excel.assets import STATIC

Element: TypeAlias = etree._Element  # noqa: SLF001 - lxml has no public name for it

APP = "{http://schemas.microsoft.com/office/appforoffice/1.1}"
OVERRIDES = "{http://schemas.microsoft.com/office/taskpaneappversionoverrides}"
TYPES = "{http://schemas.microsoft.com/office/officeappbasictypes/1.0}"
XSI_TYPE = "{http://www.w3.org/2001/XMLSchema-instance}type"

# The schema's order; Office refuses a manifest with another order.
ORDER = {
    f"{APP}OfficeApp": "Id AlternateId Version ProviderName DefaultLocale DisplayName Description IconUrl "
    "HighResolutionIconUrl SupportUrl AppDomains Hosts Requirements DefaultSettings Permissions VersionOverrides "
    "ExtendedOverrides",
    f"{OVERRIDES}VersionOverrides": "Description Requirements Hosts Resources WebApplicationInfo EquivalentAddins",
    f"{OVERRIDES}Host": "Runtimes AllFormFactors DesktopFormFactor MobileFormFactor",
    f"{OVERRIDES}ExtensionPoint": "Script Page Metadata Namespace CustomTab OfficeTab",
    f"{OVERRIDES}DesktopFormFactor": "GetStarted FunctionFile ExtensionPoint",
    f"{OVERRIDES}CustomTab": "Group Label",
    f"{OVERRIDES}Group": "Label Icon Control",
    f"{OVERRIDES}Control": "Label ToolTip Supertip Icon Action Items",
    f"{OVERRIDES}Item": "Label Supertip Icon Action",
    f"{OVERRIDES}Resources": "Images Urls ShortStrings LongStrings",
}

MAX_RESID = 32
MAX_LENGTHS = {"ShortStrings": 125, "LongStrings": 250, "DisplayName": 125, "Description": 250}
ICON_SIZES = {16, 32, 80}


def problems(text: str | bytes) -> list[str]:
    """Return what is wrong with a manifest, one sentence each; nothing for a good one."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        root = etree.fromstring(text.encode() if isinstance(text, str) else text, parser)
    except etree.XMLSyntaxError as error:
        return [f"not well-formed: {error}"]
    if root.tag != f"{APP}OfficeApp" or root.get(XSI_TYPE) != "TaskPaneApp":
        return ["not an add-in-only manifest: the root must be an OfficeApp of type TaskPaneApp"]
    checks = (_identity, _order, _addresses, _references, _shared_runtime, _lengths, _icons, _actions, _functions)
    return [problem for check in checks for problem in check(root)]


def _identity(root: Element) -> Iterator[str]:
    identity = root.findtext(f"{APP}Id", "")
    try:
        UUID(identity)
    except ValueError:
        yield f"Id {identity!r} is not a GUID"
    version = root.findtext(f"{APP}Version", "")
    if not re.fullmatch(r"\d{1,5}(\.\d{1,5}){0,3}", version):
        yield f"Version {version!r} is not of the form 1.0.0.0"


def _order(root: Element) -> Iterator[str]:
    for element in _elements(root):
        allowed = ORDER.get(str(element.tag), "").split()
        names = [_name(child) for child in element]
        if not allowed:
            continue
        yield from (f"{_name(element)} must not hold {name}" for name in names if name not in allowed)
        places = [allowed.index(name) for name in names if name in allowed]
        if places != sorted(places):
            yield f"the elements of {_name(element)} stand in the wrong order: {', '.join(dict.fromkeys(names))}"


def _addresses(root: Element) -> Iterator[str]:
    """Every address is https."""
    plain = [element.text or "" for element in root.iter(f"{APP}AppDomain")]
    named = [root.find(f"{APP}{name}") for name in ("IconUrl", "HighResolutionIconUrl", "SupportUrl")]
    valued = [*named, *root.iter(f"{APP}SourceLocation", f"{TYPES}Url", f"{TYPES}Image")]
    given = [*plain, *(e.get("DefaultValue", "") for e in valued if e is not None and e.get("resid") is None)]
    given += [element.get("Url", "") for element in root.iter(f"{APP}ExtendedOverrides")]
    yield from (f"{address!r} is not an https address" for address in given if not _is_https(address))


def _references(root: Element) -> Iterator[str]:
    """Every resid is short, defined once, and used."""
    defined = [element.get("id", "") for element in _resources(root)]
    used = {element.get("resid", "") for element in _elements(root) if element.get("resid") is not None}
    too_long = [name for name in defined if len(name) > MAX_RESID]
    yield from (f"resid {name!r} is longer than {MAX_RESID} characters" for name in too_long)
    yield from (f"resid {name!r} is defined twice" for name in sorted({n for n in defined if defined.count(n) > 1}))
    yield from (f"resid {name!r} is used but not defined" for name in sorted(used - set(defined)))
    yield from (f"resid {name!r} is defined but not used" for name in sorted(set(defined) - used))


def _shared_runtime(root: Element) -> Iterator[str]:
    """Functions, ribbon and pane live in one page, named by one resid."""
    if root.find(f".//{APP}Set[@Name='SharedRuntime']") is None:
        yield "the requirement SharedRuntime is missing"
    places = ("Runtimes/Runtime", "AllFormFactors//Page/SourceLocation", "FunctionFile", "Action/SourceLocation")
    found = [root.findall(".//" + re.sub(r"\w+", lambda part: OVERRIDES + part[0], place)) for place in places]
    yield from (f"{place} is missing" for place, elements in zip(places, found, strict=True) if not elements)
    pages = {element.get("resid", "") for elements in found for element in elements}
    if len(pages) > 1:
        yield f"runtime, functions, ribbon and pane must name one page, not {', '.join(sorted(pages))}"


def _lengths(root: Element) -> Iterator[str]:
    for name in ("DisplayName", "Description"):
        element = root.find(f"{APP}{name}")
        yield from _length(name, "" if element is None else element.get("DefaultValue", ""), MAX_LENGTHS[name])
    for element in _resources(root):
        parent = element.getparent()
        limit = MAX_LENGTHS.get("" if parent is None else _name(parent))
        if limit is not None:
            yield from _length(element.get("id", ""), element.get("DefaultValue", ""), limit)


def _icons(root: Element) -> Iterator[str]:
    """Every icon comes in Office's three sizes, and the files of ours have them."""
    addresses = {element.get("id", ""): element.get("DefaultValue", "") for element in _resources(root)}
    for icon in root.iter(f"{OVERRIDES}Icon"):
        images = {int(image.get("size", "0")): image.get("resid", "") for image in icon}
        if set(images) != ICON_SIZES:
            yield f"an icon has the sizes {sorted(images)}, not 16, 32 and 80"
        for size, resid in images.items():
            yield from _icon_file(addresses.get(resid, ""), size)


def _icon_file(address: str, size: int) -> Iterator[str]:
    file = STATIC / "icons" / Path(urlsplit(address).path).name
    if not file.is_file():
        yield f"there is no icon {address!r}"
    elif struct.unpack(">II", file.read_bytes()[16:24]) != (size, size):  # width and height in a PNG's header
        yield f"{file.name} is not {size} pixels wide and high"


def _actions(root: Element) -> Iterator[str]:
    """Every button's function is associated in the page's scripts."""
    triggers = (STATIC / "workbook/triggers.js").read_text(encoding="utf-8")
    associated = set(re.findall(r"^  (\w+): \{.*\},$", triggers, flags=re.MULTILINE))
    for element in root.iter(f"{OVERRIDES}FunctionName"):
        if element.text not in associated:
            yield f"no script associates the function {element.text!r} of a button"


def _functions(root: Element) -> Iterator[str]:
    """The functions' script and metadata are ours, and the namespace can stand in a formula."""
    values = {element.get("id", ""): element.get("DefaultValue", "") for element in _resources(root)}
    for place, file in (("Script", "functions.js"), ("Metadata", "functions.json")):
        location = root.find(f".//{OVERRIDES}{place}/{OVERRIDES}SourceLocation")
        address = "" if location is None else values.get(location.get("resid", ""), "")
        if not urlsplit(address).path.endswith(f"/{file}"):
            yield f"{place} leads to {address!r}, not to {file}"
    namespace = root.find(f".//{OVERRIDES}Namespace")
    name = "" if namespace is None else values.get(namespace.get("resid", ""), "")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9.]{0,31}", name):
        yield f"the namespace {name!r} cannot stand in a formula"


def _elements(root: Element) -> Iterator[Element]:
    return (element for element in root.iter() if isinstance(element.tag, str))


def _resources(root: Element) -> list[Element]:
    return root.findall(f".//{OVERRIDES}Resources/*/*")


def _name(element: Element) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def _is_https(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme == "https" and bool(parts.hostname)


def _length(name: str, text: str, limit: int) -> Iterator[str]:
    if not 0 < len(text) <= limit:
        yield f"{name} has {len(text)} characters; 1 to {limit} are allowed"
