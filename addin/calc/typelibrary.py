"""The type library of the extension, a UNOIDL file: it declares our interface to Calc. Written here, without the SDK.

The file is a magic number, the offset of the root map, and maps and payloads in any order. A map's entries are sorted
by name; a string is its length and its bytes. Numbers are 32-bit little-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
