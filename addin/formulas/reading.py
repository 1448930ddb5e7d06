"""Any formula as a refresh wants it: the calls of ours inside it, what it refers to, and what its arguments are.

Formulas of a book differ in their references and texts and hardly in anything else: so their shape is read, once for
all that have it, and then filled with what each of them has in the places of references and texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypeAlias, cast

from addin.formulas.areas import Area, area_of
from addin.formulas.calls import MAX_PERCENTS, call_id, readable_tokens
from addin.formulas.lexer import MAX_FORMULA, TEXT, Token, Unworkable
from addin.formulas.shape import shape_of
from addin.protocol.messages import Scalar

CHOOSING = frozenset(
    {"IF", "IFS", "IFERROR", "IFNA", "CHOOSE", "SWITCH", "LAMBDA", "MAP", "REDUCE", "SCAN"}
    | {"BYROW", "BYCOL", "MAKEARRAY"}
)
"""Functions that may leave all arguments but the first alone; what stands in them is called perhaps."""

NAMING = frozenset({"LET", "LAMBDA"})
"""Functions whose first arguments are names of their own, which hide those of the book."""

VOLATILE = frozenset({"NOW", "TODAY", "RAND", "RANDBETWEEN", "RANDARRAY", "OFFSET", "INDIRECT", "CELL", "INFO"})
"""Functions whose value depends on more than their arguments."""

DEEPEST = 100
"""Brackets inside each other that are read; Excel allows 64."""


class ReferredArea(NamedTuple):
    """Cells that a formula refers to."""

    area: Area
    is_spill: bool
    """Whether it is whatever the first cell spills into."""
    is_fixed: bool
    """Whether it is the same wherever the formula stands."""


Value: TypeAlias = Scalar | list[list[Scalar]]


class Operand(NamedTuple):
    """A part of a formula, such as an argument, as far as its value can be read off the formula."""

    kind: Literal["value", "text", "area", "name", "join", "unknown"]
    """A `text` is the one at this place among those of the formula, until the shape is filled."""
    value: Value = None
    place: int = 0
    """Of a text, or of an area among those that the formula refers to."""
    name: str = ""
    """In upper case."""
    parts: Sequence[Operand] = ()
    """What is joined by `&`."""


class FoundCall(NamedTuple):
    """A call of ours inside a formula."""

    id: str
    args: Sequence[Operand]
    is_sure: bool
    """Whether it is made whatever the cells hold."""


class ReadFormula(NamedTuple):
    """What a formula calls and refers to."""

    calls: Sequence[FoundCall]
    areas: Sequence[ReferredArea]
    """All that it refers to."""
    names: Sequence[str]
    """All that it uses, in upper case, with a sheet before it where the formula has one."""
    is_closed: bool
    """Whether its value depends on these and nothing else."""
    whole: Operand
    """What it is itself."""


UNKNOWN = Operand("unknown")
NOTHING = ReadFormula((), (), (), is_closed=False, whole=UNKNOWN)
"""What is known of a formula that cannot be read: it may call anything."""

END = Token("end", "")

_CONSTANTS: dict[str, Callable[[str], Scalar]] = {
    "text": lambda text: text[1:-1].replace('""', '"'),
    "number": float,
    "error": str.upper,
}
_FIXED = re.compile(r"(?:\$[A-Za-z]+)?(?:\$[0-9]+)?")
_FOREIGN = re.compile(r"^(?:_XLL\.|_XLFN\.|_XLWS\.)+")


MOST_CHARACTERS = 1_000_000
"""Of shapes that are read for one book: some seconds' work, and a hundred times as many as books of people have."""

_TEXT = re.compile(TEXT)
_HIDES_TEXTS = re.compile(r"['\[{]")
"""Where one of these is left in a shape, what looks like a text may be none, or stand in an array."""


