"""The command `addin`: a list of commands that loads only the one that runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, MutableMapping
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from addin.cli.command_table import COMMANDS, command_of
from addin.errors import AddinError


class _Commands(MutableMapping[str, Any]):
    """The commands by name; looking one up imports it."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = command_of(name)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)

    def __setitem__(self, name: str, command: Any) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]


class _LazyGroup(TyperGroup):
    """A group whose list of commands comes from the table."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _Commands()

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # noqa: ARG002 - typer's signature
        return list(COMMANDS)

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])


app = typer.Typer(cls=_LazyGroup, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"addin {version('dataservice-addin')}")
        raise typer.Exit


@app.callback()
def root(
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show what happens on stderr.")] = False,
    version: Annotated[  # noqa: ARG001 - acted on by its callback
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and end.")
    ] = False,
) -> None:
    """Put a data service into spreadsheet cells: serve Excel and Calc, refresh workbooks, try formulas."""
    from addin.config.api_key import configure_logging

    configure_logging(verbose=verbose)


def main() -> None:
    """Run the command line; an `AddinError` ends it with its message and exit code 1."""
    try:
        app(prog_name="addin")
    except AddinError as error:
        typer.echo(f"addin: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
