"""Which books are meant, and where they go."""

from pathlib import Path

import pytest

from addin.workbook.many.names import books_named, is_one_book, targets_of
from addin.workbook.ooxml.errors import WorkbookError


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")


def test_a_folder_means_its_books_and_nothing_else_in_it(tmp_path: Path):
    touch(tmp_path, "b.xlsx", "a.XLSM", "~$a.XLSM", ".addin-x.xlsx", "notes.txt", "deep/c.xlsx", "d.xlsx/inside.txt")
    assert [book.name for book in books_named([tmp_path])] == ["a.XLSM", "b.xlsx"]


def test_a_pattern_that_no_shell_expanded_is_expanded(tmp_path: Path):
    touch(tmp_path, "a1.xlsx", "a2.xlsx", "b.xlsx", "a.txt", "deep/a3.xlsx")
    assert [book.name for book in books_named([tmp_path / "a*"])] == ["a1.xlsx", "a2.xlsx"]
    assert [book.name for book in books_named([tmp_path / "**" / "a?.xlsx"])] == ["a1.xlsx", "a2.xlsx", "a3.xlsx"]
    assert not is_one_book([tmp_path / "a*"])


def test_a_name_with_brackets_is_a_name_if_there_is_such_a_file(tmp_path: Path):
    touch(tmp_path, "report [1].xlsx", "report 1.xlsx")
    assert books_named([tmp_path / "report [1].xlsx"]) == [tmp_path / "report [1].xlsx"]
    assert is_one_book([tmp_path / "report [1].xlsx"])


def test_a_book_that_is_named_twice_is_refreshed_once(tmp_path: Path):
    touch(tmp_path, "a.xlsx", "b.xlsx")
    (tmp_path / "link.xlsx").symlink_to(tmp_path / "a.xlsx")
    (tmp_path / "deep").mkdir()
    named = [tmp_path / "b.xlsx", tmp_path, tmp_path / "deep" / ".." / "b.xlsx", tmp_path / "link.xlsx"]
    assert [book.name for book in books_named(named)] == ["b.xlsx", "a.xlsx"]


def test_a_file_is_meant_whatever_its_name_so_that_a_wrong_one_is_told(tmp_path: Path):
    assert books_named([tmp_path / "missing.txt"]) == [tmp_path / "missing.txt"]


def test_a_folder_or_a_pattern_without_books_is_an_error(tmp_path: Path):
    for argument in (tmp_path, tmp_path / "*.xlsx"):
        with pytest.raises(WorkbookError, match=r"no workbook"):
            books_named([argument])


def test_copies_go_into_a_folder_that_is_made(tmp_path: Path):
    books = [tmp_path / "a.xlsx", tmp_path / "deep" / "b.xlsx"]
    assert targets_of(books, None) == books
    assert targets_of(books, tmp_path / "out" / "new") == [
        tmp_path / "out" / "new" / name for name in ("a.xlsx", "b.xlsx")
    ]
    assert (tmp_path / "out" / "new").is_dir()


def test_two_books_that_would_become_one_are_refused_before_anything_is_written(tmp_path: Path):
    with pytest.raises(WorkbookError, match="separately"):
        targets_of([tmp_path / "x" / "a.xlsx", tmp_path / "y" / "A.xlsx"], tmp_path / "out")
    assert not (tmp_path / "out").exists()
    touch(tmp_path, "file")
    with pytest.raises(WorkbookError, match="is a file"):
        targets_of([tmp_path / "a.xlsx"], tmp_path / "file")
