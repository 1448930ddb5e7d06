"""Functions as they are called throughout one batch: what all calls of a function share is made ready once.

Calls that mean the same, however they are written, are one run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from itertools import repeat, zip_longest
from operator import getitem
from typing import Any, TypeAlias

import msgspec

from udfs.engine.effects import MORE, Asking, Question
from udfs.engine.registry import Udf, find
from udfs.engine.run import Resolved, Run
from udfs.errors import CellError, UdfError, error_cell

_Begin: TypeAlias = Run | CellError | tuple[Any, ...] | None
"""The run or error that a call has ended with; what its function gets; None where that is read when it begins."""

AtHand: TypeAlias = Callable[[Question], Resolved | None]
"""What is known of a question without asking anybody."""


class Call(msgspec.Struct, frozen=True, gc=False):
    """One call of a function with raw arguments, as a host hands it over."""

    function_id: str
    args: Sequence[Any] = ()


class Binding:
    """One function on one day, with what a session injects."""

    __slots__ = ("_injected", "_left_out", "_readings", "body", "function")

    def __init__(self, function: Udf, injected: Mapping[str, Any]) -> None:
        self.function = function
        self._injected = injected
        extra = {name: injected[name] for name in function.injected}
        self.body = partial(function.body, **extra) if extra else function.body
        """What makes a call ready to run, called with what `read` gives."""
        self._readings = [parameter.on(injected["today"]) for parameter in function.parameters]
        self._left_out: dict[int, tuple[Any, ...]] = {}
        """By the number of arguments given, what is read in place of the others."""

    def call(self, args: Sequence[Any]) -> Asking[Any]:
        """The call with raw `args`, ready to run: as `Udf.bind`, which is asked where they are more than values."""
        try:
            return self.body(*self.read(args))
        except UdfError:
            raise
        except Exception:  # noqa: BLE001 - a range, or what a program's own class raises
            return self.general(args)

    def read(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """Return what the function gets for raw `args`; raises `TypeError` for a range, which has no reading."""
        left_out = self._left_out.get(len(args))
        if left_out is None:
            left_out = self._first_left_out(args)
        return (*map(getitem, self._readings, args), *left_out)

    def read_all(self, calls: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
        """What `read` gives for each of `calls`, one argument of all of them after the other; raises where it does."""
        columns = list(zip_longest(*calls))
        left_out = self._left_out.get(len(columns))
        if left_out is None:
            left_out = self._first_left_out(max(calls, key=len))
        read = [reading.of_all(column) for reading, column in zip(self._readings, columns, strict=False)]
        return list(zip(*read, *[repeat(value, len(calls)) for value in left_out], strict=True))

    def general(self, args: Sequence[Any]) -> Asking[Any]:
        """As `call`, also with ranges."""
        return self.function.bind(args, self._injected["today"], self._injected)

    def ended(self, given: Sequence[Any], at_hand: AtHand) -> Run | None:
        """The run of a call that what is at hand is enough for; None where it has to be begun."""
        at_once = self.function.at_once
        questions = at_once.question(*given) if at_once else ()
        learned = at_hand(questions[0]) if questions else None
        if at_once is None or learned is None or learned.is_lacking or learned.replies[0] is None:
            return None
        try:
            result = at_once.result(learned.replies[0], *given)
        except Exception:  # noqa: BLE001 - the run raises the same
            return None
        return None if result is MORE else Run(None, result, fresh_until=learned.fresh_until)

    def _first_left_out(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """Return what is read in place of the arguments behind these; raises what is wrong with the first such call."""
        others = self.function.parameters[len(args) :]
        if len(args) > len(self._readings) or any(parameter.required for parameter in others):
            self.general(args).close()
        left_out = tuple([reading[None] for reading in self._readings[len(args) :]])
        self._left_out[len(args)] = left_out
        return left_out


class Bindings(dict[str, Binding]):
    """The functions of one batch by their ids, in any case; raises `ArgumentError` for an id that does not exist."""

    def __init__(self, injected: Mapping[str, Any]) -> None:
        super().__init__()
        self._injected = injected
        self.now: float = injected["now"]

    def __missing__(self, function_id: str) -> Binding:
        binding = self[function_id] = Binding(find(function_id), self._injected)
        return binding


class EqualCalls:
    """The calls of one batch that differ: `firsts`, in the order in which they were first met.

    What is `at_hand` when a call is met ends it there, where it is enough.
    """

    def __init__(self, bindings: Bindings, at_hand: AtHand | None = None) -> None:
        self._bindings = bindings
        self._at_hand = at_hand
        self._known: defaultdict[str, dict[Hashable, int]] = defaultdict(dict)
        """By the function and what it gets, the place."""
        self.firsts: list[Call] = []
        self._begins: list[_Begin] = []
        self.open: list[int] = []
        """The places of those that have not ended when they were met."""

    def places(self, calls: Sequence[Call]) -> list[int]:
        """The place among the `firsts` of each of `calls`.

        Where a range is given, and where the options are, a call counts as different from all others.
        """
        try:
            (function_id,) = {call.function_id for call in calls}
            given = self._bindings[function_id].read_all([call.args for call in calls])
            found = list(map(self._known[function_id].get, given))
        except Exception:  # noqa: BLE001 - several functions, or calls that are no others' equal: each by itself
            return [self._place(call) for call in calls]
        return self._all_placed(calls, given, found) if None in found else found  # type: ignore[return-value]

    def _place(self, call: Call) -> int:
        try:
            given = self._bindings[call.function_id].read(call.args)
            found = self._known[call.function_id].get(given)
        except UdfError as error:
            return self._add(call, error_cell(error, call.function_id))
        except Exception:  # noqa: BLE001 - a range, or what a program's own class raises: its own run tells
            return self._add(call, None)
        return self._all_placed([call], [given], [found])[0]

    def _all_placed(
        self, calls: Sequence[Call], given: Sequence[tuple[Any, ...]], found: Sequence[int | None]
    ) -> list[int]:
        """The places of calls of one function, which gets `given`: those `found`, and new ones where it is None."""
        function_id, at_hand = calls[0].function_id, self._at_hand
        known, binding = self._known[function_id], self._bindings[function_id]
        places: list[int] = []
        for call, read, place in zip(calls, given, found, strict=True):
            if place is None and (place := known.get(read)) is None:
                run = binding.ended(read, at_hand) if at_hand else None
                place = known[read] = self._add(call, run or read)
            places.append(place)
        return places

    def run(self, place: int) -> Run | CellError:
        """The run of the call at this place of `firsts`, which is made when it is first asked for; or its error."""
        begin = self._begins[place]
        if isinstance(begin, (Run, CellError)):
            return begin
        call = self.firsts[place]
        binding = self._bindings[call.function_id]
        made: Run | CellError
        try:
            made = Run(binding.general(call.args) if begin is None else binding.body(*begin))
        except Exception as error:  # noqa: BLE001 - whatever it is, it becomes this one cell's error
            made = error_cell(error, call.function_id)
        self._begins[place] = made
        return made

    def _add(self, call: Call, begin: _Begin) -> int:
        place = len(self.firsts)
        self.firsts.append(call)
        self._begins.append(begin)
        if type(begin) is not Run:
            self.open.append(place)
        return place
