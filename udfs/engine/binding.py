"""Functions as they are called throughout one batch: what all calls of a function share is made ready once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from operator import getitem
from typing import Any

from udfs.engine.effects import Asking
from udfs.engine.registry import Udf, find


class Binding:
    """One function on one day, with what a session injects."""

    __slots__ = ("_body", "_injected", "_left_out", "_readings", "function")

    def __init__(self, function: Udf, injected: Mapping[str, Any]) -> None:
        self.function = function
        self._injected = injected
        extra = {name: injected[name] for name in function.injected}
        self._body = partial(function.body, **extra) if extra else function.body
        self._readings = [parameter.on(injected["today"]) for parameter in function.parameters]
        self._left_out: dict[int, tuple[Any, ...]] = {}
        """By the number of arguments given, what is read in place of the others."""

    def call(self, args: Sequence[Any]) -> Asking[Any]:
        """The call with raw `args`, ready to run: as `Udf.bind`, which is asked where ranges are given."""
        left_out = self._left_out.get(len(args))
        if left_out is None:
            return self._first_call(args)
        try:
            return self._body(*map(getitem, self._readings, args), *left_out)
        except TypeError:  # a range has no reading
            return self._general(args)

    def _first_call(self, args: Sequence[Any]) -> Asking[Any]:
        """The first call with so many arguments."""
        asking = self._general(args)
        self._left_out[len(args)] = tuple([reading[None] for reading in self._readings[len(args) :]])
        return asking

    def _general(self, args: Sequence[Any]) -> Asking[Any]:
        return self.function.bind(args, self._injected["today"], self._injected)


class Bindings(dict[str, Binding]):
    """The functions of one batch by their ids, in any case; raises `ArgumentError` for an id that does not exist."""

    def __init__(self, injected: Mapping[str, Any]) -> None:
        super().__init__()
        self._injected = injected
        self.now: float = injected["now"]

    def __missing__(self, function_id: str) -> Binding:
        binding = self[function_id] = Binding(find(function_id), self._injected)
        return binding
