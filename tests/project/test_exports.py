"""What a package offers is what its `__init__` says. The order inside `__all__` is held by ruff (RUF022)."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("init", INITS, ids=package_name)
def test_every_name_a_package_offers_can_be_imported(init):
    package = importlib.import_module(package_name(init))
    assert [name for name in getattr(package, "__all__", ()) if not hasattr(package, name)] == []


@pytest.mark.parametrize("init", INITS, ids=package_name)
def test_a_package_offers_every_public_name_it_brings_in(init):
    package = importlib.import_module(package_name(init))
    public = {name for name in names_brought_in(init) if not name.startswith("_")}
    assert public <= set(getattr(package, "__all__", ()))


@pytest.mark.parametrize("package", ["addin", "dataservice", "udfs"])
def test_a_package_tells_type_checkers_that_it_is_typed(package):
    module = importlib.import_module(package)
    assert (Path(module.__file__).parent / "py.typed").is_file()
