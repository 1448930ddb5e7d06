"""The reference of the functions: the registry's description of each, and the results of its examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from addin.cli.output import as_text
from docs.generate.functions.examples import EXAMPLES, Shown, worked_out
from docs.generate.markdown import code, plain, prose, table
from udfs import REGISTRY
from udfs.arguments.kinds import Choice, Kind
from udfs.arguments.options import Options
from udfs.arguments.parameters import Parameter
from udfs.cells import Grid, Scalar
from udfs.engine.registry import Udf
from udfs.errors import CellError

__all__ = ["function_parts", "page_of"]

NAMESPACE = "DS"
SHOWN_ROWS = 8
LONGEST_CELL = 64
"""Characters of one cell that an example shows; a page is not as wide as a sheet."""

SHAPES = {"value": "one value", "table": "a table, which spills", "either": "one value, or a table for some fields"}


async def function_parts() -> dict[str, str]:
    """The parts `functions` (the list) and `function ID` for each."""
    shown = await worked_out()
    pages = {f"function {function.id}": _page(function, shown) for function in REGISTRY.values()}
    return {"functions": _list(), **pages}


def page_of(function_id: str) -> str:
    """The file name of a function's page."""
    return f"{NAMESPACE.lower()}_{function_id.lower()}.md"


def _list() -> str:
    rows = [
        [f"[`{each.id}`](functions/{page_of(each.id)})", each.group, prose(each.summary)] for each in REGISTRY.values()
    ]
    return table(("function", "group", "returns"), rows)


def _page(function: Udf, shown: Mapping[str, Shown]) -> str:
    return "\n\n".join(filter(None, _sections(function, shown)))


def _sections(function: Udf, shown: Mapping[str, Shown]) -> Iterator[str]:
    yield function.summary
    yield f"```text\n{NAMESPACE}.{function.id}({_signature(function)})\n```"
    yield f"Returns {SHAPES[function.shape]}. In classic desktop Excel: `{NAMESPACE}_{function.id}`."
    yield from _arguments(function)
    yield from _options(function)
    if function.details:
        yield "## Rules"
        yield function.details
    examples = EXAMPLES[function.id]
    yield "## Examples"
    yield "Computed from the made-up data of 31 August 2026."
    for formula in examples.values:
        yield f"```text\n{formula}\n```"
        yield _result(shown[formula])
    yield "More formulas to copy:"
    yield "```text\n" + "\n".join(function.examples) + "\n```"
    if examples.errors:
        yield "## Errors"
        yield table(("formula", "error", "message"), [_mistake(each, shown[each]) for each in examples.errors])
        yield "[Errors and how to fix them](../errors.md) lists the errors that every function can show."


def _signature(function: Udf) -> str:
    return ", ".join(p.name if p.required else f"[{p.name}]" for p in function.parameters)


def _arguments(function: Udf) -> Iterator[str]:
    yield "## Arguments"
    if not function.parameters:
        yield "None."
        return
    rows = [[code(parameter.name), _told(parameter.kind), _default(parameter)] for parameter in function.parameters]
    yield table(("argument", "meaning", "default"), rows)
    if any(parameter.kind.vectorized for parameter in function.parameters):
        yield "↕ also accepts a range, and returns one result for each cell."
    for parameter in function.parameters:
        if parameter.kind.choices:
            also = ", or any other field by name" if parameter.kind.open_choices else ""
            yield f"`{parameter.name}` is one of these{also}:"
            yield table(("value", ""), [[code(choice.value), prose(choice.help)] for choice in parameter.kind.choices])


def _options(function: Udf) -> Iterator[str]:
    kinds = [parameter.kind for parameter in function.parameters if isinstance(parameter.kind, Options)]
    for kind in kinds:
        yield "## Options"
        yield "Write options as text such as `name=value; name=value`, or as a range of two columns."
        rows = [[code(each.name), _told(each.kind), _values(each.kind.choices)] for each in kind.allowed]
        yield table(("option", "what it does", "values"), rows)


def _told(kind: Kind) -> str:
    example = f" (such as {code(kind.example)})" if kind.example else ""
    lifted = " ↕" if kind.vectorized else ""
    return f"{prose(kind.help)}{example}{lifted}"


def _default(parameter: Parameter) -> str:
    if parameter.required:
        return "required"
    return "none" if parameter.default is None else code(str(parameter.default))


def _values(choices: Sequence[Choice]) -> str:
    return "<br>".join(f"{code(each.value)} {prose(each.help)}".strip() for each in choices)


def _result(result: Shown) -> str:
    if not isinstance(result, Grid):
        return f"**{plain(as_text(result))}**"
    header, rows = result.header, list(result.rows())[result.header is not None :]
    right = [_is_of_numbers([row[place] for row in rows]) for place in range(result.width)]
    body = [[_cell(cell) for cell in row] for row in rows[:SHOWN_ROWS]]
    more = f"\n\n… and {len(rows) - SHOWN_ROWS} more rows." if len(rows) > SHOWN_ROWS else ""
    return table([plain(name) for name in header or [""] * result.width], body, right=right) + more


def _is_of_numbers(cells: Sequence[Scalar]) -> bool:
    known = [cell for cell in cells if cell is not None]
    return bool(known) and all(isinstance(cell, float | int) for cell in known)


def _cell(cell: Scalar) -> str:
    text = as_text(cell)
    return plain(text if len(text) <= LONGEST_CELL else f"{text[:LONGEST_CELL]}…")


def _mistake(formula: str, result: Shown) -> list[str]:
    if not isinstance(result, CellError):
        raise ValueError(f"{formula} should show an error, but returns {result}")
    return [code(formula), code(result.code), prose(result.message)]
