"""Commands on a terminal: what they ask, and that they work."""

import sys

import pytest

from tests.addin.commands import environment
from tests.addin.terminals import CTRL_C, CTRL_D, answered
from tests.addin.workbook.books import make_book

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind")


def test_ctrl_c_at_a_question_stops_with_the_exit_code_that_shells_expect(tmp_path):
    code, shown = answered(["setup"], [("Address of the service", CTRL_C)], environ=environment(tmp_path))
    assert (code, shown.splitlines()[-1]) == (130, "Stopped.")
    assert list(tmp_path.glob("config/**/*")) == []


def test_the_end_of_the_answers_is_told_in_a_sentence(tmp_path):
    code, shown = answered(["setup"], [("Address of the service", CTRL_D)], environ=environment(tmp_path))
    assert code == 1
    assert shown.splitlines()[-1] == "addin: the question was not answered, and nothing more was done"


def test_a_wrong_answer_is_asked_for_again_at_once_and_the_key_is_never_shown(service, tmp_path):
    environ = environment(tmp_path)
    code, shown = answered(
        ["setup"],
        [
            ("Address of the service", "htp:/wrong"),
            ("is not an address such as", service.url),
            ("Keep an API key", "y"),
            ("not shown): ", "not a key"),
            ("not shown): ", f'  "{service.key}"'),
            ("Formulas in", service.key),
            ("is no program", "none"),
            ("Start the backend", "n"),
        ],
        environ=environ,
    )
    assert code == 0, shown
    assert "this is not an API key" in shown
    assert "It works: " in shown
    assert shown.count(service.key) == 1  # typed as a program's name, where the terminal itself shows it
    kept = next(tmp_path.glob("config/**/keys.json"))
    assert service.key in kept.read_text()


def test_a_refresh_shows_that_it_still_works_when_all_answers_are_there(service, tmp_path):
    book = make_book(tmp_path / "book.xlsx", {"A1": '=_xldudf_DS_SIGNAL("us-cpi")'})
    code, shown = answered(["refresh", str(book)], [], environ=environment(tmp_path, service))
    assert code == 0, shown
    assert "Working out and writing book.xlsx" in shown
