"""The command groups of both programs, `addin` and `dataservice`, in one style.

A program lists its commands in a table of names, places and lines of help. A command's module is imported when the
command is used, so listing the commands imports none of them, and each module imports what it needs at its top.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any, ClassVar, NamedTuple

import typer
from typer.core import TyperGroup
from typer.models import Default

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Line feed and tab are no control characters here."""


class CommandEntry(NamedTuple):
    """Where a command's code is (`module:function` or `module:typer_app`), and its line in the program's help."""

    target: str
    help: str


class CommandError(Exception):
    """The command cannot do what it was asked to; the message says why, and the exit code is 1."""


def new_group(
    help_text: str | None = None, *, cls: type[TyperGroup] = TyperGroup, add_completion: bool = False
) -> typer.Typer:
    """A group of commands in the style of all of ours; without a help text, its callback's docstring is the help."""
    # Plain help: the formatted one takes three times as long to start.
    return typer.Typer(
        help=Default(None) if help_text is None else help_text,
        cls=cls,
        no_args_is_help=True,
        add_completion=add_completion,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )


def printable(text: str) -> str:
    """The text as every terminal can print it: control characters and bytes that are no text are shown as escapes.

    >>> printable("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    plain = _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
    return plain.encode("utf-8", "backslashreplace").decode()


class LazyGroup(TyperGroup):
    """A program's group of commands: it imports a command when it is looked up, and reports errors in one sentence."""

    table: ClassVar[Mapping[str, CommandEntry]]
    """Every command in the order of the help. The line of help is the first of the command's own."""

    reported: ClassVar[type[Exception]] = CommandError
    """Errors of this type end the program with their message on stderr and exit code 1."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _LazyCommands(self.table)  # type: ignore[assignment]  # nothing is ever added to it

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Run the command named on the command line."""
        try:
            return super().invoke(ctx)
        except self.reported as error:
            typer.echo(f"{ctx.info_name}: {printable(str(error))}", err=True)
            raise typer.Exit(1) from error

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # noqa: ARG002 - typer's signature
        """The names in the order of the help."""
        return list(self.table)

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # noqa: ARG002
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in self.table.items()])


class _LazyCommands(Mapping[str, Any]):
    """The commands by name; looking one up imports it."""

    def __init__(self, table: Mapping[str, CommandEntry]) -> None:
        self._table = table

    def __getitem__(self, name: str) -> Any:
        module, _, attribute = self._table[name].target.partition(":")
        target = getattr(import_module(module), attribute)
        if not isinstance(target, typer.Typer):
            function, target = target, new_group()
            target.command(name)(function)
        command = typer.main.get_command(target)
        command.name = name
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


def _show_version(ctx: typer.Context, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # slow to load, and seldom needed

        typer.echo(f"{ctx.info_name} {version('dataservice-addin')}")
        raise typer.Exit


VersionOption = Annotated[
    bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
]
