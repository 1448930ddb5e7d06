"""Short runs of the attacks on the sheet; `python -m tests.attack.pages.sheet_edits` runs as long as wanted."""

import pytest

from tests.attack.pages.sheet_books import attack_books, chosen
from tests.attack.pages.sheet_edits import attack_sheet


@pytest.mark.usefixtures("component")
def test_after_any_edits_every_cell_shows_the_answer_to_its_own_call(chromium, service, tmp_path):
    found = attack_sheet(chromium, service, tmp_path, steps=24, seed=7)
    assert found.wrong == []
    assert found.compared > 0


@pytest.mark.usefixtures("component")
def test_real_books_are_saved_with_the_edited_cell_and_nothing_else_changed(chromium, service, tmp_path):
    books = chosen(4, seed=2)
    if not books:
        pytest.skip("the real books are not beside the project")
    found = attack_books(chromium, service, tmp_path, books)
    assert (found.wrong, found.hung) == ([], [])
    assert len(found.copies) + found.refused.total() == len(books)
