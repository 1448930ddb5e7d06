"""A short run of mornings."""

import shutil

import pytest

from tests.attack.hosted.operated.mornings import Seen, counted, predicted


@pytest.mark.skipif(shutil.which("prometheus") is None, reason="no prometheus on this machine")
def test_what_prometheus_tells_of_a_morning_is_what_was():
    seen = Seen()
    counted(6, 2, seen, cells=40)
    assert seen.wrong == []


def test_a_few_foretell_how_long_many_wait():
    seen = Seen()
    predicted(12, 5, 1, 1.0, seen, cells=40)
    assert len(seen.misses) == 6
    assert "fail" not in " ".join(seen.wrong)
    assert sorted(seen.misses)[2] < 3.0  # thirty percent on a machine that does nothing else
