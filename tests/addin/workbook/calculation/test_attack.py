"""A short run of the attack on the calculation; the long one is a command of its own."""

from pathlib import Path

from tests.attack.workbooks.calculation import Found, attack


async def test_generated_books_show_what_plain_python_works_out_or_are_listed(tmp_path: Path):
    found = Found()
    await attack(12, 7, tmp_path, found)
    assert found.wrong == []
    assert found.outcomes["worked out"] > found.outcomes["unproven"] > 0
