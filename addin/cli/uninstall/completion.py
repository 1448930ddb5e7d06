"""The completion of commands that `--install-completion` of both programs adds to the user's shell."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from addin.cli.uninstall.trace import Trace

PROGRAMS = ("addin", "dataservice")
BASHRC = ".bashrc"


def completion_traces(home: Path) -> Iterator[Trace]:
    """The files that our programs' completion consists of, and bash's lines that load them."""
    for program in PROGRAMS:
        files = {
            "bash": home / ".bash_completions" / f"{program}.sh",
            "zsh": home / ".zfunc" / f"_{program}",
            "fish": home / ".config" / "fish" / "completions" / f"{program}.fish",
        }
        for shell, file in files.items():
            if file.exists():
                remove = partial(_remove, file, home / BASHRC)
                yield Trace(f"completion of {program} in {shell}", str(file), remove)


def _remove(file: Path, rc: Path) -> None:
    """Delete the file, and the line of the shell's start file that loads it."""
    file.unlink(missing_ok=True)
    if not rc.exists():
        return
    lines = rc.read_text(encoding="utf-8", errors="surrogateescape").splitlines(keepends=True)
    kept = [line for line in lines if line.strip() not in (f"source '{file}'", f"source {file}")]
    if kept != lines:
        rc.write_text("".join(kept), encoding="utf-8", errors="surrogateescape")
