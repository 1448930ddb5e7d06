"""`addin refresh`, `cost`, `freeze` and `template` as users run them."""

import json
import os
import zipfile
from pathlib import Path

from tests.addin.commands import addin, environment
from tests.addin.workbook.books import make_book, values
from tests.embedded import EmbeddedService

CELLS = {
    "A1": '=_xldudf_DS_SIGNAL("us-cpi")',
    "A2": '=_xldudf_DS_SIGNAL("us-10y")',
    "A3": '=_xldudf_DS_INDEX("risk-dial")',
}


def test_a_book_is_told_its_cost_refreshed_and_then_costs_nothing(service: EmbeddedService, tmp_path: Path):
    book = make_book(tmp_path / "book.xlsx", CELLS)
    environ = environment(tmp_path, service)
    cost = json.loads(addin("cost", str(book), "--json", environ=environ).stdout)
    assert (cost["requests"], cost["formulas"], cost["affordable"]) == (3, 3, True)
    assert service.running.request_count == 0
    done = addin("refresh", str(book), environ=environ)
    assert (done.returncode, done.stdout) == (0, f"{book}: 3 formulas, 3 changed, 3 requests spent\n")
    assert addin("refresh", str(book), environ=environ).stdout == f"{book}: 3 formulas, 0 changed, 0 requests spent\n"
    dry = addin("refresh", str(book), "--dry-run", environ=environ)
    assert (
        "book.xlsx: 0 requests, 49,997 left this month; 3 of 3 calls of our functions are fresh already."
        in " ".join(dry.stdout.split())
    )
    assert service.running.request_count == 3


def test_what_could_not_be_done_is_named_and_told_by_the_exit_code(service: EmbeddedService, tmp_path: Path):
    book = make_book(
        tmp_path / "book.xlsx", {**CELLS, "B1": '=_xldudf_DS_SIGNAL("us-cpi")*RAND()', "B2": '=DS.SIGNAL("nope")'}
    )
    done = addin("refresh", str(book), "-o", str(tmp_path / "out.xlsx"), environ=environment(tmp_path, service))
    assert done.returncode == 3
    assert "4 formulas of ours and 1 other, " in done.stdout
    assert "unproven, keep their old value: Sheet1!B1: " in done.stderr
    assert "show an error: Sheet1!B2: #N/A no signal 'nope'" in done.stderr
    assert values(book, "Sheet1", "A1") == [None], "the book itself was not to be changed"


def test_a_book_that_is_none_ends_with_one_line_and_no_traceback(service: EmbeddedService, tmp_path: Path):
    (tmp_path / "book.xlsx").write_text("not a book")
    for command in (["refresh"], ["cost"], ["freeze", "-o", str(tmp_path / "out.xlsx")]):
        done = addin(command[0], str(tmp_path / "book.xlsx"), *command[1:], environ=environment(tmp_path, service))
        assert done.returncode == 1
        assert done.stderr.startswith("addin: ")
        assert "Traceback" not in done.stderr
    assert service.running.request_count == 0


def test_too_few_requests_are_refused_before_the_first(service: EmbeddedService, tmp_path: Path):
    book = make_book(tmp_path / "book.xlsx", CELLS)
    environ = environment(tmp_path, service, api_key=service.store.create_key("pro", cap=3))
    addin("eval", '=DS.CURRENT("digital-tide")', environ=environ)
    before, asked = book.read_bytes(), service.running.request_count
    done = addin("refresh", str(book), environ=environ)
    assert done.returncode == 1
    assert "needs at least 3 requests and the key has 2 left" in done.stderr
    assert (book.read_bytes(), service.running.request_count) == (before, asked)


def test_the_template_is_written_refreshed_and_frozen_without_any_spreadsheet_program(
    service: EmbeddedService, tmp_path: Path
):
    environ = environment(tmp_path, service)
    template, frozen = tmp_path / "first.xlsx", tmp_path / "frozen.xlsx"
    assert addin("template", "-o", str(template), environ=environ).returncode == 0
    assert addin("refresh", str(template), environ=environ).returncode == 0
    assert addin("freeze", str(template), "-o", str(frozen), environ=environ).returncode == 0
    assert values(frozen, "Dashboard", "B6", "D6") == values(template, "Dashboard", "B6", "D6")
    with zipfile.ZipFile(frozen) as archive:
        assert not any(b"_xldudf_" in archive.read(name) for name in archive.namelist() if "sheet" in name)


def test_names_in_brackets_are_printed_as_they_are(service: EmbeddedService, tmp_path: Path):
    cells = {"A2": "us-", "B2": '=_xldudf_DS_SIGNAL(A2&"[/x]")', "B3": "=_xldudf_DS_SIGNAL(Sig[slug])", **CELLS}
    book = make_book(tmp_path / "[bold] book.xlsx", cells)
    environ = environment(tmp_path, service)
    for arguments in (["cost", str(book)], ["refresh", str(book), "--dry-run"]):
        done = addin(*arguments, environ=environ)
        assert (done.returncode, done.stderr) == (0, "")
        assert "[bold] book.xlsx: at least 3 requests" in done.stdout  # an argument waits for an answer
    done = addin("refresh", str(book), environ=environ)
    assert done.returncode == 3
    assert "Sheet1!B3: the table reference Sig[slug] is not read" in done.stderr
    assert "no signal '3.9[/x]'" in done.stderr


def test_a_reason_that_many_cells_share_is_printed_once(service: EmbeddedService, tmp_path: Path):
    book = make_book(tmp_path / "book.xlsx", {f"A{row}": '=_xldudf_DS_SIGNAL("nope")' for row in range(1, 24)})
    done = addin("refresh", str(book), environ=environment(tmp_path, service))
    assert done.returncode == 3
    assert done.stderr.count("no signal 'nope'") == 1
    assert "show an error: 23 formulas (Sheet1!A1, Sheet1!A2, Sheet1!A3 …): #N/A" in done.stderr
    report = json.loads(addin("refresh", str(book), "--json", environ=environment(tmp_path, service)).stdout)
    assert len(report["show_an_error"]) == 23


def test_whatever_is_named_ends_in_a_sentence(service: EmbeddedService, tmp_path: Path):
    book = make_book(tmp_path / "book.xlsx", CELLS)
    environ = environment(tmp_path, service)
    os.mkfifo(tmp_path / "pipe.xlsx")
    (tmp_path / "empty").mkdir()
    no_text = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.xlsx")
    too_long = str(tmp_path / ("x" * 300))
    for arguments in (
        ["refresh", str(tmp_path / "empty")],
        ["refresh", str(tmp_path / "*.xlsm")],
        ["cost", str(tmp_path / "pipe.xlsx")],
        ["refresh", no_text],
        ["freeze", too_long, "-o", str(tmp_path / "out.xlsx")],
        ["freeze", str(book), "-o", too_long],
        ["refresh", str(book), "-o", "/dev/null"],
    ):
        done = addin(*arguments, environ=environ)
        assert done.returncode == 1, arguments
        assert done.stderr.startswith("addin: "), done.stderr
        assert "Traceback" not in done.stderr
    assert service.running.request_count == 0


def test_a_name_that_is_no_text_is_a_name_like_any_other(service: EmbeddedService, tmp_path: Path):
    book = make_book(tmp_path / "book.xlsx", CELLS)
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.xlsx")
    done = addin("refresh", str(book), "-o", odd, environ=environment(tmp_path, service))
    assert done.returncode == 0, done.stderr
    assert json.loads(addin("refresh", odd, "--json", environ=environment(tmp_path, service)).stdout)["formulas"] == 3