class Readings:
    """Reads the formulas of one book, each shape once."""

    def __init__(self, namespace: str = "DS") -> None:
        self._namespace = namespace
        self._shapes: dict[str, _Shape | None] = {}
        self._known: dict[str, ReadFormula] = {}
        self._room = MOST_CHARACTERS

    def read(self, formula: str) -> ReadFormula:
        """Read a formula, with or without its `=`; after too many shapes nothing is known of any other.

        >>> [call.id for call in Readings().read('=IF(DS.SIGNAL("a")>1,DS.SIGNAL("b"),0)').calls]
        ['SIGNAL', 'SIGNAL']
        """
        found = self._known.get(formula)
        if found is None:
            found = self._known[formula] = self._read(formula)
        return found

    def _read(self, formula: str) -> ReadFormula:
        if len(formula) > MAX_FORMULA:
            return NOTHING
        shape, references = shape_of(formula)
        texts: list[str] = []
        if _has_texts(shape):
            texts = [text[1:-1].replace('""', '"') for text in _TEXT.findall(shape)]
            shape = _TEXT.sub('""', shape)
        if shape not in self._shapes:
            self._shapes[shape] = self._shape(shape)
        known = self._shapes[shape]
        return NOTHING if known is None else known.filled(references, texts)

    def _shape(self, shape: str) -> _Shape | None:
        self._room -= len(shape)
        if self._room < 0:
            return None
        try:
            return _Reader(readable_tokens(shape), self._namespace, has_texts=_has_texts(shape)).read()
        except Unworkable:
            return None


def _has_texts(shape: str) -> bool:
    """Return whether all that looks like a text in a shape is one."""
    return '"' in shape and not _HIDES_TEXTS.search(shape) and shape.count('"') % 2 == 0


class _Shape(NamedTuple):
    """What all formulas of a shape have in common."""

    read: ReadFormula
    holes: Sequence[bool]
    """Of each reference that was taken out, in their order, whether a spill is meant."""

    def filled(self, references: Sequence[str], texts: Sequence[str]) -> ReadFormula:
        """Return what is known of the formula with these references and texts."""
        calls, others, names, is_closed, whole = self.read
        areas = [_referred(each, is_spill=spill) for each, spill in zip(references, self.holes, strict=True)]
        if texts:
            calls = [FoundCall(each.id, [_filled(arg, texts) for arg in each.args], each.is_sure) for each in calls]
            whole = _filled(whole, texts)
        return ReadFormula(calls, [*areas, *others], names, is_closed, whole)


def _filled(operand: Operand, texts: Sequence[str]) -> Operand:
    if operand.kind == "text":
        return Operand("value", texts[operand.place])
    if operand.kind == "join":
        return Operand("join", parts=[_filled(part, texts) for part in operand.parts])
    return operand


def _referred(reference: str, *, is_spill: bool) -> ReferredArea:
    area = cast("Area", area_of(reference))  # no others are taken out of a shape
    corners = reference.rpartition("!")[2].split(":")
    return ReferredArea(area, is_spill, all(map(_FIXED.fullmatch, corners)))


