"""Shapes read for engines: the functions they use, which of our calls they make and when, what nobody can prove."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from addin.formulas.lexer import Token, is_readable, tokens
from addin.workbook.calculation.functions import our_function, our_prefixes, plain_name, spans_all
from addin.workbook.calculation.reading.lookups import nearest
from addin.workbook.calculation.reading.parsing import CallNode, Expression, GroupNode, Node, UnreadableError, parsed
from addin.workbook.calculation.reading.refusals import hides_references, why_refused
from addin.workbook.calculation.reading.rounds import (
    ACCUMULATING,
    EACH,
    as_one_text,
    key_of,
    keys_of_all,
    only_where,
)
from addin.workbook.calculation.reading.shapes import (
    Answer,
    CallSite,
    Fixed,
    Guard,
    Lookup,
    Names,
    Piece,
    Replacement,
    Shape,
    SpillOf,
)
from addin.workbook.calculation.reading.simple import comparison, is_simple

FIRST_YEAR, LONGEST_MONTH = 1900, 31
MAX_REPEATED = 2_000
"""Times; a cell holds 32,767 characters, and engines differ about what does not fit."""
MAX_WRITTEN = 200_000
"""Characters of one formula, on all its levels; names that stand for names could make billions."""

_LOCAL_PREFIX = "_xlpm."


class _Refusal(Exception):  # noqa: N818 - it names a state of the formula, not a failure of ours
    """The shape cannot be worked out, for this reason."""


def analysed(shape: str, names: Names, namespace: str) -> Shape:
    """What a shape does; the reason in `refused` where it cannot be worked out."""
    found, read = Shape(), tokens(shape)
    try:
        if not is_readable(read):
            raise UnreadableError
        if why := why_refused(read):
            raise _Refusal(why)
        tree = parsed(read)
        found.pieces = list(merged(_Reader(found, names, namespace, _locals(tree)).expression(tree)))
        found.is_call = found.calls_ours and spans_all([each for each in read if each.kind != "space"], namespace)
        found.is_simple = is_simple(tree)
        found.comparisons = list(comparison(tree)) if found.is_simple else []
    except _Refusal as refusal:
        found.refused = str(refusal)
    except UnreadableError:
        found.refused = "the formula cannot be read"
    if found.refused:  # nobody knows how far it was read; one call too many in it only has it reported
        found.hides_references = hides_references(read)
        named = (token.text.removesuffix("(") for token in read if token.kind in ("name", "call"))
        prefixes = our_prefixes(namespace)
        found.calls_ours = any(prefix in shape.upper() for prefix in prefixes) or any(map(names.calls_ours, named))
    return found


def _locals(tree: Expression) -> frozenset[str]:
    """The names that `LET` and `LAMBDA` introduce, in lower case."""
    return frozenset(_introduced(tree))


def _introduced(tree: Expression) -> Iterator[str]:
    for node in tree:
        if isinstance(node, Token):
            continue
        parts = node.arguments if isinstance(node, CallNode) else node.parts
        for part in parts:
            yield from _introduced(part)
        if isinstance(node, CallNode) and (name := plain_name(node.written)) in ("LET", "LAMBDA"):
            for place, part in enumerate(parts[:-1]):
                match part:
                    case [Token(kind="name", text=text)] if name == "LAMBDA" or place % 2 == 0:
                        yield _local(text)


def _local(text: str) -> str:
    return text.casefold().removeprefix(_LOCAL_PREFIX)


@dataclass(slots=True)
class _Around:
    """What stands around a place: the LETs and LAMBDAs whose names are known there, outermost first, and conditions."""

    wrappers: tuple[tuple[tuple[Piece, ...], tuple[Piece, ...]], ...] = ()
    """What has to stand before and behind an expression, so that it can be worked out alone."""
    guards: tuple[Guard, ...] = ()
    handed: frozenset[str] = frozenset()
    """The names whose values a LAMBDA gets."""
    is_each: bool = False
    """Whether a LAMBDA that stands here is handed values by the function around it."""
    is_loose: bool = False
    """Whether this is inside of a LAMBDA that nobody knows the values of."""

    def alone(self, pieces: Sequence[Piece]) -> tuple[Piece, ...]:
        """An expression with everything around it that gives names a value."""
        found = tuple(pieces)
        for before, behind in reversed(self.wrappers):
            found = (*before, *found, *behind)
        return found


@dataclass(slots=True)
class _Reader:
    """Reads the tree of one shape."""

    shape: Shape
    names: Names
    namespace: str
    known: frozenset[str]
    """The names that the formula itself gives, in lower case."""
    _around: _Around = field(default_factory=_Around)
    _holes: int = 0
    _made: int = 0

    def expression(self, tree: Expression) -> list[Piece]:
        """The pieces of an expression."""
        pieces: list[Piece] = []
        for place, node in enumerate(tree):
            pieces += self._node(node, tree, place)
        self._made += sum(len(piece) if isinstance(piece, str) else 1 for piece in pieces)
        if self._made > MAX_WRITTEN:
            raise _Refusal("it grows too long to be worked out")
        return pieces

    def _node(self, node: Node, tree: Expression, place: int) -> list[Piece]:
        if isinstance(node, CallNode):
            follows = tree[place + 1] if place + 1 < len(tree) else None
            return self._call(node, is_called=isinstance(follows, GroupNode))
        if isinstance(node, GroupNode):
            return ["(", *_joined(self.expression(part) for part in node.parts), ")"]
        match node.kind:
            case "hole":
                self._holes += 1
                return [self._holes - 1]
            case "operator":
                return self._operator(node.text, is_first=place == 0)
            case "table":
                return self._replaced(self.names.table(node.text))
            case "name" | "reference":  # such as the second corner in `INDEX(…):B2`, which no shape leaves out
                return self._name(node.text)
            case _:
                return [node.text]

    def _operator(self, text: str, *, is_first: bool) -> list[Piece]:
        if text in "+-" and not is_first:
            self.shape.joins_or_subtracts = True
        if text == ":":
            self.shape.functions.add("OFFSET")  # it finds its cells while it calculates
        if text == "@":
            raise _Refusal("it takes one cell of a range (@)")
        if text == "#":
            raise _Refusal("it refers to a spill in a form that is not read")
        return [text]

    def _name(self, text: str) -> list[Piece]:
        if text.upper() in ("TRUE", "FALSE") or _local(text) in self.known:
            return [text if text.upper() in ("TRUE", "FALSE") else _plain_local(text)]
        return self._replaced(self.names.name(text))

    def _replaced(self, found: Replacement) -> list[Piece]:
        if found.refused:
            raise _Refusal(found.refused)
        if found.area is not None:
            (self.shape.rows if found.this_row else self.shape.areas).append(found.area)
        if found.inner is None:
            return list(found.pieces)
        self.shape.absorb(found.inner)
        moved = len(self.shape.sites)
        guards = tuple(each for each in self._around.guards if not _mentions(each.pieces, self._around.handed))
        self.shape.sites += [_moved_site(site, moved, guards) for site in found.inner.sites]
        self.shape.lookups += [
            Lookup(_moved(each.wanted, moved), _moved(each.among, moved), each.falls) for each in found.inner.lookups
        ]
        return list(_moved(found.pieces, moved))

    def _call(self, node: CallNode, *, is_called: bool) -> list[Piece]:
        ours, name = our_function(node.written, self.namespace), plain_name(node.written)
        if ours is not None:
            return self._our_call(ours, node)
        if name == "ANCHORARRAY":
            return self._spill(node)
        if why := self._why_refused(node, name, is_called=is_called):
            raise _Refusal(why)
        if name.casefold() in self.known:
            return [f"{_plain_local(node.written)}(", *_joined(map(self.expression, node.arguments)), ")"]
        self.shape.functions.add(name)
        self.shape.uses.add((name, ",".join(map(kind_of, node.arguments))))
        if why := _odd_constants(name, node):
            raise _Refusal(why)
        arguments = self._arguments(name, node)
        if name == "HYPERLINK" and arguments:
            return ["(", *arguments[-1], ")"]  # what it shows
        if looked := nearest(name, arguments):
            wanted, among, falls = looked
            self.shape.lookups.append(Lookup(self._around.alone(wanted), self._around.alone(among), falls))
        return [f"{name}(", *_joined(arguments), ")"]

    def _why_refused(self, node: CallNode, name: str, *, is_called: bool) -> str:
        """Why a function is not worked out, whatever its arguments; empty where it may be."""
        if name == "SINGLE" or node.written.startswith("@"):
            return "it takes one cell of a range (@)"
        if "!" in node.written:
            return f"{node.written[:60]} is a function of another file"
        if is_called and name != "LAMBDA":
            return "it calls a LAMBDA where it is written"
        return "it calls a LAMBDA by a name" if self.names.calls_ours(node.written) else ""

    def _arguments(self, name: str, node: CallNode) -> list[list[Piece]]:
        """The arguments, each read inside of what surrounds it."""
        outside, found = self._around, list[list[Piece]]()
        for place, argument in enumerate(node.arguments):
            self._around = self._inside(outside, name, node, place, found)
            first = len(self.shape.sites)
            found.append(self.expression(argument))
            if outside.handed:
                self._keep_around(first, name, found[:-1], place, len(node.arguments))
            if self._around.is_each:
                self._hand(first, name, node, found)
        self._around = outside
        return found

    def _inside(self, around: _Around, name: str, node: CallNode, place: int, before: list[list[Piece]]) -> _Around:
        """What stands around an argument, when those `before` it are read."""
        is_last = place == len(node.arguments) - 1
        if name == "LET" and place:
            bound = list(_joined(before[: place - place % 2]))
            around = replace(around, wrappers=(*around.wrappers, (("LET(", *bound, ","), (")",)))) if bound else around
        elif name == "LAMBDA" and is_last:
            handed = frozenset(_local(str(part[0])) for part in before if part)
            is_loose = around.is_loose or not around.is_each
            return replace(around, handed=around.handed | handed, is_each=False, is_loose=is_loose)
        elif (guard := _guard(name, before, place, len(node.arguments))) is not None:
            around = replace(around, guards=(*around.guards, Guard(around.alone(guard[0]), guard[1])))
        return replace(around, is_each=name in EACH and is_last and _parameters(node) is not None)

    def _keep_around(self, first: int, name: str, before: list[list[Piece]], place: int, count: int) -> None:
        """Let the calls since the `first` that a LAMBDA decides on know the names and conditions around them."""
        bound = list(_joined(before[: place - place % 2])) if name == "LET" else []
        guard = _guard(name, before, place, count)
        for number, site in self._handed_since(first):
            if bound:
                self.shape.sites[number] = replace(site, rounds=("LET(", *bound, ",", *site.rounds, ")"))
            elif guard is not None:
                self.shape.sites[number] = replace(site, rounds=tuple(only_where(*guard, site.rounds)))

    def _hand(self, first: int, name: str, node: CallNode, arguments: list[list[Piece]]) -> None:
        """Let the calls in a function's LAMBDA know what it hands to it."""
        parameters = _parameters(node) or []
        outside = replace(self._around, is_each=False)
        for number, site in self._handed_since(first):
            accumulates = name in ACCUMULATING and _mentions(site.rounds, frozenset(parameters[:1]))
            if name in ACCUMULATING and (len(arguments), len(parameters)) != (3, 2):
                raise _Refusal("it hands a LAMBDA something else than it takes")
            if accumulates and not arguments[0]:
                raise _Refusal("it calls a function of ours with what its LAMBDA came to, and names no first value")
            keys = keys_of_all(name, arguments, parameters, site.rounds, accumulates=accumulates)
            keys = as_one_text(keys) if outside.handed else list(outside.alone(keys))
            self.shape.sites[number] = replace(site, rounds=tuple(keys), accumulates=site.accumulates or accumulates)

    def _handed_since(self, first: int) -> list[tuple[int, CallSite]]:
        """The calls from the `first` on that depend on what a LAMBDA is handed."""
        return [(number, site) for number, site in enumerate(self.shape.sites) if number >= first and site.rounds]

    def _our_call(self, ours: str, node: CallNode) -> list[Piece]:
        self.shape.calls_ours = True
        arguments = [self.expression(argument) for argument in node.arguments]
        around = self._around
        guards = tuple(guard for guard in around.guards if not _mentions(guard.pieces, around.handed))
        alone = tuple(around.alone(part) if part else () for part in arguments)
        is_handed = len(guards) < len(around.guards) or any(_mentions(part, around.handed) for part in alone)
        if is_handed and around.is_loose:
            raise _Refusal("it calls a function of ours with what only a LAMBDA knows")
        if is_handed:
            key = key_of(arguments)
            self.shape.sites.append(CallSite(ours, (), guards, None, rounds=tuple(key)))
            return [Answer(len(self.shape.sites) - 1), "(", *key, ")"]
        self.shape.sites.append(CallSite(ours, alone, guards, _constants(node.arguments)))
        return [Answer(len(self.shape.sites) - 1)]

    def _spill(self, node: CallNode) -> list[Piece]:
        match node.arguments:
            case [[Token(kind="hole")]]:
                self._holes += 1
                return [SpillOf(self._holes - 1)]
            case _:
                raise _Refusal("it refers to a spill in a form that is not read")


