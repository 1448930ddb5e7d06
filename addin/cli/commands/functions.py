"""`addin functions`: the library as the registry describes it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from addin.errors import AddinError


def functions(
    function_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="One function, to explain it.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, as /registry.json gives it.")] = False,
) -> None:
    """List the functions, or explain one."""
    import orjson

    from addin.protocol.describe import describe
    from udfs import REGISTRY
    from udfs.engine.registry import find
    from udfs.errors import ArgumentError

    try:
        chosen = list(REGISTRY.values()) if function_id is None else [find(function_id.rpartition(".")[2])]
    except ArgumentError as error:
        raise AddinError(str(error)) from None
    described = [describe(function) for function in chosen]
    if as_json:
        typer.echo(orjson.dumps(described, option=orjson.OPT_INDENT_2).decode())
    elif function_id is None:
        _print_list(described)
    else:
        _print_one(described[0])


def _print_list(described: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("function", no_wrap=True, style="cyan")
    table.add_column("gives")
    group = None
    for function in described:
        if function["group"] != group:
            group = function["group"]
            table.add_row(f"[bold]{group}[/bold]", "")
        table.add_row(f"  {function['id']}", function["summary"])
    Console().print(table)


def _print_one(function: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    names = ", ".join(p["name"] if p["required"] else f"[{p['name']}]" for p in function["parameters"])
    console.print(Text(f"{function['id']}({names})", style="bold cyan"))
    console.print(Text("\n\n".join(filter(None, (function["summary"], function["details"]))) + "\n"))
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()
    for parameter in function["parameters"]:
        table.add_row(parameter["name"], Text(_explained(parameter)))
        for option in parameter["options"]:
            table.add_row(f"  {option['name']}=", Text(_explained(option)))
    console.print(table)
    for example in function["examples"]:
        console.print(Text(f"  {example}", style="green"))


def _explained(item: dict[str, Any]) -> str:
    choices = ", ".join(choice["value"] for choice in item["choices"])
    default = item.get("default")
    text: str = item["help"]
    return text + (f" ({choices})" if choices else "") + (f"; default {default}" if default is not None else "")
