"""Secrets of a shared backend: made once for all processes of a machine, or given; two while one is changed."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from addin.config.secrets import session_secrets


@pytest.fixture(autouse=True)
def config(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path / "dataservice-addin"


def test_it_is_made_once_for_all_who_begin_at_the_same_time(config):
    with ThreadPoolExecutor(16) as threads:
        made = {each.result() for each in [threads.submit(session_secrets) for _ in range(64)]}
    assert len(made) == 1
    assert (config / "session.key").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in config.iterdir()] == ["session.key"]


def test_a_file_that_was_moved_aside_is_accepted_beside_a_new_one(config):
    (before,) = session_secrets()
    (config / "session.key").rename(config / "session.key.before")
    made, other = session_secrets()
    assert (other, made != before) == (before, True)
    (config / "session.key.before").unlink()
    assert session_secrets() == (made,)


def test_two_that_are_given_are_the_one_that_seals_and_the_one_that_is_accepted(monkeypatch):
    monkeypatch.setenv("DATA_SERVICE_SESSION_SECRET", "n" * 32)
    monkeypatch.setenv("DATA_SERVICE_SESSION_SECRET_OTHER", "o" * 32)
    assert session_secrets() == (b"n" * 32, b"o" * 32)
    monkeypatch.setenv("DATA_SERVICE_SESSION_SECRET_OTHER", "o" * 31)
    with pytest.raises(ValueError, match="session_secret_other has 31 characters"):
        session_secrets()
