"""Shapes written anew for the engine.

The engine differs from spreadsheets in a few places, and does not tell which branch it took. So numbers that `&` joins
go through DSTEXT, numbers that are compared through DSSNAP, exponents through DSPOWER, conditions through DSCHOSEN or
DSFAILED, our functions through DSCALL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from addin.workbook.calculation.functions import our_function, our_prefixes, plain_name, spans_all
from addin.workbook.calculation.lexer import Token, tokens
from addin.workbook.calculation.pieces import (
    MAX_PIECES,
    array,
    compared,
    constants,
    exponent,
    hides_references,
    merged,
    takes_nearest,
    why_refused,
)
from addin.workbook.calculation.shapes import (
    NUMBER_OF_CELL,
    OMITTED,
    TABLES,
    TAKES_ARRAYS,
    TAKES_RANGES,
    CallSite,
    Fixed,
    Names,
    Piece,
    Replacement,
    Shape,
    SpillOf,
    takes_range,
)

_CHOOSING = {"IF": "first", "CHOOSE": "first", "SWITCH": "first", "IFS": "even"}
_ERRORS = {"ISERROR": "any", "ISERR": "err", "ISNA": "na"}
_CAUGHT = {"IFERROR": "any", "IFNA": "na"}
_LAZY = frozenset({*_CHOOSING, *_CAUGHT})  # they work out their later arguments only if they need them
_LOCAL_PREFIX = "_xlpm."


class _Refusal(Exception):  # noqa: N818 - it names a state of the formula, not a failure of ours
    """The shape cannot be worked out, for this reason."""


def analysed(shape: str, names: Names, namespace: str) -> Shape:
    """What a shape does; the reason in `refused` where it cannot be worked out."""
    found, read = Shape(), tokens(shape)
    try:
        if read and (why := why_refused(read)):
            raise _Refusal(why)
        if read:
            written = _Writer(found, names, namespace).written([token for token in read if token.kind != "space"])
            found.pieces = list(merged(written))
        else:
            found.refused = "the formula cannot be read"
    except _Refusal as refusal:
        found.refused = str(refusal)
    except (IndexError, ValueError, RecursionError):
        found.refused = "the formula cannot be read"
    if found.refused:  # nobody knows how far it was read; one call too many in it only has it reported
        found.hides_references = hides_references(read)
        named = (token.text.removesuffix("(") for token in read or () if token.kind in ("name", "call"))
        prefixes = our_prefixes(namespace)
        found.calls_ours = any(prefix in shape.upper() for prefix in prefixes) or any(map(names.calls_ours, named))
    return found


@dataclass(slots=True)
class _Writer:
    """Writes the tokens of one shape for the engine."""

    shape: Shape
    names: Names
    namespace: str
    _holes: int = 0
    _sites: int = 0
    _made: int = 0
    _arrays: int = 0
    """How many functions around this place work on whole ranges."""
    _branches: int = 0
    """How many functions around this place may leave it out."""
    _locals: set[str] = field(default_factory=set)

    def written(self, read: Sequence[Token]) -> list[Piece]:
        """The pieces of a whole formula."""
        self._locals = {
            token.text.removeprefix(_LOCAL_PREFIX).casefold() for token in read if token.text.startswith(_LOCAL_PREFIX)
        }
        pieces, end = self._expression(read, 0)
        if end != len(read):
            raise _Refusal("the formula cannot be read")
        self.shape.is_call = self.shape.calls_ours and spans_all(read, self.namespace)
        return pieces

    def _expression(self, read: Sequence[Token], at: int) -> tuple[list[Piece], int]:
        """Comparisons of joined texts, up to what closes or separates them."""
        left, at = self._joined(read, at)
        while at < len(read) and read[at].kind == "compare":
            operator = read[at].text
            right, at = self._joined(read, at + 1)
            left = compared(left, operator, right)
        return left, at

    def _joined(self, read: Sequence[Token], at: int) -> tuple[list[Piece], int]:
        parts: list[list[Piece]] = []
        while True:
            pieces, at = self._operand(read, at)
            parts.append(pieces)
            if at >= len(read) or read[at].kind != "join":
                break
            at += 1
        if len(parts) == 1:
            return parts[0], at
        joined: list[Piece] = []
        for number, part in enumerate(parts):
            if number:
                joined.append("&")
            is_text = len(part) == 1 and isinstance(part[0], str) and part[0].startswith('"')
            joined += part if is_text else ["DSTEXT(", NUMBER_OF_CELL, ",", *part, ")"]
        return joined, at

    def _operand(self, read: Sequence[Token], at: int) -> tuple[list[Piece], int]:
        """Everything that binds tighter than `&`: arithmetic, calls, brackets, references."""
        pieces: list[Piece] = []
        begin, is_exponent = at, False
        while at < len(read) and read[at].kind not in ("compare", "join", "close", "separator"):
            token = read[at]
            match token.kind:
                case "call":
                    written, at = self._call(read, at)
                case "open":
                    written, at = self._group(read, at)
                case "brace":
                    written, at = array(read, at)
                    self.shape.may_be_table = True
                case _:
                    written, at = self._single(token, is_first=at == begin), at + 1
            pieces += exponent(written) if is_exponent and token.kind != "operator" else written
            self._made += len(written)
            if self._made > MAX_PIECES:
                raise _Refusal("it grows too long to be worked out")
            is_exponent = token.text == "^" or (is_exponent and token.text in ("+", "-"))
        if not pieces:
            raise _Refusal("the formula cannot be read")
        return pieces, at

    def _group(self, read: Sequence[Token], at: int) -> tuple[list[Piece], int]:
        inner, at = self._expression(read, at + 1)
        if read[at].kind != "close":
            raise _Refusal("it joins several areas")
        return ["(", *inner, ")"], at + 1

    def _single(self, token: Token, *, is_first: bool) -> list[Piece]:
        match token.kind:
            case "hole":
                self._holes += 1
                if not self._arrays:
                    self.shape.intersected.append(self._holes - 1)
                return [self._holes - 1]
            case "operator":
                return self._operator(token.text, is_first=is_first)
            case "table":
                return self._replaced(self.names.table(token.text))
            case "name":
                return self._name(token.text)
            case _:
                return [token.text]

    def _operator(self, text: str, *, is_first: bool) -> list[Piece]:
        if text in "+-" and not is_first:
            self.shape.joins_or_subtracts = True
        if text == ":":
            raise _Refusal("it builds a range while it calculates")
        if text == "@":
            raise _Refusal("it takes one cell of a range (@)")
        if text == "#":
            raise _Refusal("it refers to a spill in a form that is not read")
        return [text]

    def _name(self, text: str) -> list[Piece]:
        plain = text.removeprefix(_LOCAL_PREFIX)
        if text.upper() in ("TRUE", "FALSE") or plain.casefold() in self._locals:
            return [plain]
        return self._replaced(self.names.name(text))

    def _replaced(self, found: Replacement) -> list[Piece]:
        if found.refused:
            raise _Refusal(found.refused)
        if found.inner is not None:
            self.shape.absorb(found.inner)
        if found.area is not None and found.this_row:
            self.shape.rows.append(found.area)
        elif found.area is not None:
            self.shape.areas.append(found.area)
            if not found.area.is_cell and not self._arrays:
                self.shape.intersected += [piece for piece in found.pieces if isinstance(piece, Fixed)]
        return list(found.pieces)

    def _call(self, read: Sequence[Token], at: int) -> tuple[list[Piece], int]:
        written = read[at].text[:-1]
        ours = our_function(written, self.namespace)
        name = plain_name(written)
        if written.startswith("@") and not ours:
            raise _Refusal("it takes one cell of a range (@)")
        if name == "ANCHORARRAY":
            return self._spill(read, at)
        self._arrays += name in TAKES_ARRAYS
        calls_before = len(self.shape.sites)
        arguments, at = self._arguments(read, at + 1, is_lazy=name in _LAZY)
        self._arrays -= name in TAKES_ARRAYS
        if ours or name in TAKES_RANGES:
            self._takes_ranges("" if ours else name, arguments)
        if at < len(read) and read[at].kind == "open":
            raise _Refusal("it calls a LAMBDA where it is written")
        if ours:
            return self._our_call(ours, arguments, calls_inside=len(self.shape.sites) > calls_before), at
        if name.casefold() in self._locals or self.names.calls_ours(written):
            raise _Refusal("it calls a LAMBDA by a name")
        self.shape.functions.add(name)
        if takes_nearest(name, arguments):
            # Where the values are not sorted, what is found depends on the program.
            self.shape.functions.add(f"{name} for the nearest value")
        self.shape.may_be_table = self.shape.may_be_table or name in TABLES
        return self._function(name, arguments), at

    def _spill(self, read: Sequence[Token], at: int) -> tuple[list[Piece], int]:
        if len(read) < at + 3 or (read[at + 1].kind, read[at + 2].kind) != ("hole", "close"):
            raise _Refusal("it refers to a spill in a form that is not read")
        self._holes += 1
        self.shape.may_be_table = True
        return [SpillOf(self._holes - 1)], at + 3

    def _arguments(self, read: Sequence[Token], at: int, *, is_lazy: bool = False) -> tuple[list[list[Piece]], int]:
        """The arguments up to the closing bracket, an omitted one empty; and the place behind it."""
        found: list[list[Piece]] = [[]]
        while read[at].kind != "close":
            if read[at].kind == "separator":
                found.append([])
                at += 1
            else:
                is_branch = is_lazy and len(found) > 1
                self._branches += is_branch
                found[-1], at = self._expression(read, at)
                self._branches -= is_branch
        return ([] if found == [[]] else found), at + 1

    def _takes_ranges(self, name: str, arguments: Sequence[list[Piece]]) -> None:
        """Let the function's arguments be ranges, as far as they are nothing but a reference."""
        for place, argument in enumerate(arguments):
            reference = argument[0] if len(argument) == 1 and takes_range(name, place) else None
            if isinstance(reference, int | Fixed) and reference in self.shape.intersected:
                self.shape.intersected.remove(reference)

    def _our_call(self, name: str, arguments: list[list[Piece]], *, calls_inside: bool) -> list[Piece]:
        self.shape.calls_ours = True
        self.shape.sites.append(CallSite(name, constants(arguments), self._branches > 0, calls_inside))
        self.shape.may_be_table = True
        pieces: list[Piece] = ["DSCALL(", NUMBER_OF_CELL, f',"{name}"']
        for argument in arguments:
            pieces += [",", *(argument or [OMITTED])]
        return [*pieces, ")"]

    def _function(self, name: str, arguments: list[list[Piece]]) -> list[Piece]:
        if name == "HYPERLINK" and arguments:
            return ["(", *arguments[-1], ")"]  # what it shows
        if (mode := _CAUGHT.get(name)) and len(arguments) == 2:
            if not arguments[1]:
                raise _Refusal(f"the second argument of {name} is empty")
            failed = self._failed(mode, arguments[0], self._site())
            return ["IF(", *failed, ",", *arguments[1], ",", *arguments[0], ")"]
        if (mode := _ERRORS.get(name)) and len(arguments) == 1:
            return self._failed(mode, arguments[0], -1)
        if how := _CHOOSING.get(name):
            for number in range(0, len(arguments), 2) if how == "even" else (0,):
                if number < len(arguments):
                    arguments[number] = self._chosen(arguments[number])
        if name == "POWER" and len(arguments) == 2:
            arguments[1] = exponent(arguments[1])
        pieces: list[Piece] = ["DSDATE(", NUMBER_OF_CELL, ",DATE("] if name == "DATE" else [f"{name}("]
        for number, argument in enumerate(arguments):
            pieces += [",", *argument] if number else argument
        return [*pieces, "))" if name == "DATE" else ")"]

    def _chosen(self, condition: list[Piece]) -> list[Piece]:
        return ["DSCHOSEN(", NUMBER_OF_CELL, f",{self._site()},", *condition, ")"] if condition else condition

    def _failed(self, mode: str, value: list[Piece], site: int) -> list[Piece]:
        return ["DSFAILED(", NUMBER_OF_CELL, f',{site},"{mode}",', *value, ")"]

    def _site(self) -> int:
        self._sites += 1
        return self._sites - 1
