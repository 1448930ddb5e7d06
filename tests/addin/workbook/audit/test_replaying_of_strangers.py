"""Lines by somebody else replace nothing of one's own: neither elsewhere, nor unasked."""

from pathlib import Path

import pytest

from addin.workbook.audit.file import AuditError
from addin.workbook.audit.replay import books_to_replay, replay_book
from tests.addin.commands import addin, environment
from tests.addin.workbook.books import make_book, values
from tests.embedded import EmbeddedService

CELLS = {"A1": '=_xldudf_DS_SIGNAL("us-cpi")'}


def _signed_by(folder: Path, service: EmbeddedService, book: Path, audit: Path) -> None:
    done = addin("refresh", str(book), "--audit", str(audit), environ=environment(folder, service))
    assert done.returncode == 0, done.stderr


def test_a_book_outside_of_the_lines_folder_is_written_only_on_demand(service: EmbeddedService, tmp_path: Path):
    home, received = tmp_path / "home", tmp_path / "received"
    home.mkdir()
    received.mkdir()
    book = make_book(home / "mine.xlsx", CELLS)
    _signed_by(tmp_path, service, book, received / "numbers.jsonl")
    before = make_book(book, CELLS).read_bytes()
    (task,) = books_to_replay(received / "numbers.jsonl")
    with pytest.raises(AuditError, match=r"mine\.xlsx, which is not in their folder; nothing was written. Say with -o"):
        replay_book(task)
    assert book.read_bytes() == before
    assert replay_book(task, received / "again.xlsx").numbers == 1


def test_lines_of_a_key_that_is_not_trusted_are_replayed_only_after_a_yes(service: EmbeddedService, tmp_path: Path):
    stranger, me = tmp_path / "stranger", tmp_path / "me"
    stranger.mkdir()
    me.mkdir()
    book, audit = make_book(me / "book.xlsx", CELLS), me / "numbers.jsonl"
    _signed_by(stranger, service, book, audit)
    before = make_book(book, CELLS).read_bytes()
    mine = environment(me, service)
    refused = addin("replay", str(audit), environ=mine)
    assert refused.returncode == 4
    assert "not a key that you trust" in refused.stderr
    elsewhere = addin("replay", str(audit), "-o", str(me / "again.xlsx"), environ=mine)
    assert (elsewhere.returncode, (me / "again.xlsx").exists()) == (4, False)
    assert book.read_bytes() == before
    assert addin("replay", str(audit), "--yes", environ=mine).returncode == 0
    assert values(book, "Sheet1", "A1") != [None]
