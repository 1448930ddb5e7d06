"""What a package offers is what its `__init__` says. The order inside `__all__` is held by ruff (RUF022)."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

from tests.project.files import files_ending, parsed

INITS = tuple(
    p for p in files_ending(".py") if p.name == "__init__.py" and p.parts[0] in {"addin", "udfs", "dataservice"}
)


def package_name(init: Path) -> str:
    return ".".join(init.parent.parts)


def names_brought_in(init: Path) -> Iterator[str]:
    for node in parsed(init).body:
        if isinstance(node, ast.ImportFrom) and node.module != "__future__":
            yield from (alias.asname or alias.name for alias in node.names)


def test_every_name_a_package_offers_can_be_imported():
    packages = [importlib.import_module(package_name(init)) for init in INITS]
    offered = [(package, name) for package in packages for name in getattr(package, "__all__", ())]
    assert [f"{package.__name__}.{name}" for package, name in offered if not hasattr(package, name)] == []


def test_a_package_offers_every_public_name_it_brings_in():
    missing = {}
    for init in INITS:
        public = {name for name in names_brought_in(init) if not name.startswith("_")}
        missing[package_name(init)] = public - set(getattr(importlib.import_module(package_name(init)), "__all__", ()))
    assert {package: names for package, names in missing.items() if names} == {}


def test_the_packages_tell_type_checkers_that_they_are_typed():
    folders = [Path(importlib.import_module(name).__file__).parent for name in ("addin", "dataservice", "udfs")]
    assert [str(folder) for folder in folders if not (folder / "py.typed").is_file()] == []