def _parameters(node: CallNode) -> list[str] | None:
    """The names of what the LAMBDA behind a function's other arguments takes; None where there is none."""
    match node.arguments[-1:]:
        case [[CallNode(written, [*names, _])]] if plain_name(written) == "LAMBDA":
            return [_plain_local(each[0].text) for each in names if each and isinstance(each[0], Token)]
        case _:
            return None


def _odd_constants(name: str, node: CallNode) -> str:
    """Why what is written into a call makes its result doubtful; empty where it does not."""
    if name == "REPT" and _is_long(node):
        return "it repeats a text that may be longer than a cell can hold"
    if name == "DATE" and _is_first_year(node):
        return "programs disagree about days counted from 1900"
    return ""


def _is_first_year(node: CallNode) -> bool:
    """Whether days are counted on from 1900, where engines do not agree about the leap year that Excel makes of it."""
    match node.arguments:
        case [[Token(kind="number", text=year)], *others] if float(year) == FIRST_YEAR:
            days = [part[0].text for part in others if part and isinstance(part[0], Token) and part[0].kind == "number"]
            return any(float(each) > LONGEST_MONTH for each in days)
        case _:
            return False


def _is_long(node: CallNode) -> bool:
    """Whether a text is repeated so often that joined to another it may not fit into a cell."""
    match node.arguments[1:]:
        case [[Token(kind="number", text=text)]]:
            return float(text) > MAX_REPEATED
        case _:
            return False


