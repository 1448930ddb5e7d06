"""The project's own files, as git sees them: what is committed or about to be."""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
BINARY = {".ico", ".oxt", ".png", ".rdb", ".sqlite", ".xlsx"}


@cache
def project_files() -> tuple[Path, ...]:
    """Return every file that is committed or would be, relative to the root."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=PROJECT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    names = sorted(name for name in listing.split("\0") if name)
    return tuple(Path(name) for name in names if (PROJECT / name).is_file())


def text_files() -> tuple[Path, ...]:
    return tuple(path for path in project_files() if path.suffix not in BINARY)


def files_ending(*suffixes: str) -> tuple[Path, ...]:
    return tuple(path for path in project_files() if path.suffix in suffixes)


def read(path: Path) -> str:
    return (PROJECT / path).read_text(encoding="utf-8")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(read(path), filename=str(path))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    assert function.end_lineno is not None
    return function.end_lineno - function.lineno + 1


def imported_modules(path: Path) -> set[str]:
    """Return the absolute names of every module that a file imports, wherever the import stands."""
    names: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def lines_matching(pattern: str, paths: tuple[Path, ...]) -> list[str]:
    """Return `path:line: text` for every line of the files where the pattern is found."""
    found = []
    for path in paths:
        for number, line in enumerate(read(path).splitlines(), start=1):
            if re.search(pattern, line):
                found.append(f"{path}:{number}: {line.strip()[:100]}")
    return found
