"""Lines that hold together: each carries the hash of the one before it, and each block of them ends in a signature.

A block is what one command wrote about one book: a line that begins it, one line for each formula, and one with the
signature. A line ends in its own hash, which covers every byte before it, so it is checked as it stands in the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import orjson

REFRESH, FREEZE = "refresh", "freeze"
"""What wrote a block: one about formulas and their values, or about a copy with values in place of formulas."""

START = "0" * 64
"""What stands for the line before the first one."""

_SIGNED = b"dataservice-addin audit 1\n"
"""What comes before the hash that is signed, so that the signature cannot pass for one of anything else."""

_NOT_IN_XML = "\ufffe\uffff"
"""What JSON may hold as it is, but not the part of a workbook that holds these lines."""

_TAIL = len(b',"hash":""}') + 64


class Kind(StrEnum):
    """The kind of a line."""

    BEGIN = "begin"
    NUMBER = "number"
    BOOK = "book"
    """What the book says beside its cells."""
    CELLS = "cells"
    """Cells of the book that no line about a number covers."""
    END = "end"


@dataclass(frozen=True, slots=True)
class Block:
    """The lines that one command signed about one book."""

    begin: Mapping[str, Any]
    numbers: list[dict[str, Any]]
    public_key: str
    seal: str
    """The hash of its last line, which stands for this block and all before it."""
    cells: list[dict[str, Any]] = field(default_factory=list)
    book: Mapping[str, Any] | None = None
    """None in a block of the version before, which says nothing but its numbers."""
    envelope: Mapping[str, Any] | None = None
    """The statement about the file, in its envelope."""
    signature: str = ""
    stamp: str | None = None
    """The time stamp of an authority, as it sent it, in Base64."""
    lines_hash: str = ""
    """The hash of the last line before the end: the statement names it."""

    @property
    def is_frozen(self) -> bool:
        """Return whether it is about a copy with values in place of formulas."""
        return self.begin.get("by") == FREEZE


@dataclass(slots=True)
class Chain:
    """The contents of a file of lines: whole blocks in their order, and everything that is wrong with them."""

    blocks: list[Block] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What readers of all these lines should know, though nothing is wrong with them."""
    seals: set[str] = field(default_factory=set)
    keys: dict[str, str] = field(default_factory=dict)
    """Every key that signed in it, with the time of its last block."""
    unfinished: int = 0
    """Lines at the end that no signature follows: a command that was broken off, or lines that were removed."""


def block_lines(
    begin: Mapping[str, Any],
    numbers: Iterable[Mapping[str, Any]],
    *,
    previous: str,
    public_key: str,
    sign: Callable[[bytes], str],
    content: Iterable[Mapping[str, Any]] = (),
    state: Callable[[str], Mapping[str, Any]] | None = None,
    stamp: Callable[[bytes], str] | None = None,
) -> list[bytes]:
    """The lines of a block after the line whose hash is `previous`.

    `content` are the lines about the rest of the book; `state` makes the statement about the file from the hash of all
    lines before the end; `stamp` makes a time stamp for the signatures.
    """
    lines = []
    told = ({"type": Kind.NUMBER, **number} for number in numbers)
    for record in ({"type": Kind.BEGIN, **begin}, *told, *content):
        lines.append(_line(record, previous))
        previous = hash_in(lines[-1])
    statement = {} if state is None else {"statement": state(previous)}
    signature = sign(_SIGNED + previous.encode())
    end = {"type": Kind.END, "public_key": public_key, "signature": signature, **statement}
    if stamp is not None:
        end["stamp"] = stamp(stamped_bytes(public_key, signature, statement.get("statement")))
    return [*lines, _line(end, previous)]


def stamped_bytes(public_key: str, signature: str, statement: Mapping[str, Any] | None) -> bytes:
    """Return what the time stamp in the last line of a block covers."""
    return orjson.dumps([public_key, signature, statement])


def hash_in(line: bytes) -> str:
    """The hash at the end of a line that is known to have one."""
    return line[-66:-2].decode()


def is_end(line: bytes) -> bool:
    """Return whether a line, with its line feed or without, is the whole last one of a block."""
    return line.startswith(b'{"type":"end",') and line.rstrip().endswith(b'"}')


def is_begin(line: bytes) -> bool:
    """Return whether a line begins a block."""
    return line.startswith(b'{"type":"begin",')


