"""Where a workbook may be written: links are followed, and whatever is no writable, unchanged file is refused."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest

from addin.workbook.ooxml.errors import WorkbookError
from addin.workbook.ooxml.package import Package
from addin.workbook.ooxml.target import Target


def _writing(content: bytes) -> Callable[[BinaryIO], None]:
    def write(stream: BinaryIO) -> None:
        stream.write(content)

    return write


def _file(path: Path, content: bytes = b"old") -> Path:
    path.write_bytes(content)
    return path


def test_a_link_stays_a_link_and_the_file_that_it_leads_to_is_replaced(tmp_path: Path):
    real = _file(tmp_path / "real.xlsx")
    link = tmp_path / "link.xlsx"
    link.symlink_to(real)
    Target(link).replace(_writing(b"new"), mode=0o644)
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def test_a_file_with_another_name_shows_the_new_content_under_both(tmp_path: Path):
    one, other = _file(tmp_path / "one.xlsx", b"old and longer"), tmp_path / "other.xlsx"
    other.hardlink_to(one)
    one.chmod(0o640)
    Target(one).replace(_writing(b"new"), mode=0o600)
    assert one.samefile(other)
    assert (one.read_bytes(), other.read_bytes()) == (b"new", b"new")
    assert stat.S_IMODE(one.stat().st_mode) == 0o640
    assert sorted(each.name for each in tmp_path.iterdir()) == ["one.xlsx", "other.xlsx"]


def test_content_that_could_not_be_written_in_place_is_kept_beside(tmp_path: Path):
    path, temporary = _file(tmp_path / "book.xlsx"), _file(tmp_path / "temporary", b"new")
    target = Target(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(WorkbookError, match=r"its new content is in .*rescued-book\.xlsx"):
        target._overwrite(temporary)
    assert (tmp_path / "rescued-book.xlsx").read_bytes() == b"new"


def test_a_link_to_nothing_makes_the_file_that_it_names(tmp_path: Path):
    link = tmp_path / "link.xlsx"
    link.symlink_to(tmp_path / "later.xlsx")
    Target(link).replace(_writing(b"new"), mode=0o644)
    assert (tmp_path / "later.xlsx").read_bytes() == b"new"


def test_a_file_keeps_its_mode_and_a_new_one_can_be_written_again(tmp_path: Path):
    old = _file(tmp_path / "old.xlsx")
    old.chmod(0o660)
    Target(old).replace(_writing(b"new"), mode=0o444)
    Target(tmp_path / "new.xlsx").replace(_writing(b"new"), mode=0o444)
    assert stat.S_IMODE(old.stat().st_mode) == 0o660
    assert stat.S_IMODE((tmp_path / "new.xlsx").stat().st_mode) == 0o644


def test_what_is_read_only_a_folder_or_no_regular_file_is_refused_at_once(tmp_path: Path):
    read_only = _file(tmp_path / "read-only.xlsx")
    read_only.chmod(0o444)
    pipe = tmp_path / "pipe.xlsx"
    os.mkfifo(pipe)
    loop = tmp_path / "loop.xlsx"
    loop.symlink_to(loop)
    for path, why in [
        (read_only, "is read-only"),
        (tmp_path, "is a folder"),
        (pipe, "no regular file"),
        (Path("/dev/null"), "no regular file"),
        (loop, "cannot be written"),
        (tmp_path / "no" / "book.xlsx", "there is no folder"),
        (tmp_path / ("x" * 300 + ".xlsx"), "cannot be written"),
    ]:
        with pytest.raises(WorkbookError, match=why):
            Target(path)
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.parametrize("kind", ["pipe", "device", "loop", "long"])
def test_what_is_no_regular_file_is_not_read_and_nobody_waits_for_it(tmp_path: Path, kind: str):
    pipe, loop = tmp_path / "pipe.xlsx", tmp_path / "loop.xlsx"
    os.mkfifo(pipe)
    loop.symlink_to(loop)
    path = {"pipe": pipe, "device": Path("/dev/zero"), "loop": loop, "long": tmp_path / ("x" * 300)}[kind]
    with pytest.raises(WorkbookError, match=r"no regular file|cannot be opened"):
        Package(path)


def test_the_longest_name_that_a_file_can_have_can_be_written(tmp_path: Path):
    path = tmp_path / ("x" * 250 + ".xlsx")
    with pytest.raises(OSError, match="File name too long"):
        path.with_name(f"~${path.name}").stat()
    Target(path).replace(_writing(b"new"), mode=0o644)
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("how", ["in place", "by a new file", "removed", "made meanwhile"])
def test_a_file_that_someone_else_saved_meanwhile_is_left_as_it_is(tmp_path: Path, how: str):
    path = tmp_path / "book.xlsx"
    if how != "made meanwhile":
        _file(path)
    target = Target(path)
    match how:
        case "in place" | "made meanwhile":
            path.write_bytes(b"NEW")
        case "by a new file":
            _file(tmp_path / "other", b"old").replace(path)
        case _:
            path.unlink()
    before = path.read_bytes() if path.exists() else None
    with pytest.raises(WorkbookError, match="changed by someone else"):
        target.replace(_writing(b"ours"), mode=0o644)
    assert (path.read_bytes() if path.exists() else None) == before
    assert [each.name for each in tmp_path.iterdir()] == (["book.xlsx"] if before else [])


def test_a_program_that_opens_the_book_meanwhile_is_respected(tmp_path: Path):
    path = _file(tmp_path / "book.xlsx")
    target = Target(path)
    _file(tmp_path / "~$book.xlsx")
    with pytest.raises(WorkbookError, match="open in another program"):
        target.replace(_writing(b"ours"), mode=0o644)
    assert path.read_bytes() == b"old"


def test_a_write_that_fails_is_told_in_a_sentence_and_leaves_nothing_behind(tmp_path: Path):
    path = _file(tmp_path / "book.xlsx")

    def fail(stream: BinaryIO) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(WorkbookError, match="No space left on device"):
        Target(path).replace(fail, mode=0o644)
    assert [each.name for each in tmp_path.iterdir()] == ["book.xlsx"]


def test_a_copy_has_the_ending_of_its_book(tmp_path: Path):
    with pytest.raises(WorkbookError, match=r"must end in \.xlsx"):
        Target(tmp_path / "copy.pdf", like=tmp_path / "book.xlsx")
