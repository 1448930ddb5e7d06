"""`addin refresh` and `addin cost` on several books, as users run them."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

from addin.workbook.ooxml.target import remove_leftovers
from tests.addin.commands import addin, command, environment
from tests.addin.workbook.books import make_book, values
from tests.attack.workbooks.books_killed import Found, attack
from tests.embedded import EmbeddedService

CELLS = {"A1": '=_xldudf_DS_SIGNAL("us-cpi")', "A2": '=_xldudf_DS_SIGNAL("us-10y")'}


def test_a_folder_is_one_task_with_one_report(service: EmbeddedService, tmp_path: Path):
    books = tmp_path / "reports"
    books.mkdir()
    for name in ("a", "b", "c"):
        make_book(books / f"{name}.xlsx", CELLS)
    (books / "broken.xlsx").write_bytes(b"PK\3\4 not really")
    environ = environment(tmp_path, service)
    cost = json.loads(addin("cost", str(books), "--json", environ=environ).stdout)
    assert (cost["requests"], len(cost["books"]), len(cost["failed"])) == (2, 3, 1)
    assert service.running.request_count == 0
    done = addin("refresh", str(books), "-o", str(tmp_path / "done"), environ=environ)
    assert (done.returncode, service.running.request_count) == (3, 2)
    assert done.stdout.splitlines()[-1] == "4 of 4 books: 3 written, 2 requests spent"
    assert [line.split()[0] for line in done.stdout.splitlines()[2:-1]] == ["a.xlsx", "b.xlsx", "broken.xlsx", "c.xlsx"]
    assert [line.split(" ")[0] for line in done.stderr.splitlines() if "formulas," in line] == ["1/4", "2/4", "4/4"]
    assert "left as it was: " in done.stderr
    assert isinstance(values(tmp_path / "done" / "c.xlsx", "Sheet1", "A1")[0], float)
    assert values(books / "c.xlsx", "Sheet1", "A1") == [None]
    again = json.loads(addin("refresh", str(books / "[ab].xlsx"), "--json", environ=environ).stdout)
    assert (again["requests"], [book["saved"] for book in again["books"]]) == (0, [True, True])


def test_nothing_could_be_done_is_another_exit_code(service: EmbeddedService, tmp_path: Path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.xlsx").write_bytes(b"no book")
    done = addin("refresh", str(tmp_path / "a.xlsx"), str(tmp_path / "b.xlsx"), environ=environment(tmp_path, service))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


def test_ctrl_c_leaves_every_book_whole_and_the_same_command_goes_on(service: EmbeddedService, tmp_path: Path):
    books = tmp_path / "reports"
    books.mkdir()
    others = {f"{column}{row}": row for column in "FGHIJ" for row in range(1, 300)}
    pristine = {make_book(books / f"{number}.xlsx", {**CELLS, **others}): b"" for number in range(10, 30)}
    pristine = {book: book.read_bytes() for book in pristine}
    environ = environment(tmp_path, service)
    words = command(["refresh", str(books)])
    with subprocess.Popen(words, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for _ in range(3):  # the cost, and two books
            process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Stopped; every book is whole" in err
    assert "Traceback" not in err
    shown = [values(book, "Sheet1", "A1")[0] for book in pristine]
    done = [value is not None for value in shown]
    assert done == sorted(done, reverse=True)
    assert all(
        book.read_bytes() == before for (book, before), new in zip(pristine.items(), done, strict=True) if not new
    )
    assert f"{sum(done)} of 20 books" in out
    assert list(books.glob(".*")) == []
    asked = service.running.request_count
    assert addin("refresh", str(books), environ=environ).returncode == 0
    assert (service.running.request_count - asked, asked) == (0, 2)


def test_a_killed_refresh_leaves_every_book_old_or_new(tmp_path: Path):
    found = Found()
    attack(1, 3, 5, tmp_path, found)
    assert found.wrong == []
    assert found.outcomes["old"] + found.outcomes["new"] == 3


def test_what_killed_programs_left_is_removed_once_it_is_old(tmp_path: Path):
    for name, age_s in ((".addin-old.tmp", 7_200), (".addin-new.tmp", 10), ("mine.tmp", 7_200)):
        (tmp_path / name).write_bytes(b"")
        os.utime(tmp_path / name, (time.time() - age_s,) * 2)
    remove_leftovers(tmp_path, now=time.time())
    assert sorted(path.name for path in tmp_path.iterdir()) == [".addin-new.tmp", "mine.tmp"]


def test_signing_ends_in_exit_codes_that_say_what_was_found(service: EmbeddedService, tmp_path: Path):
    book, audit, copy = make_book(tmp_path / "book.xlsx", CELLS), tmp_path / "numbers.jsonl", tmp_path / "copy.xlsx"
    environ = environment(tmp_path, service)
    assert addin("verify", str(book), environ=environ).returncode == 1
    assert addin("refresh", str(book), "--audit", str(audit), environ=environ).returncode == 0
    assert addin("freeze", str(book), "-o", str(copy), "--audit", str(audit), environ=environ).returncode == 0
    held = addin("verify", str(copy), "--json", environ=environ)
    assert (held.returncode, json.loads(held.stdout)["changed"]) == (0, [])
    service.running.stop()
    before = book.read_bytes()
    book.write_bytes(copy.read_bytes())
    assert addin("verify", str(book), "--audit", str(audit), environ=environ).returncode == 3
    book.write_bytes(before)
    again = addin("replay", str(audit), "-o", str(tmp_path / "again.xlsx"), environ=environ)
    assert (again.returncode, again.stdout) == (
        0,
        f"{tmp_path / 'again.xlsx'}: 2 formulas with the values that were signed\n",
    )
    assert values(tmp_path / "again.xlsx", "Sheet1", "A1", "A2") == values(book, "Sheet1", "A1", "A2")
    for each in (audit, *tmp_path.rglob("*.key")):
        assert service.key.encode() not in each.read_bytes()


def test_one_book_goes_into_a_folder_too_as_a_shells_pattern_may_match_one(service: EmbeddedService, tmp_path: Path):
    book = make_book(tmp_path / "report.xlsx", {"A1": '=_xldudf_DS_SIGNAL("us-cpi")'})
    done = addin("refresh", str(book), "-o", str(tmp_path / "done"), environ=environment(tmp_path, service))
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "done").iterdir()] == ["report.xlsx"]