def read_chain(
    lines: Iterable[bytes],
    *,
    is_signed: Callable[[str, str, bytes], bool],
    wanted: Callable[[Mapping[str, Any]], bool] = lambda _: True,
    previous: str | None = START,
) -> Chain:
    """The blocks whose begin is `wanted`, and what is wrong with any; `previous` None for lines out of a longer file.

    `is_signed` gets a public key, a signature and what it should sign.
    """
    reader = _Reader(is_signed, wanted, previous)
    for number, line in enumerate(lines, 1):
        reader.read(number, line.rstrip(b"\r\n"))
    return reader.end()


class _Reader:
    """Reads line after line; after one that is wrong it goes on with what follows."""

    def __init__(
        self,
        is_signed: Callable[[str, str, bytes], bool],
        wanted: Callable[[Mapping[str, Any]], bool],
        previous: str | None,
    ) -> None:
        self._is_signed = is_signed
        self._wanted = wanted
        self._previous = previous
        self._chain = Chain()
        self._begin: Mapping[str, Any] | None = None
        self._numbers: list[dict[str, Any]] = []
        self._cells: list[dict[str, Any]] = []
        self._book: Mapping[str, Any] | None = None
        self._is_wanted = False
        self._at = ""

    def read(self, number: int, line: bytes) -> None:
        """Read one line."""
        record = _record(line)
        if record is None:
            self._chain.problems.append(f"line {number} cannot be read")
            return
        if hashlib.sha256(_body(line)).hexdigest() != record.get("hash"):
            self._chain.problems.append(f"line {number} was altered{_about(record)}")
        if self._previous not in (None, record.get("previous")):
            self._chain.problems.append(f"before line {number}, lines were removed, added or moved")
        before, self._previous = self._previous, str(record.get("hash"))
        self._chain.unfinished += 1
        if record.get("type") == Kind.BEGIN:
            self._begin, self._numbers, self._cells, self._book = record, [], [], None
            self._is_wanted = self._wanted(record)
        elif self._begin is None:
            self._chain.problems.append(f"line {number} belongs to no block")
        else:
            self._read_in_block(number, record, before or str(record.get("previous")))

    def _read_in_block(self, number: int, record: dict[str, Any], before: str) -> None:
        match record.get("type"):
            case Kind.NUMBER:
                self._numbers += [record] if self._is_wanted else []
            case Kind.CELLS:
                self._cells += [record] if self._is_wanted else []
            case Kind.BOOK if self._book is None:
                self._book = record
            case Kind.END:
                self._close(number, record, before)
            case _:
                self._chain.problems.append(f"line {number} belongs to no block")

    def _close(self, number: int, record: Mapping[str, Any], before: str) -> None:
        key, signature, seal = (str(record.get(name)) for name in ("public_key", "signature", "hash"))
        self._chain.unfinished = 0
        self._chain.seals.add(seal)
        self._note_begin(number, key)
        if not self._is_signed(key, signature, _SIGNED + before.encode()):
            self._chain.problems.append(f"the signature in line {number} is not that of its lines")
        if self._begin is not None and self._is_wanted:
            block = Block(
                self._begin,
                self._numbers,
                key,
                seal,
                self._cells,
                self._book,
                record.get("statement"),
                signature,
                record.get("stamp"),
                before,
            )
            self._chain.blocks.append(block)
        self._begin, self._numbers = None, []

    def _note_begin(self, number: int, key: str) -> None:
        """Note who signed a block and when, and what it says of lines before it."""
        begin = self._begin or {}
        at = str(begin.get("at", ""))
        if at < self._at:
            self._chain.problems.append(f"the block that ends in line {number} says it is older than the one before it")
        self._at = max(self._at, at)
        self._chain.keys[key] = at
        if isinstance(replaced := begin.get("replaces"), dict):
            seal = str(replaced.get("seal"))[:16]
            self._chain.notes.append(f"it took the place of another file of signed lines, with the seal {seal}…")

    def end(self) -> Chain:
        """Return what was read."""
        return self._chain


def _line(record: Mapping[str, Any], previous: str) -> bytes:
    body = orjson.dumps({**record, "previous": previous})
    for character in _NOT_IN_XML:
        body = body.replace(character.encode(), rb"\u%04x" % ord(character))
    return body[:-1] + b',"hash":"' + hashlib.sha256(body).hexdigest().encode() + b'"}'


def _body(line: bytes) -> bytes:
    """The line without its hash."""
    return line[:-_TAIL] + b"}"


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return record if isinstance(record, dict) else None


def _about(record: Mapping[str, Any]) -> str:
    """The cell that a line is about, in brackets."""
    return f" ({record.get('sheet')}!{record['cell']})" if "cell" in record else ""