class _Reader:
    """The shape of a formula while it is read, from its first token to its last."""

    def __init__(self, tokens: Sequence[Token], namespace: str, *, has_texts: bool) -> None:
        self._tokens, self._namespace = [*tokens, END], namespace
        self._holes = _ordinals(tokens, "hole")
        self._texts = _ordinals(tokens, "text") if has_texts else {}
        self._spills: set[int] = set()
        self._at = self._depth = self._naming = 0
        self._is_sure = self._is_closed = True
        self._calls: list[FoundCall] = []
        self._areas: list[ReferredArea] = []
        self._names: list[str] = []

    def read(self) -> _Shape:
        whole = self._expression()
        is_closed = self._is_closed and self._tokens[self._at] is END
        read = ReadFormula(self._calls, self._areas, self._names, is_closed, whole)
        return _Shape(read, [place in self._spills for place in self._holes.values()])

    def _next_is(self, *kinds: str, text: str = "") -> bool:
        token = self._tokens[self._at]
        return token.kind in kinds and text in ("", token.text)

    def _takes(self, kind: str, text: str = "") -> bool:
        """Take the next token if it is of this kind."""
        is_there = self._next_is(kind, text=text)
        self._at += is_there
        return is_there

    def _expression(self) -> Operand:
        """Read what stands up to the next separator or closing bracket."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise Unworkable("the formula is nested too deeply")
        operands, is_joined = [self._operand()], True
        while self._next_is("join", "compare", "operator") and not self._next_is("operator", text="#"):
            is_joined = is_joined and self._next_is("join")
            if self._next_is("operator", text=":"):
                self._is_closed = False  # an area that only the cells know
            self._at += 1
            operands.append(self._operand())
        self._depth -= 1
        if len(operands) == 1:
            return operands[0]
        return Operand("join", parts=operands) if is_joined else UNKNOWN

    def _operand(self) -> Operand:
        signs = ""
        while self._next_is("operator") and self._tokens[self._at].text in "+-@":
            signs += self._tokens[self._at].text
            self._at += 1
        read, percents = self._plain(), 0
        while self._takes("operator", "%"):
            percents += 1
        if signs.strip("+") == "" and percents == 0:
            return read
        if "@" in signs or not isinstance(read.value, float) or percents > MAX_PERCENTS:
            return UNKNOWN
        return Operand("value", read.value * (-1) ** signs.count("-") / 100.0**percents)

    def _plain(self) -> Operand:
        token = self._tokens[self._at]
        if token.kind in ("separator", "close", "end") or token.text == "}":
            return Operand("value", None)
        at = self._at
        self._at += 1
        if at in self._texts:
            return Operand("text", place=self._texts[at])
        if token.kind == "hole":
            if self._takes("operator", "#"):
                self._spills.add(self._holes[at])
            return Operand("area", place=self._holes[at])
        if token.kind in _CONSTANTS:
            return Operand("value", _CONSTANTS[token.kind](token.text))
        if token.kind == "call" or (token.kind == "name" and self._takes("open")):
            return self._call(token.text.removesuffix("("))
        if token.kind == "reference":
            return self._reference(token.text)
        if token.kind == "name":
            return self._named(token.text)
        if token.kind == "open":
            return self._bracketed()
        return self._array() if token.kind == "brace" else self._unreadable(token)

    def _unreadable(self, token: Token) -> Operand:
        """Pass what only a spreadsheet program can tell, such as columns of a table and what is in other files."""
        self._is_closed = False
        if token.kind == "table":
            self._names += filter(None, [token.text.partition("[")[0].upper()])
            if self._next_is("hole", "reference", "name", "call"):
                self._plain()
        return UNKNOWN

    def _bracketed(self) -> Operand:
        inside = self._expression()
        while self._takes("separator"):
            self._expression()
            inside = UNKNOWN
        self._close()
        return inside

    def _close(self) -> None:
        if not self._takes("close"):
            raise Unworkable("a bracket is not closed")

    def _array(self) -> Operand:
        rows: list[list[Scalar]] = [[]]
        while True:
            value = self._operand().value
            rows[-1].append(value if isinstance(value, bool | int | float | str | None) else "#N/A")
            if self._takes("separator", ";"):
                rows.append([])
            elif not self._takes("separator", ","):
                break
        if not self._takes("brace", "}"):
            raise Unworkable("an array is not closed")
        return Operand("value", rows)

    def _call(self, called: str) -> Operand:
        """Read the arguments of a function; note the call where it is ours."""
        our_id = call_id(called, self._namespace)
        name = _FOREIGN.sub("", called.lstrip("@").rpartition("!")[2].upper())
        # What the function of another add-in returns, nobody can tell.
        self._is_closed = self._is_closed and name not in VOLATILE and (our_id is not None or "." not in name)
        was_sure, is_naming = self._is_sure, name in NAMING
        self._naming += is_naming
        args: list[Operand] = []
        while not self._takes("close"):
            args.append(self._expression())
            self._is_sure = self._is_sure and name not in CHOOSING
            if not self._takes("separator"):
                self._close()
                break
            if self._next_is("close"):
                args.append(Operand("value", None))
        self._is_sure = was_sure
        self._naming -= is_naming
        if our_id is not None:
            self._calls.append(FoundCall(our_id, args, self._is_sure))
        if name in ("TRUE", "FALSE") and not args:
            return Operand("value", name == "TRUE")
        return UNKNOWN

    def _reference(self, text: str) -> Operand:
        area = area_of(text)
        if area is None:
            return self._named(text)
        self._areas.append(_referred(text, is_spill=self._takes("operator", "#")))
        return Operand("area", place=len(self._holes) + len(self._areas) - 1)

    def _named(self, text: str) -> Operand:
        sheet, _, name = text.upper().rpartition("!")
        if not sheet and name in ("TRUE", "FALSE"):
            return Operand("value", name == "TRUE")
        if sheet.startswith("'"):
            sheet = sheet[1:-1].replace("''", "'")
        self._names.append(f"{sheet}!{name}" if sheet else name)
        # A name of the formula's own is not read; nor is what a name spills.
        if self._takes("operator", "#") or self._naming or sheet or self._next_is("operator", text=":"):
            self._is_closed = False
            return UNKNOWN
        return Operand("name", name=name)


def _ordinals(tokens: Sequence[Token], kind: str) -> dict[int, int]:
    """The places of all tokens of a kind, and the number of each among them."""
    return {at: number for number, at in enumerate(at for at, token in enumerate(tokens) if token.kind == kind)}