def _plain_local(text: str) -> str:
    return text[len(_LOCAL_PREFIX) :] if text.casefold().startswith(_LOCAL_PREFIX) else text


def _mentions(pieces: Sequence[Piece], names: frozenset[str]) -> bool:
    """Whether an expression uses one of these names."""
    texts = (piece for piece in pieces if isinstance(piece, str) and not piece.startswith('"'))
    words = (word for piece in texts for word in re.findall(r"[^\W\d][\w.\\?]*", piece))
    return any(word.casefold() in names for word in words)


def _joined(parts: Any) -> Iterator[Piece]:
    """Pieces of several expressions with commas between them."""
    for number, part in enumerate(parts):
        if number:
            yield ","
        yield from part


def _guard(name: str, before: Sequence[list[Piece]], place: int, count: int) -> tuple[tuple[Piece, ...], int] | None:
    """A formula, and the number that it comes to where this argument is worked out; None where it always is."""
    if not place:
        return None
    first = before[0]
    match name:
        case "IF":
            return ("IF(", *first, ",1,2)"), place
        case "IFS":
            asked = place - place % 2
            earlier = [piece for number in range(0, asked, 2) for piece in (*before[number], ",0,")]
            own = [*before[asked], ",1,"] if place % 2 else []
            return ("IFS(", *earlier, *own, "TRUE,", "0)" if place % 2 else "1)"), 1
        case "CHOOSE":
            return ("CHOOSE(", *first, *(f",{number}" for number in range(1, count)), ")"), place
        case "SWITCH":
            return _switched(before, place)
        case "IFERROR" | "IFNA":
            check = "ISERROR" if name == "IFERROR" else "ISNA"
            return (f"IF({check}(", *first, "),1,2)"), 1
        case _:
            return None


