"""The reference of the command line, generated from the commands."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

from addin.cli import main as addin_cli
from addin.cli.command_table import COMMANDS, command_of
from dataservice import cli as dataservice_cli
from docs.generate.markdown import code, prose, table

__all__ = ["command_parts", "commands"]

EXAMPLES = re.compile(r"^(?:Examples?|In three steps, with made-up data):\s*", re.MULTILINE)


PLACE = re.compile(r"\{([^{}\s]+)\}(?:\.\.\.)?|\[(\[\w+\])\]")
"""An argument in the usage line, with braces or brackets that add nothing to its name."""


def command_parts() -> dict[str, str]:
    """The parts `commands addin` and `commands dataservice`: a section for each command."""
    sections: dict[str, list[str]] = {"addin": [], "dataservice": []}
    for words, command in commands():
        sections[words[0]].append(_section(words, command))
    return {f"commands {program}": "\n\n".join(parts) for program, parts in sections.items()}


def commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command with the words that call it, a group before its members."""
    import typer

    yield ("addin",), typer.main.get_command(addin_cli.app)
    for name in COMMANDS:
        yield from _with_members(("addin", name), command_of(name))
    yield from _with_members(("dataservice",), typer.main.get_command(dataservice_cli.app))


def _with_members(words: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, command
    for name, member in getattr(command, "commands", {}).items():
        yield from _with_members((*words, name), member)


def _section(words: tuple[str, ...], command: Any) -> str:
    context = command.context_class(command, info_name=" ".join(words))
    told, example = _told(command.help or "")
    usage = PLACE.sub(lambda found: found[1] or found[2], " ".join([*words, *command.collect_usage_pieces(context)]))
    records = [record for parameter in command.params if (record := parameter.get_help_record(context))]
    parts = [f"{'#' * (len(words) + 1)} {' '.join(words)}", told, f"```text\n{usage}\n```"]
    if records:
        parts.append(
            table(("argument or option", "what it does"), [[code(names), prose(text)] for names, text in records])
        )
    if example:
        parts.append(f"```text\n{example}\n```")
    return "\n\n".join(parts)


def _told(help_text: str) -> tuple[str, str]:
    """What a command's help tells, and its examples."""
    text = inspect.cleandoc(help_text.replace("\b", "")).strip()
    told, *rest = EXAMPLES.split(text, maxsplit=1)
    example = "\n".join(line.strip() for line in rest[0].splitlines() if line.strip()) if rest else ""
    paragraphs = (" ".join(paragraph.split()) for paragraph in told.split("\n\n"))
    return "\n\n".join(filter(None, paragraphs)), example
