"""The command groups of both programs, `addin` and `dataservice`, in one style.

A program lists its commands in a table of names, places and lines of help. A command's module is imported when the
command is used, so listing the commands imports none of them. Each command's module imports at its top only what its
signature needs, and inside its functions what takes long to load, so that its help appears at once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any, ClassVar, NamedTuple

import typer
from typer.core import TyperGroup
from typer.models import Default

from dataservice.key_text import without_keys
from dataservice.terminal.printing import echo, write_what_the_output_can_hold

INTERRUPTED = 130
"""The exit code after Ctrl-C that shells expect, of a command that had more to do."""


_UsageError: Any = typer.BadParameter.__base__
"""What every error of wrong usage is; typer exports only the one below it."""


class CommandEntry(NamedTuple):
    """A command: its code (`module:function` or `module:typer_app`), and its line in the program's help."""

    target: str
    help: str


class CommandError(Exception):
    """The command cannot do what it was asked to; the message says why, and the exit code is 1."""


class CommandGroup(TyperGroup):
    """A group of commands."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse what stands before the command's name."""
        for option in self.get_params(ctx):
            # typer loads pydantic (0.2 s) to convert None, the default of some of its flags; False it takes as it is.
            option.default = False if option.default is None else option.default
        return super().parse_args(ctx, args)


def new_group(
    help_text: str | None = None, *, cls: type[TyperGroup] = CommandGroup, add_completion: bool = False
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


class LazyGroup(CommandGroup):
    """A program's group of commands: it imports a command when it is looked up, and reports errors in one sentence."""

    table: ClassVar[Mapping[str, CommandEntry]]
    """Every command in the order of the help. The line of help is the first of the command's own."""

    reported: ClassVar[type[Exception]] = CommandError
    """Errors of this type end the program with their message on stderr and exit code 1."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _LazyCommands(self.table)  # type: ignore[assignment]  # nothing is ever added to it

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the program."""
        write_what_the_output_can_hold()
        return super().main(*args, **extra)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Parse what stands before the command's name."""
        with _own_words():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Run the command named on the command line."""
        try:
            with _own_words():
                result = super().invoke(ctx)
            sys.stdout.flush()  # what cannot be written is told here, and not by Python after the end
            return result
        except KeyboardInterrupt as error:
            echo("Stopped.", err=True)
            raise typer.Exit(INTERRUPTED) from error
        except typer.Abort as error:
            raise typer.Exit(_unanswered(ctx, error)) from error
        except self.reported as error:
            echo(f"{ctx.info_name}: {error}", err=True)
            raise typer.Exit(1) from error
        except ImportError as error:
            from dataservice.extras import MissingPackagesError  # seldom needed

            if not isinstance(error, MissingPackagesError):
                raise
            echo(f"{ctx.info_name}: {error}", err=True)
            raise typer.Exit(1) from error
        except BrokenPipeError:
            raise  # the reader, such as `head`, has enough: that ends the program without a word
        except OSError as error:
            # A full disk, a folder that is read-only: of any file, so that not every command needs to think of it.
            where = "" if error.filename is None else f"{error.filename}: "
            echo(f"{ctx.info_name}: {where}{error.strerror or error}", err=True)
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


@contextmanager
def _own_words() -> Iterator[None]:
    """Let what is said of wrong usage hold no words of the library's, and no API key."""
    try:
        yield
    except _UsageError as error:
        message = error.message.removeprefix("Value error, ")  # words of pydantic's, by which typer checks
        error.message = without_keys(message)
        if error.message != message:
            error.message = (
                error.message.removesuffix(".")
                + ". A key does not belong on the command line, where others of this machine can read it"
            )
        raise


def _unanswered(ctx: typer.Context, error: typer.Abort) -> int:
    """Say that a question was not answered; return the exit code."""
    echo(err=True)  # the cursor stands behind the question
    if isinstance(error.__context__, EOFError):
        echo(f"{ctx.info_name}: the question was not answered, and nothing more was done", err=True)
        return 1
    echo("Stopped.", err=True)
    return INTERRUPTED


def _show_version(ctx: typer.Context, wanted: bool) -> None:
    if wanted:
        from dataservice.version import product_version  # slow to load, and seldom needed

        echo(f"{ctx.info_name} {product_version()}")
        raise typer.Exit


VersionOption = Annotated[
    bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
]
