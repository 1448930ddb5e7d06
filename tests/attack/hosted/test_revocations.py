"""A short run of sign-outs and stops while stores fail."""

from tests.attack.hosted.revocations import attack


def test_whoever_was_told_to_be_out_is_out_on_both_machines(tmp_path, monkeypatch):
    for name in ("XDG_CONFIG_HOME", "DATA_SERVICE_OIDC_CLIENT_SECRET", "DATA_SERVICE_SESSION_SECRET"):
        monkeypatch.setenv(name, "")  # the attack sets them, and they are put back
    found = attack(3, 3, tmp_path)
    assert found.wrong == []
    assert found.stored > 0
