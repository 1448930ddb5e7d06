"""A short run of the attack on books and formulas; `python -m tests.attack.workbooks.books` runs as long as wanted."""

from pathlib import Path

from tests.attack.workbooks.books import Found, attack_books, attack_formulas


async def test_no_damage_to_a_book_ends_in_anything_but_a_result_or_a_sentence(tmp_path: Path):
    found = Found()
    await attack_books(40, 11, tmp_path, found)
    assert found.wrong == []
    assert found.outcomes["refresh: done"] > 0 < found.outcomes["refresh: refused"]


def test_no_damage_to_a_formula_does_more_than_make_it_unworkable():
    found = Found()
    attack_formulas(2_000, 12, found)
    assert found.wrong == []
    assert found.outcomes["formula: a call"] > 0 < found.outcomes["formula: no call"]
