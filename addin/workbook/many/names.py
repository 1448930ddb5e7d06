"""Which books are meant: files, folders, patterns that no shell has expanded, each book once; and where they go."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from addin.workbook.ooxml.errors import WorkbookError

ENDINGS = (".xlsx", ".xlsm")

_PATTERN = frozenset("*?[")


def is_one_book(arguments: Sequence[Path]) -> bool:
    """Return whether the arguments are the name of one file, not of a folder or a pattern."""
    return len(arguments) == 1 and not _is_pattern(arguments[0]) and not _is_folder(arguments[0])


def books_named(arguments: Sequence[Path]) -> list[Path]:
    """The books that the arguments mean, each once, in their order; those of a folder or a pattern by name.

    A folder means the books in it, not those of its folders; `**` in a pattern means these too. A file is meant
    whatever its name, so that a wrong one is told. Raises `WorkbookError` for a folder or a pattern without a book.
    """
    found: dict[str, Path] = {}
    for argument in arguments:
        for book in _books(argument):
            found.setdefault(os.path.realpath(book), book)
    return list(found.values())


def targets_of(books: Sequence[Path], output: Path | None) -> list[Path]:
    """Return where each of many books is written: in its own place, or under its name in the folder `output`.

    The folder is made if it is missing. Raises `WorkbookError` for a file, and for two books of one name.
    """
    if output is None:
        return list(books)
    if output.exists() and not output.is_dir():
        raise WorkbookError(f"{output} is a file; with several books, -o names a folder for their copies")
    places: dict[str, Path] = {}
    for book in books:
        other = places.setdefault(book.name.casefold(), book)
        if other is not book:
            raise WorkbookError(f"{other} and {book} would both become {output / book.name}; refresh them separately")
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkbookError(f"the folder {output} cannot be made: {error.strerror}") from None
    return [output / book.name for book in books]


def _books(argument: Path) -> Iterator[Path]:
    if _is_folder(argument):
        inside = [path for path in sorted(argument.iterdir()) if _is_book(path)]
        if not inside:
            raise WorkbookError(f"{argument} holds no workbook ({' or '.join(ENDINGS)})")
        yield from inside
    elif _is_pattern(argument):
        matching = [Path(name) for name in sorted(glob.glob(str(argument), recursive=True))]  # noqa: PTH207 - absolute too
        chosen = [path for path in matching if _is_book(path)]
        if not chosen:
            raise WorkbookError(f"no workbook matches {argument}")
        yield from chosen
    else:
        yield argument


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _is_pattern(path: Path) -> bool:
    """Return whether a name that is no file may be a pattern."""
    return bool(_PATTERN & set(str(path))) and not os.path.lexists(path)


def _is_book(path: Path) -> bool:
    """Return whether a file found in a folder is a book, not the owner file of one or a half-written copy."""
    return path.suffix.lower() in ENDINGS and not path.name.startswith(("~$", ".")) and path.is_file()
