"""The file of signed lines: blocks are in it whole or not at all, and nobody else's file is touched."""

from pathlib import Path

import pytest

from addin.workbook.audit.chain import block_lines
from addin.workbook.audit.file import AuditError, AuditFile, read_audit
from addin.workbook.audit.keys import own_key


def append(path: Path, book: str, *, file: AuditFile | None = None, failing: bool = False) -> None:
    key = own_key()

    def lines(audit_id: str, previous: str) -> list[bytes]:
        begin = {"audit": audit_id, "book": book}
        return block_lines(begin, [{"cell": "A1"}], previous=previous, public_key=key.public, sign=key.sign)

    with (file or AuditFile(path)).appended(lines):
        if failing:
            raise RuntimeError("the book could not be put in its place")


def books_in(path: Path) -> list[object]:
    chain = read_audit(path)
    assert (chain.problems, chain.unfinished) == ([], 0)
    return [block.begin["book"] for block in chain.blocks]


def test_each_block_follows_the_one_before_whoever_appends_it(tmp_path: Path):
    path = tmp_path / "numbers.jsonl"
    same = AuditFile(path)
    append(path, "a", file=same)
    append(path, "b")
    append(path, "c", file=same)
    assert books_in(path) == ["a", "b", "c"]


def test_a_block_whose_book_could_not_be_written_is_taken_back(tmp_path: Path):
    path = tmp_path / "numbers.jsonl"
    append(path, "a")
    before = path.read_bytes()
    with pytest.raises(RuntimeError):
        append(path, "b", failing=True)
    assert path.read_bytes() == before
    append(path, "c")
    assert books_in(path) == ["a", "c"]


@pytest.mark.parametrize("cut", [1, 40, 400, 700])
def test_what_broke_off_is_cut_away_by_the_next_block(tmp_path: Path, cut: int):
    path = tmp_path / "numbers.jsonl"
    append(path, "a")
    append(path, "b")
    path.write_bytes(path.read_bytes()[:-cut])
    append(path, "c")
    chain = read_audit(path)
    assert [block.begin["book"] for block in chain.blocks] == ["a", "c"]
    assert chain.problems == []


def test_whole_blocks_that_were_removed_from_the_end_are_missed_here(tmp_path: Path):
    path = tmp_path / "numbers.jsonl"
    append(path, "a")
    shorter = path.read_bytes()
    append(path, "b")
    path.write_bytes(shorter)
    assert ["lines at its end were removed" in problem for problem in read_audit(path).problems] == [True]


def test_another_file_is_refused_and_left_as_it_is(tmp_path: Path):
    path = tmp_path / "mine.jsonl"
    path.write_text('{"my": "data"}\n')
    with pytest.raises(AuditError, match="something else"):
        append(path, "a")
    with pytest.raises(AuditError, match="something else"):
        AuditFile(path).check()
    with pytest.raises(AuditError, match="does not begin like"):
        read_audit(path)
    assert path.read_text() == '{"my": "data"}\n'


def test_a_place_where_nothing_can_be_written_is_told_before_anything_is_done(tmp_path: Path):
    for path in (tmp_path / "missing" / "numbers.jsonl", tmp_path):
        with pytest.raises(AuditError):
            AuditFile(path).check()
    assert sorted(path.name for path in tmp_path.iterdir()) == []
