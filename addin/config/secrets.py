"""What a shared backend keeps secret beside API keys: its password at the provider, what sessions are sealed with."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from addin.config.settings import PREFIX, SECRETS, config_dir, config_file, read_config, write_private
from addin.errors import SettingsError

SECRET_BYTES = 32
LEAST_CHARACTERS = 32
"""Of a session secret that somebody chose: fewer could be guessed."""


_SECRET_VARIABLES = frozenset(
    {"CREDENTIALS_DIRECTORY"}
    | {f"{PREFIX}{name}{end}".upper() for name in (*SECRETS, "redis_url", "db") for end in ("", "_file")}
)
"""Every variable that holds a secret, a password in an address, or says where one lies."""


def without_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for a program that needs no secret: one by others, or of ours that opens books by others.

    >>> without_secrets({"DATA_SERVICE_API_KEY": "ds_…", "DATA_SERVICE_PORT": "8766", "LANG": "C"})
    {'DATA_SERVICE_PORT': '8766', 'LANG': 'C'}
    """
    return {name: value for name, value in environ.items() if name.upper() not in _SECRET_VARIABLES}


def secret_named(name: str) -> str:
    """A secret as the environment gives it, or from the config file; empty if there is none. Raises `SettingsError` for
    a file that was named and cannot be read.
    """
    return secret_in(os.environ, name) or str(read_config(config_file()).get(name, "")).strip()


def secret_in(environ: Mapping[str, str], name: str) -> str:
    """A secret from its variable, from the file that its variable with _FILE names, or from systemd's credentials;
    empty if there is none. Raises `SettingsError` for a file that was named and cannot be read.
    """
    variable = f"{PREFIX}{name.upper()}"
    if text := environ.get(variable, "").strip():
        return text
    if named := environ.get(f"{variable}_FILE", "").strip():
        try:
            return Path(named).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(
                f"{variable}_FILE names {named}, which cannot be read ({type(error).__name__})"
            ) from None
    credential = Path(environ.get("CREDENTIALS_DIRECTORY", ""), name)
    if "CREDENTIALS_DIRECTORY" in environ and credential.is_file():
        return credential.read_text(encoding="utf-8").strip()
    return ""


def session_secrets() -> tuple[bytes, ...]:
    """Return what sessions are sealed with, and a second one while it is being changed, which is accepted too.

    These are `session_secret` and `session_secret_other`, which several machines share, or, made for this machine, the
    files `session.key` and `session.key.before`. Raises `ValueError` for one that is too short.
    """
    given = [_long_enough(name) for name in ("session_secret", "session_secret_other")]
    file = config_dir() / "session.key"
    first = given[0] or _made(file)
    other = given[1] or (b"" if given[0] else _content(file.with_name(f"{file.name}.before")))
    return (first, other) if other and other != first else (first,)


def _long_enough(name: str) -> bytes:
    text = secret_named(name)
    if text and len(text) < LEAST_CHARACTERS:
        raise ValueError(f"{name} has {len(text)} characters; it needs {LEAST_CHARACTERS} random ones")
    return text.encode()


def _made(file: Path) -> bytes:
    """The secret in a file, which the first of several processes makes for all."""
    if not file.exists():
        draft = file.with_name(f"{file.name}.{secrets.token_hex(4)}.new")  # threads may begin at the same time, too
        write_private(draft, secrets.token_bytes(SECRET_BYTES))
        try:
            os.link(draft, file)  # fails where another process was faster
        except FileExistsError:
            pass
        except OSError:  # a disk without such links
            draft.replace(file)
        draft.unlink(missing_ok=True)
    return file.read_bytes()


def _content(file: Path) -> bytes:
    return file.read_bytes() if file.exists() else b""
