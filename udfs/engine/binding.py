"""Functions as they are called throughout one batch: what all calls of a function share is made ready once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from udfs.engine.effects import Asking
from udfs.engine.registry import Udf, find


class Binding:
    """One function on one day, with what a session injects."""

    __slots__ = ("_body", "_extra", "_injected", "_readings", "function")

    def __init__(self, function: Udf, injected: Mapping[str, Any]) -> None:
        self.function = function
        self._body = function.body
        self._injected = injected
        self._extra = {name: injected[name] for name in function.injected}
        self._readings = [parameter.on(injected["today"]) for parameter in function.parameters]

    def call(self, args: Sequence[Any]) -> Asking[Any]:
        """The call with raw `args`, ready to run; the same as `Udf.bind`, which is asked where a range is given."""
        readings = self._readings
        left_out = len(readings) - len(args)
        try:
            values = [reading[raw] for reading, raw in zip(readings, args, strict=False)]
        except TypeError:  # a range has no reading
            left_out = -1
        if left_out < 0:
            return self.function.bind(args, self._injected["today"], self._injected)
        if left_out:
            values += [reading[None] for reading in readings[-left_out:]]
        return self._body(*values, **self._extra)


class Bindings(dict[str, Binding]):
    """The functions of one batch by their ids, in any case; raises `ArgumentError` for an id that does not exist."""

    def __init__(self, injected: Mapping[str, Any]) -> None:
        super().__init__()
        self._injected = injected
        self.now: float = injected["now"]

    def __missing__(self, function_id: str) -> Binding:
        binding = self[function_id] = Binding(find(function_id), self._injected)
        return binding
