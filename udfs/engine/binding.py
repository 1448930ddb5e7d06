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

from udfs.engine.effects import Asking
from udfs.engine.registry import Udf, find
from udfs.engine.run import Run
from udfs.errors import CellError, error_cell

_Begin: TypeAlias = tuple[Callable[..., Asking[Any]], Sequence[Any]]
"""What makes a call ready to run, and with which arguments; it raises what is wrong with them."""


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
        """The call with raw `args`, ready to run: as `Udf.bind`, which is asked where ranges are given."""
        try:
            return self.body(*self.read(args))
        except TypeError:
            return self.general(args)

    def read(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """What the function gets for raw `args`; raises `TypeError` for a range, which has no reading."""
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

    def _first_left_out(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """What is read in place of the arguments behind these; raises what is wrong with the first such call."""
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
    """The calls of one batch that differ: `firsts`, in the order in which they were first met."""

    def __init__(self, bindings: Bindings) -> None:
        self._bindings = bindings
        self._known: defaultdict[str, dict[Hashable, int]] = defaultdict(dict)
        """By the function and what it gets, the place."""
        self.firsts: list[Call] = []
        self._begins: list[_Begin | CellError] = []

    def places(self, calls: Sequence[Call]) -> list[int]:
        """The place among the `firsts` of each of `calls`.

        Where a range is given, and where the options are, a call counts as different from all others.
        """
        try:
            (function_id,) = {call.function_id for call in calls}
            return self._places(calls, self._bindings[function_id].read_all([call.args for call in calls]))
        except Exception:  # noqa: BLE001 - several functions, or calls that are no others' equal: each by itself
            return [self._place(call) for call in calls]

    def _place(self, call: Call) -> int:
        try:
            return self._places([call], [self._bindings[call.function_id].read(call.args)])[0]
        except TypeError:
            return self._add(call, (self._bindings[call.function_id].general, (call.args,)))
        except Exception as error:  # noqa: BLE001 - whatever it is, it becomes this one cell's error
            return self._add(call, error_cell(error, call.function_id))

    def _places(self, calls: Sequence[Call], given: Sequence[tuple[Any, ...]]) -> list[int]:
        """The places of calls of one function, which gets `given`; raises `TypeError` for what cannot be compared."""
        function_id = calls[0].function_id
        known, body = self._known[function_id], self._bindings[function_id].body
        places = list(map(known.get, given))
        if None in places:
            for number, place in enumerate(places):
                if place is None and (place := known.get(given[number])) is None:
                    place = known[given[number]] = self._add(calls[number], (body, given[number]))
                places[number] = place
        return places  # type: ignore[return-value]  # none of them is None any more

    def run(self, place: int) -> Run | CellError:
        """The run of the call at this place of `firsts`, to be begun at once; or the error that it ends with."""
        begin = self._begins[place]
        if isinstance(begin, CellError):
            return begin
        body, given = begin
        try:
            return Run(body(*given))
        except Exception as error:  # noqa: BLE001 - whatever it is, it becomes this one cell's error
            return error_cell(error, self.firsts[place].function_id)

    def _add(self, call: Call, begin: _Begin | CellError) -> int:
        self.firsts.append(call)
        self._begins.append(begin)
        return len(self.firsts) - 1
