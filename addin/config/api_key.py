"""The API key: where it is found, and where it is kept.

Order: the environment (`DATA_SERVICE_API_KEY`), the system's keychain, the file that stands in for a keychain, the
config file. A kept key belongs to one address of a service and is never sent to another.
"""

from __future__ import annotations

import json
import logging
import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Protocol

from addin.config.settings import APP, PREFIX, config_dir, config_file, read_config
from addin.errors import SettingsError

_log = logging.getLogger(__name__)

_FORM = re.compile(r"[A-Za-z][A-Za-z0-9]*_[0-9a-fA-F]{40}")


class KeySource(StrEnum):
    """Where a key was found."""

    ENVIRONMENT = "environment"
    KEYCHAIN = "keychain"
    FILE = "file"
    CONFIG = "config"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key and where it was found; its value appears in no repr."""

    value: str = field(repr=False)
    source: KeySource

    @property
    def id(self) -> str:
        """The last four characters, enough to tell one's own keys apart."""
        return self.value[-4:]


class Keychain(Protocol):
    """What we use of the system's keychain, as the package keyring offers it."""

    def get_password(self, service: str, username: str) -> str | None:
        """The secret, None where there is none."""

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep the secret."""

    def delete_password(self, service: str, username: str) -> None:
        """Forget the secret."""


def checked_key(text: str) -> str:
    """The key in `text`; raises `SettingsError` where it has not the form of one (contract: "Authentication")."""
    key = text.strip()
    if not _FORM.fullmatch(key):
        raise SettingsError(
            "this is not an API key: a key is a prefix, an underscore and 40 hexadecimal digits, "
            f"but {len(key)} characters of another form were given"
        )
    return key


def no_keychain() -> None:
    """No keychain at all: keys lie in the file."""


def system_keychain() -> Keychain | None:
    """The system's keychain; None where there is none, such as on a server without a desktop."""
    import keyring
    import keyring.backends.fail
    import keyring.backends.null

    backend = keyring.get_keyring()
    absent = isinstance(backend, keyring.backends.fail.Keyring | keyring.backends.null.Keyring)
    return None if absent else backend


class KeyStore:
    """Keeps one key for each service, in the keychain, or where there is none in a file only its owner can read.

    `open_keychain` is called when the keychain is first needed; a key in the environment needs none.
    """

    def __init__(
        self, service_url: str, *, open_keychain: Callable[[], Keychain | None], file: Path | None = None
    ) -> None:
        self._account = service_url.rstrip("/") or "default"
        self._open_keychain = open_keychain
        self.file = file or config_dir() / "keys.json"

    @cached_property
    def _keychain(self) -> Keychain | None:
        try:
            return self._open_keychain()
        except Exception as error:  # noqa: BLE001 - each system's keychain has errors of its own
            _log.warning("the keychain cannot be opened (%s)", type(error).__name__)
            return None

    def load(self) -> ApiKey | None:
        """The kept key."""
        if key := self._from_keychain():
            return ApiKey(key, KeySource.KEYCHAIN)
        if key := self._in_file().get(self._account):
            return ApiKey(key, KeySource.FILE)
        return None

    def save(self, text: str) -> ApiKey:
        """Keep the key in `text`; the answer's source says where. Raises `SettingsError` for what is not a key."""
        key = checked_key(text)
        if self._into_keychain(key):
            self._write({account: kept for account, kept in self._in_file().items() if account != self._account})
            return ApiKey(key, KeySource.KEYCHAIN)
        self._write({**self._in_file(), self._account: key})
        return ApiKey(key, KeySource.FILE)

    def forget(self) -> bool:
        """Remove the kept key from everywhere; whether there was one."""
        found = self.load() is not None
        if self._from_keychain() and self._keychain is not None:
            self._keychain.delete_password(APP, self._account)
        self._write({account: kept for account, kept in self._in_file().items() if account != self._account})
        return found

    def _from_keychain(self) -> str | None:
        try:
            return self._keychain.get_password(APP, self._account) if self._keychain else None
        except Exception as error:  # noqa: BLE001 - each system's keychain has errors of its own
            _log.warning("the keychain cannot be read (%s)", type(error).__name__)
            return None

    def _into_keychain(self, key: str) -> bool:
        """Whether the keychain holds the key now; some take a secret and drop it."""
        try:
            if self._keychain is None:
                return False
            self._keychain.set_password(APP, self._account, key)
        except Exception as error:  # noqa: BLE001 - each system's keychain has errors of its own
            _log.warning("the keychain cannot be written (%s)", type(error).__name__)
            return False
        return self._from_keychain() == key

    def _in_file(self) -> dict[str, str]:
        try:
            kept = json.loads(self.file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            _log.warning("%s cannot be read; a key kept there is not used", self.file)
            return {}
        return {k: v for k, v in kept.items() if isinstance(v, str)} if isinstance(kept, dict) else {}

    def _write(self, keys: Mapping[str, str]) -> None:
        """Write the file anew, readable by its owner only from its first byte on; remove it when nothing is left."""
        if not keys:
            self.file.unlink(missing_ok=True)
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        new = self.file.with_suffix(".new")
        new.unlink(missing_ok=True)
        owner_only = stat.S_IRUSR | stat.S_IWUSR
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, owner_only), "w", encoding="utf-8") as stream:
            json.dump(dict(keys), stream)
        new.replace(self.file)


def find_key(store: KeyStore, environ: Mapping[str, str] | None = None, file: Path | None = None) -> ApiKey | None:
    """The key to use: from the environment, else the kept one, else `api_key` in the config file, else None."""
    named = (os.environ if environ is None else environ).get(f"{PREFIX}API_KEY", "").strip()
    if named:
        return ApiKey(named, KeySource.ENVIRONMENT)
    if kept := store.load():
        return kept
    configured = read_config(config_file() if file is None else file).get("api_key")
    return ApiKey(configured.strip(), KeySource.CONFIG) if isinstance(configured, str) and configured.strip() else None
