"""What the sheet's page asks for, as work from bytes to bytes: a shared backend does it in a process apart."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import msgspec
import orjson

from addin.sheet.calculation.calculated import ToCalculate, calculated
from addin.sheet.edits import SheetEdits
from addin.sheet.files import book_file, has_macros
from addin.sheet.opening.opened import opened_book
from addin.sheet.saved import saved_book
from addin.workbook.ooxml.errors import WorkbookError


class _Upload(msgspec.Struct):
    """A workbook file, its bytes in Base64; `plain` is opened without charts, tables and rules."""

    name: str
    content: str
    plain: bool = False


class _Edited(_Upload):
    """A workbook file as it was opened, and what was changed since."""

    sheets: list[SheetEdits] = []


def open_upload(body: bytes, namespace: str) -> bytes:
    """Return what the page needs to open a workbook; raises `MsgspecError` for a body that is none, or `AddinError`."""
    upload = msgspec.json.decode(body, type=_Upload)
    return orjson.dumps(open_bytes(_bytes_of(upload), upload.name[:200], namespace, plain=upload.plain))


def save_edited(body: bytes, namespace: str) -> bytes:
    """The workbook with its edits, behind a byte that tells whether it may hold macros; raises the same."""
    edited = msgspec.json.decode(body, type=_Edited)
    content = saved_book(_bytes_of(edited), edited.name, edited.sheets, namespace=namespace)
    return bytes([has_macros(edited.name)]) + content


def calculate_formulas(body: bytes, namespace: str) -> bytes:
    """Return what formulas come to; raises the same."""
    return msgspec.json.encode(calculated(msgspec.json.decode(body, type=ToCalculate), namespace))


def open_bytes(content: bytes, name: str, namespace: str, *, plain: bool = False) -> dict[str, Any]:
    """Return what the page needs to open a workbook of these bytes."""
    with book_file(content, name) as file:
        return opened_book(file, name=name, namespace=namespace, plain=plain)


def _bytes_of(upload: _Upload) -> bytes:
    try:
        return base64.b64decode(upload.content, validate=True)
    except (binascii.Error, ValueError):
        raise WorkbookError("the workbook did not arrive as it was sent") from None
