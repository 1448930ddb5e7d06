"""The file of signed lines: blocks are in it whole or not at all, and nobody else's file is touched."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from addin.workbook.audit.chain import block_lines, hash_in
from addin.workbook.audit.file import AuditError, AuditFile, read_audit
from addin.workbook.audit.keys import SigningKey, own_key


def append(
    path: Path,
    book: str,
    *,
    file: AuditFile | None = None,
    failing: bool = False,
    at: str = "2026-08-31",
    key: SigningKey | None = None,
) -> None:
    key = key or own_key()

    def lines(audit_id: str, previous: str, replaced: Mapping[str, str]) -> list[bytes]:
        begin = {"audit": audit_id, "book": book, "at": at, **({"replaces": replaced} if replaced else {})}
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
    append(path, "b", file=AuditFile(path, seals=tmp_path / "none"))  # killed before it could note that it had signed
    path.write_bytes(path.read_bytes()[:-cut])
    append(path, "c")
    chain = read_audit(path)
    assert [block.begin["book"] for block in chain.blocks] == ["a", "c"]
    assert chain.problems == []


def test_whole_blocks_that_were_removed_from_the_end_are_missed_and_nothing_washes_that_away(tmp_path: Path):
    path = tmp_path / "numbers.jsonl"
    append(path, "a")
    shorter = path.read_bytes()
    append(path, "b")
    path.write_bytes(shorter)
    assert ["lines at its end were removed" in problem for problem in read_audit(path).problems] == [True]
    with pytest.raises(AuditError, match="missing that this machine signed"):
        append(path, "c")
    assert path.read_bytes() == shorter


def test_a_file_that_was_deleted_stays_told_in_the_one_that_follows_it(tmp_path: Path):
    path = tmp_path / "numbers.jsonl"
    append(path, "a")
    path.unlink()
    append(path, "b")
    append(path, "c")
    assert ["took the place of another file" in note for note in read_audit(path, seals=tmp_path).notes] == [True]


def test_another_file_in_the_place_of_the_one_that_was_signed_is_told(tmp_path: Path):
    path, other = tmp_path / "numbers.jsonl", tmp_path / "other.jsonl"
    append(path, "a")
    append(other, "b")
    other.replace(path)
    assert ["another file of signed lines was here" in note for note in read_audit(path).notes] == [True]


def test_a_block_is_not_older_than_the_one_before_it(tmp_path: Path):
    path = tmp_path / "numbers.jsonl"
    append(path, "a", at="2026-08-31")
    with pytest.raises(AuditError, match=r"ends with lines of 2026-08-31, and it is 2026-08-30"):
        append(path, "b", at="2026-08-30")
    lines = path.read_bytes()
    path.write_bytes(b"")
    append(path, "b", at="2026-09-30", file=AuditFile(path, seals=tmp_path / "none"))
    key = own_key()
    later = block_lines(
        {"book": "c", "at": "2026-01-01"},
        [],
        previous=hash_in(path.read_bytes().splitlines()[-1]),
        public_key=key.public,
        sign=key.sign,
    )
    path.write_bytes(path.read_bytes() + b"".join(line + b"\n" for line in later))
    assert ["older than the one before it" in problem for problem in read_audit(path).problems] == [True]
    assert lines


def test_nothing_is_appended_to_lines_of_a_stranger(tmp_path: Path):
    path, stranger = tmp_path / "numbers.jsonl", own_key(tmp_path / "stranger" / "signing.key")
    append(path, "a", key=stranger, file=AuditFile(path, is_accepted=lambda key, at: True))
    with pytest.raises(AuditError, match="which is not a key that you trust"):
        append(path, "b")


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
