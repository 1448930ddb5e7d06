"""Writing to a terminal, and groups of commands: what both programs, `addin` and `dataservice`, stand on."""

from dataservice.terminal.command_group import CommandEntry, LazyGroup, VersionOption, new_group
from dataservice.terminal.printing import echo, escaped, printable

__all__ = ["CommandEntry", "LazyGroup", "VersionOption", "echo", "escaped", "new_group", "printable"]