def _switched(before: Sequence[list[Piece]], place: int) -> tuple[tuple[Piece, ...], int] | None:
    """What `SWITCH` compares until it comes to this argument: results stand behind what they belong to."""
    earlier = [piece for number in range((place - 1) // 2) for piece in (",", *before[1 + 2 * number], ",0")]
    if place % 2 == 0:  # a result, behind what it belongs to
        return ("SWITCH(", *before[0], *earlier, ",", *before[place - 1], ",1,0)"), 1
    # Another value to compare with, or the default: asked for when none before was equal.
    return (("SWITCH(", *before[0], *earlier, ",1)"), 1) if earlier else None


def _constants(arguments: Sequence[Expression]) -> tuple[Any, ...] | None:
    """The values of arguments that are written into a formula, None for one left out; None if one is something else."""
    found: list[Any] = []
    for argument in arguments:
        match argument:
            case []:
                found.append(None)
            case [Token(kind="text", text=text)]:
                found.append(text[1:-1].replace('""', '"'))
            case [Token(kind="name", text=text)] if text.upper() in ("TRUE", "FALSE"):
                found.append(text.upper() == "TRUE")
            case [Token(kind="number", text=text)]:
                found.append(float(text))
            case [Token(kind="operator", text="-"), Token(kind="number", text=text)]:
                found.append(-float(text))
            case _:
                return None
    return tuple(found)


def kind_of(argument: Expression) -> str:
    """The kind of an argument, by which the results of functions were compared with Excel's."""
    match argument:
        case []:
            return "empty"
        case [Token(kind="hole" | "table")]:
            return "reference"
        case [Token(kind="name", text=text)]:
            return "logical" if text.upper() in ("TRUE", "FALSE") else "reference"
        case [Token(kind="text", text=text)]:
            return kind_of_text(text[1:-1])
        case [Token(kind="number" | "error" | "array" as kind)]:
            return kind
        case [Token(kind="operator"), Token(kind="number")]:
            return "number"
        case [CallNode(written)]:
            return "reference" if plain_name(written) == "ANCHORARRAY" else "call"
        case _:
            return "expression"


def kind_of_text(text: str) -> str:
    """The kind of a text that is written into a formula: functions read some texts as something else.

    >>> kind_of_text("true"), kind_of_text("a*"), kind_of_text("1,5"), kind_of_text("apple")
    ('logical text', 'pattern', 'number text', 'text')
    """
    if text.upper() in ("TRUE", "FALSE"):
        return "logical text"
    if set(text) & set("*?~"):
        return "pattern"
    if any(each.isdigit() for each in text):
        return "dated text" if set(text) & set("/-:") else "number text"
    return "text"


def _moved(pieces: Sequence[Piece], by: int) -> tuple[Piece, ...]:
    return tuple(Answer(piece.site + by) if isinstance(piece, Answer) else piece for piece in pieces)


def _moved_site(site: CallSite, by: int, guards: tuple[Guard, ...]) -> CallSite:
    own = tuple(Guard(_moved(guard.pieces, by), guard.wanted) for guard in site.guards)
    arguments = tuple(_moved(each, by) for each in site.arguments)
    return replace(site, arguments=arguments, rounds=_moved(site.rounds, by), guards=(*guards, *own))


def merged(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """The pieces with neighbouring texts joined."""
    text = ""
    for piece in pieces:
        if isinstance(piece, str | Fixed):
            text += piece if isinstance(piece, str) else piece.text
            continue
        if text:
            yield text
        text = ""
        yield piece
    if text:
        yield text
