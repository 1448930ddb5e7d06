"""Any formula as a page wants it: the calls of ours inside it, what it refers to, and what its arguments are."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from addin.formulas.areas import area_of
from addin.formulas.calls import MAX_PERCENTS, call_id, readable_tokens
from addin.formulas.lexer import Token, Unworkable
from addin.protocol.messages import FoundCall, Operand, ReadFormula, ReferredArea, Scalar

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

UNKNOWN = Operand("unknown")
NOTHING = ReadFormula([], [], [], closed=False, whole=UNKNOWN)
"""What is known of a formula that cannot be read: it may call anything."""

END = Token("end", "")

_CONSTANTS: dict[str, Callable[[str], Scalar]] = {
    "text": lambda text: text[1:-1].replace('""', '"'),
    "number": float,
    "error": str.upper,
}
_FIXED = re.compile(r"(?:\$[A-Za-z]+)?(?:\$[0-9]+)?")
_FOREIGN = re.compile(r"^(?:_XLL\.|_XLFN\.|_XLWS\.)+")


def read_formula(formula: str, namespace: str = "DS") -> ReadFormula:
    """Read a formula, with or without its `=`.

    >>> [call.id for call in read_formula('=IF(DS.SIGNAL("a")>1,DS.SIGNAL("b"),0)').calls]
    ['SIGNAL', 'SIGNAL']
    """
    try:
        return _Reader(readable_tokens(formula), namespace).read()
    except Unworkable:
        return NOTHING


class _Reader:
    """One formula while it is read, from its first token to its last."""

    def __init__(self, tokens: Sequence[Token], namespace: str) -> None:
        self._tokens, self._namespace = [*tokens, END], namespace
        self._at = self._depth = self._naming = 0
        self._is_sure = self._is_closed = True
        self._calls: list[FoundCall] = []
        self._areas: list[ReferredArea] = []
        self._names: list[str] = []

    def read(self) -> ReadFormula:
        whole = self._expression()
        is_closed = self._is_closed and self._tokens[self._at] is END
        return ReadFormula(self._calls, self._areas, self._names, is_closed, whole)

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
        self._at += 1
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
            if self._next_is("reference", "name", "call"):
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
        is_spill = self._takes("operator", "#")
        corners = text.rpartition("!")[2].split(":")
        top, left, bottom, right = (number - 1 for number in area[:4])
        is_fixed = all(map(_FIXED.fullmatch, corners))
        found = ReferredArea(area.sheet, top, bottom, left, right, is_spill, is_fixed)
        self._areas.append(found)
        return Operand("area", area=found)

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
