"""What a shared backend keeps secret beside API keys: its password at the provider, what sessions are sealed with."""

from __future__ import annotations

import os
import secrets

from addin.config.settings import PREFIX, config_dir, config_file, read_config, write_private

SECRET_BYTES = 32
LEAST_CHARACTERS = 32
"""Of a session secret that somebody chose: fewer could be guessed."""


def secret_named(name: str) -> str:
    """A secret from the environment or the config file, empty if there is none."""
    text = os.environ.get(f"{PREFIX}{name.upper()}", "").strip()
    return text or str(read_config(config_file()).get(name, "")).strip()


def session_secret() -> bytes:
    """What sessions are sealed with: `session_secret`, which several machines share, or one made for this machine.

    Raises `ValueError` for one that is too short.
    """
    if given := secret_named("session_secret"):
        if len(given) < LEAST_CHARACTERS:
            raise ValueError(f"session_secret has {len(given)} characters; it needs {LEAST_CHARACTERS} random ones")
        return given.encode()
    file = config_dir() / "session.key"
    if not file.exists():
        write_private(file, secrets.token_bytes(SECRET_BYTES))
    return file.read_bytes()
