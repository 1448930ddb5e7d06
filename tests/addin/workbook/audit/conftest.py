"""Signing uses a key and seals of the test's own, in a configuration folder of its own."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Point the user's configuration folder into the test's folder."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
