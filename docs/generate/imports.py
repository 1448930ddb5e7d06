"""Which folder of the code imports which, read from the files' own import statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PACKAGES = ("addin", "udfs", "dataservice")

Arrows = frozenset[tuple[str, str]]
"""Pairs of folders: the first imports the second."""


@cache
def folders() -> tuple[str, ...]:
    """Every folder that holds modules, as a path from the root.

    >>> folders()[:2]
    ('addin', 'addin/backend')
    """
    return tuple(sorted({path.parent.as_posix() for path in _modules()}))


@cache
def folder_imports() -> Arrows:
    """The folders that import each other; what a package's own `__init__` re-exports does not count."""
    modules = {_name(path): path for path in _modules()}
    return frozenset(
        (path.parent.as_posix(), modules[target].parent.as_posix())
        for path in modules.values()
        if path.name != "__init__.py"
        for name in _imported(path)
        if (target := _module_of(name, modules)) and modules[target].parent != path.parent
    )


def without_detours(arrows: Arrows) -> Arrows:
    """The arrows that do not follow from others: of a → b, b → c and a → c the last one goes.

    >>> sorted(without_detours(frozenset({("a", "b"), ("b", "c"), ("a", "c")})))
    [('a', 'b'), ('b', 'c')]
    """
    chains = reach(arrows)
    return frozenset((a, c) for a, c in arrows if not any((a, b) in chains and (b, c) in chains for _, b in arrows))


def reach(arrows: Arrows) -> Arrows:
    """All pairs that a chain of arrows connects; raises `ValueError` when a chain leads back to its beginning."""
    chains = arrows
    while longer := {(a, d) for a, b in chains for c, d in arrows if b == c} - chains:
        chains |= longer
    if circle := sorted(a for a, b in chains if a == b):
        raise ValueError(f"these folders import each other in a circle: {', '.join(circle)}")
    return chains


def _modules() -> list[Path]:
    found = (path for package in PACKAGES for path in (PROJECT / package).rglob("*.py"))
    return sorted(path.relative_to(PROJECT) for path in found)


def _name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _imported(path: Path) -> Iterator[str]:
    """The names that a file imports; relative imports stay inside its folder and are left out."""
    for node in ast.walk(ast.parse((PROJECT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{each.name}" for each in node.names)


def _module_of(name: str, modules: dict[str, Path]) -> str | None:
    """The module that holds `name`, or None where it is not ours."""
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name or None
