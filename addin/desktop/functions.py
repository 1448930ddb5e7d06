"""The functions of the library for xlwings, made from the registry with its decorators `func` and `arg`.

Whatever loads functions with these decorators can load them: xlwings' classic UDFs on Windows
(`addin.desktop.vba`), or a firm's own xlwings Server (`addin.desktop.xlwings_server`).
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import date
from typing import Any, TypeAlias, cast

import xlwings

from udfs import REGISTRY
from udfs.arguments import CELL_ERRORS, Parameter
from udfs.cells import Grid, Scalar, cells_of
from udfs.engine import Call, Outcome, Udf
from udfs.errors import CellError

Plain: TypeAlias = bool | float | str | date | None
Function: TypeAlias = Callable[..., Plain | list[list[Plain]]]

_KEYWORDS = """
and as boolean byref byte byval call case close const currency date debug declare dim do double each else elseif empty
end enum erase error event exit false for function get global gosub goto if implements in input integer is let like lock
long loop lset me mod new next not nothing null object on open option optional or paramarray preserve print private
property public put raiseevent redim rem resume return rset seek select set single static step stop string sub then to
true type typeof unlock until variant wend while with write xor
"""

VBA_KEYWORDS = frozenset(_KEYWORDS.split())
"""Names that no argument of a VBA function can have; xlwings writes a VBA function for every function."""


def error_text(error: CellError) -> str:
    """An error as its code and its message, for VBA, to which xlwings cannot return an error value."""
    return f"{error.code} {error.message}"


def error_code(error: CellError) -> str:
    """An error as its code alone, of which xlwings Server makes an error value of the cell."""
    return str(error.code)


def functions(
    answer: Callable[[Call], Outcome],
    *,
    prefix: str = "",
    show_error: Callable[[CellError], str] = error_text,
    **marks: Any,
) -> dict[str, Function]:
    """Every function of the library by its name in a formula: `prefix` and its id.

    `answer` evaluates a call; `marks` go to `xlwings.func`.
    """

    def body_of(function: Udf) -> Callable[..., Any]:
        def cell(*args: Any) -> Plain | list[list[Plain]]:
            given = [_given(raw) for raw in args]
            error = _first_error(given)
            return cell_value(answer(Call(function.id, given)).result, show_error) if error is None else error

        return cell

    return {
        f"{prefix}{each.id}": _marked(each, f"{prefix}{each.id}", body_of(each), marks) for each in REGISTRY.values()
    }


def async_functions(
    answer: Callable[[Call], Awaitable[Outcome]], *, show_error: Callable[[CellError], str], **marks: Any
) -> dict[str, Function]:
    """The same as coroutines, for a server whose event loop must not wait for the service."""

    def body_of(function: Udf) -> Callable[..., Any]:
        async def cell(*args: Any) -> Plain | list[list[Plain]]:
            given = [_given(raw) for raw in args]
            error = _first_error(given)
            return cell_value((await answer(Call(function.id, given))).result, show_error) if error is None else error

        return cell

    return {each.id: _marked(each, each.id, body_of(each), marks) for each in REGISTRY.values()}


def argument_name(parameter: Parameter) -> str:
    """The argument's name, with an underscore appended if VBA has another use for it."""
    return f"{parameter.name}_" if parameter.name.casefold() in VBA_KEYWORDS else parameter.name


def cell_value(result: Any, show_error: Callable[[CellError], str] = error_text) -> Plain | list[list[Plain]]:
    """Return what a cell shows of a result: a value, or rows that spill, beginning with the header if there is one.

    Dates stay dates; `show_error` makes text of an error.
    """
    cells = cells_of(result)
    if not isinstance(cells, Grid):
        return _plain(cells, show_error)
    return [[_plain(cell, show_error) for cell in row] for row in cells.rows()] or None


def _marked(function: Udf, name: str, cell: Callable[..., Any], marks: Mapping[str, Any]) -> Function:
    """`cell` as the function of this name, marked with its arguments and their help."""
    cell.__name__ = cell.__qualname__ = name
    cell.__doc__ = function.summary
    cell.__annotations__ = {}  # xlwings would use the return type as a converter
    cell.__signature__ = inspect.Signature([_signed(each) for each in function.parameters])  # type: ignore[attr-defined]
    marked: Function = cell
    for parameter in function.parameters:
        # Always rows, so that a row and a column differ; errors as text, so that they are not mistaken for blanks.
        marked = xlwings.arg(argument_name(parameter), ndim=2, err_to_str=True, doc=parameter.kind.help)(marked)
    # Last, like the topmost of written decorators, because every other mark resets the category.
    return cast("Function", xlwings.func(**marks)(marked))


def _first_error(given: Sequence[Any]) -> str | None:
    """The first argument that is the error of another cell."""
    return next((str(argument) for argument in given if _is_error(argument)), None)


def _signed(parameter: Parameter) -> inspect.Parameter:
    default = inspect.Parameter.empty if parameter.required else None
    return inspect.Parameter(argument_name(parameter), inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)


def _plain(cell: Scalar, show_error: Callable[[CellError], str]) -> Plain:
    match cell:
        case CellError():
            return show_error(cell)
        case bool() | None:
            return cell
        case int():
            return float(cell)  # what a cell holds; whole numbers over 32 bits would not arrive
        case _:
            return cell


def _given(raw: Any) -> Any:
    """An argument as the library accepts it: the value of one cell, or the rows of several."""
    if not (isinstance(raw, list | tuple) and raw and isinstance(raw[0], list | tuple)):
        return raw
    if len(raw) == 1 and len(raw[0]) == 1:
        return raw[0][0]
    return [list(row) for row in raw]


def _is_error(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(CELL_ERRORS)
