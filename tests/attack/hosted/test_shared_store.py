"""A short run of the attack on a shared Redis."""

import shutil

import pytest

from tests.attack.hosted.shared_store import attack


@pytest.mark.skipif(not (shutil.which("redis-server") or shutil.which("valkey-server")), reason="needs Redis or Valkey")
def test_while_redis_comes_and_goes_every_cell_is_right_and_paid_once():
    report = attack(2, 120, seed=1, rounds_s=4.0)
    assert report.is_clean, report
    assert report.needed > 0
