"""A short run of backends that are restarted behind a proxy."""

import shutil

import pytest

from tests.attack.hosted.rolling import attack


@pytest.mark.skipif(shutil.which("nginx", path="/usr/sbin:/usr/bin") is None, reason="no nginx on this machine")
def test_no_call_fails_while_two_backends_behind_a_proxy_are_restarted(tmp_path):
    seen = attack(30, 5, tmp_path, workers=1)
    assert seen.wrong == []
    assert seen.restarts == 2
