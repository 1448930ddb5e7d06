"""The extension for LibreOffice Calc: one file, built from the registry."""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from io import BytesIO
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from addin.calc import configuration
from addin.calc.configuration import Names
from dataservice.version import office_version
from udfs.arguments import Day, Flag, Number, Options, Parameter, Start
from udfs.engine import REGISTRY, Udf

MINIMUM = "25.2"
"""The first LibreOffice that reads and writes the names under which Excel stores our functions."""

_STAMP = (1980, 1, 1, 0, 0, 0)
"""The date of every part: the same content gives the same file."""

_DOCUMENT = ("document", "com.sun.star.beans.XPropertySet")
"""The hidden first parameter, in which Calc passes the calling document."""

_MEDIA_TYPES = {
    ".rdb": "application/vnd.sun.star.uno-typelibrary;type=RDB",
    ".components": "application/vnd.sun.star.uno-components",
    ".xcu": "application/vnd.sun.star.configuration-data",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """An extension, by the namespace of its functions, and its backend."""

    namespace: str = "DS"
    url: str = "https://localhost:8765"
    ca: bytes | None = None
    """The certificate authority (PEM) of an https backend, if it is not a public one."""


def oxt(extension: Extension) -> bytes:
    """The extension as the file that users open: a zip that is the same for the same content."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as out:
        for name, content in sorted(extension_parts(extension).items()):
            info = zipfile.ZipInfo(name, _STAMP)
            info.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(info, content)
    return buffer.getvalue()


def extension_parts(extension: Extension) -> dict[str, bytes]:
    """The files of the extension by their path."""
    names, functions = Names(extension.namespace), list(REGISTRY.values())
    own = f"pythonpath/{names.package}"
    parts = {
        "types.rdb": type_library(_interface(functions, names)),
        "parts.components": _components(names),
        "component.py": f"from {names.package}.registration import g_ImplementationHelper\n".encode(),
        "CalcAddIns.xcu": configuration.add_ins(functions, names),
        "ProtocolHandler.xcu": configuration.protocol_handler(names),
        "Addons.xcu": configuration.menu(names),
        "Jobs.xcu": configuration.jobs(names),
        "CalcWindowState.xcu": configuration.toolbar_name(names),
        "description.xml": _description(names),
        "description.txt": _about(names),
        **_files("icons", ".png", into="icons"),
        **_files("component", ".py", into=own),
        f"{own}/built.json": json.dumps(_built(extension, functions, names)).encode(),
    }
    if extension.ca is not None:
        parts[f"{own}/ca.pem"] = extension.ca
    return {**parts, "META-INF/manifest.xml": _manifest(parts)}


def _interface(functions: Iterable[Udf], names: Names) -> Interface:
    """Every parameter is `any`, so that it may be left out; so is every result, which may be a number or a table."""
    methods = [
        Method(function.id, "any", [_DOCUMENT, *((parameter.name, "any") for parameter in function.parameters)])
        for function in functions
    ]
    return Interface(names.interface, methods)


def _built(extension: Extension, functions: Iterable[Udf], names: Names) -> dict[str, Any]:
    """Return what the component knows about the functions and itself."""
    return {
        "namespace": names.namespace,
        "interface": names.interface,
        "commands": names.commands,
        "opened": names.opened,
        "protocol": names.protocol,
        "url": extension.url,
        "functions": [_function(function) for function in functions],
    }


def _function(function: Udf) -> dict[str, Any]:
    options = [i for i, parameter in enumerate(function.parameters) if isinstance(parameter.kind, Options)]
    return {
        "id": function.id,
        "parameters": [_parameter(parameter) for parameter in function.parameters],
        "options_at": options[0] if options else None,
        "is_report": function.runs_last,
    }


def _parameter(parameter: Parameter) -> dict[str, bool]:
    """Calc passes an empty cell as 0; where 0 is not allowed, it must be an empty cell."""
    kind = parameter.kind
    zero_is_allowed = isinstance(kind, Flag) or (isinstance(kind, Number) and kind.least <= 0 <= kind.most)
    return {"zero_is_blank": not zero_is_allowed, "is_day": isinstance(kind, Day | Start)}


def _files(folder: str, suffix: str, *, into: str) -> dict[str, bytes]:
    found = (files("addin.calc") / folder).iterdir()
    return {f"{into}/{file.name}": file.read_bytes() for file in found if file.name.endswith(suffix)}


def _components(names: Names) -> bytes:
    return _xml(
        '<components xmlns="http://openoffice.org/2010/uno-components">'
        '<component loader="com.sun.star.loader.Python" uri="component.py">'
        f"<implementation name={quoteattr(names.namespace)}>"
        f'<service name={quoteattr(names.namespace)}/><service name="com.sun.star.sheet.AddIn"/></implementation>'
        f"<implementation name={quoteattr(names.commands)}>"
        '<service name="com.sun.star.frame.ProtocolHandler"/></implementation>'
        f"<implementation name={quoteattr(names.opened)}>"
        f'<service name={quoteattr(names.opened)}/><service name="com.sun.star.task.Job"/></implementation>'
        "</component></components>"
    )


def _manifest(parts: Mapping[str, bytes]) -> bytes:
    entries = "".join(
        f'<manifest:file-entry manifest:full-path={quoteattr(name)} manifest:media-type="{kind}"/>'
        for suffix, kind in _MEDIA_TYPES.items()
        for name in parts
        if name.endswith(suffix)
    )
    return _xml(
        f'<manifest:manifest xmlns:manifest="http://openoffice.org/2001/manifest">{entries}</manifest:manifest>'
    )


def _description(names: Names) -> bytes:
    needed = f'<lo:LibreOffice-minimal-version d:name="LibreOffice {MINIMUM}" value="{MINIMUM}"/>'
    return _xml(
        '<description xmlns="http://openoffice.org/extensions/description/2006"'
        ' xmlns:d="http://openoffice.org/extensions/description/2006" xmlns:xlink="http://www.w3.org/1999/xlink"'
        ' xmlns:lo="http://libreoffice.org/extensions/description/2011">'
        f"<identifier value={quoteattr(names.identifier)}/><version value={quoteattr(office_version())}/>"
        f"<dependencies>{needed}</dependencies>"
        f'<display-name><name lang="en">Data Service ({escape(names.namespace)} functions)</name></display-name>'
        '<icon><default xlink:href="icons/signal-26.png"/></icon>'
        '<extension-description><src lang="en" xlink:href="description.txt"/></extension-description>'
        "</description>"
    )


def _about(names: Names) -> bytes:
    example = names.typed("SIGNAL")
    return f"Functions such as {example}, a menu and a toolbar. Needs the add-in's backend: addin serve.\n".encode()


def _xml(text: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()


_MAGIC = b"UNOIDL\xff\0"
_MODULE, _INTERFACE, _IN = 0, 5, 0
_BASE = "com.sun.star.uno.XInterface"


@dataclass(frozen=True, slots=True)
class Method:
    """One method: its name, what it returns, and its parameters as (name, type); types as in `[][]any`."""

    name: str
    returns: str
    parameters: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Interface:
    """One interface by its full name, such as `dataservice.calc.XFunctions`."""

    name: str
    methods: Sequence[Method]


def type_library(interface: Interface) -> bytes:
    """The bytes of a type library that declares `interface` and nothing else."""
    content = bytearray(_MAGIC + _uint32(0) + _uint32(0))
    *modules, name = interface.name.split(".")
    payload = _append(content, _interface_payload(interface))
    for module in reversed(modules):
        payload = _append(content, bytes([_MODULE]) + _uint32(1) + _map(content, {name: payload}))
        name = module
    root = _append(content, _map(content, {name: payload}))
    content[len(_MAGIC) : len(_MAGIC) + 8] = _uint32(root) + _uint32(1)
    return bytes(content)


def _interface_payload(interface: Interface) -> bytes:
    parts = [bytes([_INTERFACE]), _uint32(1), _string(_BASE), _uint32(0), _uint32(0), _uint32(len(interface.methods))]
    for method in interface.methods:
        parts += [_string(method.name), _string(method.returns), _uint32(len(method.parameters))]
        parts += [bytes([_IN]) + _string(name) + _string(kind) for name, kind in method.parameters]
        parts.append(_uint32(0))  # exceptions
    return b"".join(parts)


def _map(content: bytearray, payloads: Mapping[str, int]) -> bytes:
    """The entries of a map; the names are appended to `content`."""
    names = {name: _append(content, name.encode("ascii") + b"\0") for name in sorted(payloads)}
    return b"".join(_uint32(at) + _uint32(payloads[name]) for name, at in names.items())


def _append(content: bytearray, part: bytes) -> int:
    at = len(content)
    content += part
    return at


def _string(text: str) -> bytes:
    return _uint32(len(text)) + text.encode("ascii")


def _uint32(number: int) -> bytes:
    return struct.pack("<I", number)
