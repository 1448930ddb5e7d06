"""Shapes read for engines: the functions they use, which of our calls they make and when, what nobody can prove."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from addin.formulas.lexer import Token, is_readable, tokens
from addin.workbook.calculation.functions import measured, our_function, our_prefixes, plain_name, spans_all
from addin.workbook.calculation.reading.branches import compares_by_size, condition_of
from addin.workbook.calculation.reading.cautions import (
    CELLS,
    ONE_OF_ONE,
    WHOLE_AREAS,
    areas_in,
    gives_cells,
    single_values,
)
from addin.workbook.calculation.reading.constants import constants_of, kind_of, odd_constants
from addin.workbook.calculation.reading.given_names import (
    introduced_names,
    lambda_parameters,
    local_name,
    names_of_values,
    plain_local_name,
)
from addin.workbook.calculation.reading.lookups import nearest
from addin.workbook.calculation.reading.noise import (
    DIFFERENCES,
    cut_off,
    difference,
    in_15_digits,
    is_noisy,
    nudged_call,
    tested,
    with_difference_as_call,
    with_powers_as_calls,
    with_tested_differences,
)
from addin.workbook.calculation.reading.oddities import OTHER_SIZE, UNKNOWN_FUNCTION, conditions_of, is_same_size
from addin.workbook.calculation.reading.parsing import CallNode, Expression, GroupNode, Node, UnreadableError, parsed
from addin.workbook.calculation.reading.pieces import joined, mentions, merged, moved, moved_site, on_one_sheet
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
    Guard,
    Names,
    Piece,
    Replacement,
    Shape,
    SizedLike,
    SpillOf,
)
from addin.workbook.calculation.reading.simple import comparison, is_simple

MAX_WRITTEN = 200_000
"""Characters of one formula, on all its levels; names that stand for names could make billions."""


class _Refusal(Exception):  # noqa: N818 - it names a state of the formula, not a failure of ours
    """The shape cannot be worked out, for this reason."""


def analysed(shape: str, names: Names, namespace: str) -> Shape:
    """Return what a shape does; the reason in `refused` where it cannot be worked out."""
    found, read = Shape(), tokens(shape)
    try:
        if not is_readable(read):
            raise UnreadableError
        if why := why_refused(read):
            raise _Refusal(why)
        tree = parsed(read)
        introduced = frozenset(introduced_names(tree))
        if both := next(filter(names.is_defined, sorted(introduced)), None):
            raise _Refusal(f"the name {both} stands for something else in the formula than in the book")
        reader = _Reader(found, names, namespace, introduced, names_of_values(tree, names))
        found.gives_cells = gives_cells(tree, reader.is_cells)
        found.pieces = list(merged(reader.expression(tree)))
        if reader.is_noisy:
            again = replace(reader, shape=Shape(), nudges=True)
            found.nudged = list(merged(again.expression(tree)))
        found.is_call = found.calls_ours and spans_all([each for each in read if each.kind != "space"], namespace)
        found.gives_several = not found.functions <= ONE_OF_ONE
        found.is_simple = is_simple(tree) and not reader.is_noisy
        found.comparisons = list(comparison(tree)) if found.is_simple else []
    except _Refusal as refusal:
        found.refused = str(refusal)
    except UnreadableError:
        found.refused = "the formula cannot be read"
    if found.refused:  # nobody knows how far it was read; one call too many in it only has it reported
        named = [token.text.removesuffix("(") for token in read if token.kind in ("name", "call")]
        found.hides_references = hides_references(read) or any(map(names.lambda_of, named))
        prefixes = our_prefixes(namespace)
        found.calls_ours = any(prefix in shape.upper() for prefix in prefixes) or any(map(names.calls_ours, named))
    return found


@dataclass(slots=True)
class _Around:
    """The surroundings of a place: LETs and LAMBDAs whose names are known there, outermost first, and conditions."""

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
    values: frozenset[str]
    """Those of them that stand for anything but cells."""
    nudges: bool = False
    """Whether steps that programs round differently get a mark."""
    is_noisy: bool = field(default=False, init=False)
    """Whether there is such a step."""
    _around: _Around = field(default_factory=_Around, init=False)
    _value_names: set[str] = field(default_factory=set, init=False)
    """The defined names read so far that stand for values."""
    _holes: int = field(default=0, init=False)
    _made: int = field(default=0, init=False)

    def expression(self, tree: Expression) -> list[Piece]:
        """The pieces of an expression."""
        parts = list[list[Piece]]()
        tree = with_tested_differences(tree)
        tree = with_powers_as_calls(tree) if self.nudges else tree
        has_order = compares_by_size(tree)
        for place, node in enumerate(tree):
            if has_order and isinstance(node, Token) and node.kind in ("hole", "text"):
                self.shape.ordered.append(self._holes if node.kind == "hole" else node.text)
            parts.append(self._node(node, tree, place))
        pieces = [piece for part in parts for piece in part]
        self.shape.required += [(self._around.alone(same), why) for same, why in on_one_sheet(tree, parts)]
        self._made += sum(len(piece) if isinstance(piece, str) else 1 for piece in pieces)
        if self._made > MAX_WRITTEN:
            raise _Refusal("it grows too long to be worked out")
        return pieces

    def _node(self, node: Node, tree: Expression, place: int) -> list[Piece]:
        if isinstance(node, CallNode):
            if node.written in DIFFERENCES:
                return self._difference(DIFFERENCES[node.written], *node.arguments)
            follows = tree[place + 1] if place + 1 < len(tree) else None
            return self._call(node, is_called=isinstance(follows, GroupNode))
        if isinstance(node, GroupNode):
            return ["(", *joined(self.expression(part) for part in node.parts), ")"]
        match node.kind:
            case "hole":
                self._holes += 1
                return [self._holes - 1]
            case "join":
                self.shape.joins_texts = True
                return [node.text]
            case "operator":
                return self._operator(node.text, is_first=place == 0)
            case "table":
                return self._replaced(self.names.table(node.text))
            case "name" | "reference":  # such as the second corner in `INDEX(…):B2`, which no shape leaves out
                return self._name(node.text)
            case _:
                return [node.text]

    def _difference(self, operator: str, one: Expression, other: Expression) -> list[Piece]:
        """A difference that may be nothing but a residue, which decides on the result."""
        self.is_noisy = self.shape.joins_or_subtracts = True
        first, second = self.expression(one), self.expression(other)
        return difference(operator, first, second) if self.nudges else [*first, operator, *second]

    def _operator(self, text: str, *, is_first: bool) -> list[Piece]:
        if text in "+-" and not is_first:
            self.shape.joins_or_subtracts = True
        self.is_noisy = self.is_noisy or text == "^"
        if text == ":":
            self.shape.functions.add("OFFSET")  # it finds its cells while it calculates
        if text == "@":
            raise _Refusal("it takes one cell of a range (@)")
        if text == "#":
            raise _Refusal("it refers to a spill in a form that is not read")
        return [text]

    def _name(self, text: str) -> list[Piece]:
        if text.upper() in ("TRUE", "FALSE") or local_name(text) in self.known:
            return [text if text.upper() in ("TRUE", "FALSE") else plain_local_name(text)]
        found = self.names.name(text)
        if found.inner is not None and not found.inner.gives_cells:
            self._value_names.add(text)
        return self._replaced(found)

    def _replaced(self, found: Replacement) -> list[Piece]:
        if found.refused:
            raise _Refusal(found.refused)
        if found.area is not None:
            (self.shape.rows if found.this_row else self.shape.areas).append(found.area)
        if found.inner is None:
            return list(found.pieces)
        self.shape.absorb(found.inner)
        self.is_noisy = self.is_noisy or bool(found.nudged)
        first = len(self.shape.sites)
        self.shape.required += [(moved(condition, first), why) for condition, why in found.inner.required]
        guards = tuple(each for each in self._around.guards if not mentions(each.pieces, self._around.handed))
        self.shape.sites += [moved_site(site, first, guards) for site in found.inner.sites]
        self.shape.lookups += [each.with_parts(partial(moved, by=first)) for each in found.inner.lookups]
        return list(moved(found.nudged if self.nudges and found.nudged else found.pieces, first))

    def _call(self, node: CallNode, *, is_called: bool) -> list[Piece]:
        ours, name = our_function(node.written, self.namespace), plain_name(node.written)
        if ours is not None:
            return self._our_call(ours, node)
        if name == "ANCHORARRAY":
            return self._spill(node)
        if why := self._why_refused(node, name, is_called=is_called):
            raise _Refusal(why)
        if name.casefold() in self.known:
            return [f"{plain_local_name(node.written)}(", *joined(map(self.expression, node.arguments)), ")"]
        if (named := self.names.lambda_of(node.written)) is not None:
            return [*self._replaced(named), "(", *joined(map(self.expression, node.arguments)), ")"]
        self.shape.functions.add(name)
        self.shape.uses.add((name, ",".join(map(kind_of, node.arguments))))
        if why := odd_constants(name, node):
            raise _Refusal(why)
        if why := self._odd_arguments(name, node):
            raise _Refusal(why)
        areas = list(areas_in(name, node.arguments, self._holes))
        self.shape.areas_taken += areas
        self.shape.whole_areas += areas if name in WHOLE_AREAS else ()
        arguments = self._arguments(name, node)
        needed = (node.arguments[place] for place in CELLS.get(name, ()) if place < len(node.arguments))
        if not all(gives_cells(each, self.is_cells) for each in needed):
            raise _Refusal(f"{name} needs cells, and gets values")
        if name == "HYPERLINK" and arguments:
            return ["(", *arguments[-1], ")"]  # what it shows
        return self._called(name, node, arguments)

    def _called(self, name: str, node: CallNode, arguments: list[list[Piece]]) -> list[Piece]:
        """A call with what it is given, and what has to be known about that."""
        self._mend(name, arguments)
        self.shape.required += [(self._around.alone(each), why) for each, why in conditions_of(name, arguments)]
        if looked := nearest(name, arguments):
            self.shape.lookups.append(looked.with_parts(lambda part: self._around.alone(part) if part else ()))
        for place in cut_off(name, node.arguments):
            self.is_noisy = True
            arguments[place] = in_15_digits(arguments[place]) if self.nudges else arguments[place]
        call: list[Piece] = [f"{name}(", *joined(arguments), ")"]
        if name not in measured():  # a function of a macro or an add-in may have this name, and IFERROR hides it
            asked = ["AND(IFERROR(ERROR.TYPE(", *call, ")<>5,TRUE))"]
            self.shape.required.append((self._around.alone(asked), UNKNOWN_FUNCTION.format(name)))
        if not is_noisy(name):
            return call
        self.is_noisy = True
        return nudged_call(name, arguments, call) if self.nudges else call

    def _odd_arguments(self, name: str, node: CallNode) -> str:
        """Return why what a function is given makes its result doubtful; empty where it does not."""
        has_many, ones = single_values(name, node.arguments, self._holes)
        self.shape.single += ones
        return f"{name} gets several values, of which programs make different things" if has_many else ""

    def is_cells(self, name: str) -> bool:
        """Return whether a name stands for cells, as far as anybody knows."""
        handed = self._around.handed if self.shape.sites else frozenset[str]()
        if (local := local_name(name)) in self.known or local in handed:
            return local not in self.values | handed
        return name not in self._value_names

    def _mend(self, name: str, arguments: list[list[Piece]]) -> None:
        """Write arguments so that an engine takes them as Excel does."""
        if name == "FREQUENCY" and len(arguments) == 2:
            arguments[1] = ["VSTACK(", *arguments[1], ")"]  # one class alone is taken as a value, not as a list
        if name in ("SUMIF", "AVERAGEIF") and len(arguments) == 3:
            arguments[2] = self._sized(arguments[2], arguments[0])

    def _sized(self, added: list[Piece], tested: list[Piece]) -> list[Piece]:
        """The cells that are added up: from the first one on as many as are tested."""
        match added, tested:
            case [int(reference)], [int(like)]:
                return [SizedLike(reference, like)]
            case _:
                self.shape.required.append((self._around.alone(is_same_size(added, tested)), OTHER_SIZE))
                return added

    def _why_refused(self, node: CallNode, name: str, *, is_called: bool) -> str:
        """Return why a function is not worked out, whatever its arguments; empty where it may be."""
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
            found.append(self.expression(with_difference_as_call(argument) if tested(name, place) else argument))
            if outside.handed:
                self._keep_around(first, name, found[:-1], place, len(node.arguments))
            if self._around.is_each:
                self._hand(first, name, node, found)
        self._around = outside
        return found

    def _inside(self, around: _Around, name: str, node: CallNode, place: int, before: list[list[Piece]]) -> _Around:
        """Return what stands around an argument, when those `before` it are read."""
        is_last = place == len(node.arguments) - 1
        if name == "LET" and place:
            bound = list(joined(before[: place - place % 2]))
            around = replace(around, wrappers=(*around.wrappers, (("LET(", *bound, ","), (")",)))) if bound else around
        elif name == "LAMBDA" and is_last:
            handed = frozenset(local_name(str(part[0])) for part in before if part)
            is_loose = around.is_loose or not around.is_each
            return replace(around, handed=around.handed | handed, is_each=False, is_loose=is_loose)
        elif (guard := condition_of(name, before, place, len(node.arguments))) is not None:
            around = replace(around, guards=(*around.guards, Guard(around.alone(guard[0]), guard[1])))
        return replace(around, is_each=name in EACH and is_last and lambda_parameters(node) is not None)

    def _keep_around(self, first: int, name: str, before: list[list[Piece]], place: int, count: int) -> None:
        """Let the calls since the `first` that a LAMBDA decides on know the names and conditions around them."""
        bound = list(joined(before[: place - place % 2])) if name == "LET" else []
        guard = condition_of(name, before, place, count)
        for number, site in self._handed_since(first):
            if bound:
                self.shape.sites[number] = replace(site, rounds=("LET(", *bound, ",", *site.rounds, ")"))
            elif guard is not None:
                self.shape.sites[number] = replace(site, rounds=tuple(only_where(*guard, site.rounds)))

    def _hand(self, first: int, name: str, node: CallNode, arguments: list[list[Piece]]) -> None:
        """Let the calls in a function's LAMBDA know what it hands to it."""
        parameters = lambda_parameters(node) or []
        outside = replace(self._around, is_each=False)
        for number, site in self._handed_since(first):
            accumulates = name in ACCUMULATING and mentions(site.rounds, frozenset(parameters[:1]))
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
        guards = tuple(guard for guard in around.guards if not mentions(guard.pieces, around.handed))
        alone = tuple(around.alone(part) if part else () for part in arguments)
        is_handed = len(guards) < len(around.guards) or any(mentions(part, around.handed) for part in alone)
        if is_handed and around.is_loose:
            raise _Refusal("it calls a function of ours with what only a LAMBDA knows")
        if is_handed:
            key = key_of(arguments)
            self.shape.sites.append(CallSite(ours, (), guards, None, rounds=tuple(key)))
            return [Answer(len(self.shape.sites) - 1), "(", *key, ")"]
        self.shape.sites.append(CallSite(ours, alone, guards, constants_of(node.arguments)))
        answer = Answer(len(self.shape.sites) - 1)
        return ["INDEX(", answer, ",1,1)"] if node.written.startswith("@") else [answer]

    def _spill(self, node: CallNode) -> list[Piece]:
        match node.arguments:
            case [[Token(kind="hole")]]:
                self._holes += 1
                return [SpillOf(self._holes - 1)]
            case _:
                raise _Refusal("it refers to a spill in a form that is not read")
