"""A short run of the attack on the sheet; `python -m tests.attack.pages.sheet_edits` runs as long as wanted."""

import pytest

from tests.attack.pages.sheet_edits import attack_sheet


@pytest.mark.usefixtures("component")
def test_after_any_edits_every_cell_shows_the_answer_to_its_own_call(chromium, service, tmp_path):
    found = attack_sheet(chromium, service, tmp_path, steps=24, seed=7)
    assert found.wrong == []
    assert found.compared > 0
