"""Random texts of every kind: none becomes anything but a text in a formula.

`tests.attack.pages.pane_texts` runs longer.
"""

import random

from tests.attack.pages.pane_texts import attack, prepare


def test_no_text_becomes_anything_but_text(chromium):
    with chromium.page() as tab:
        prepare(tab)
        attack(tab, random.Random(1), 1_000)
