"""The API key: where it is found, where it is stored, and how it stays out of the logs.

It is looked up in the environment (`DATA_SERVICE_API_KEY`, or the file that `DATA_SERVICE_API_KEY_FILE` names), the
system's keychain, the file used without a keychain, and the config file, in this order. A stored key belongs to the
address of one service and is never sent to another.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Protocol, TypeVar

from addin.config.secrets import secret_in
from addin.config.settings import APP, config_dir, config_file, read_config, write_private
from addin.errors import SettingsError
from dataservice.key_text import KEY, bare_key, without_keys

T = TypeVar("T")

_log = logging.getLogger(__name__)

ADDRESSES = "keychain.json"
"""The file with the addresses of the services whose keys are in the keychain, and which of those must not be used any
more; it holds no key."""

IN_USE, DISCARDED = "keychain", "discarded"
"""What that file says of the keychain's key: it is the one, or it lies there only because it could not be removed."""

_BEARER = re.compile(r"(bearer\s+)\S+", re.IGNORECASE)


class KeySource(StrEnum):
    """The place in which a key was found."""

    ENVIRONMENT = "environment"
    KEYCHAIN = "keychain"
    FILE = "file"
    CONFIG = "config"


@dataclass(frozen=True, slots=True)
class ConfiguredKey:
    """A key and where it was found; its value appears in no repr."""

    value: str = field(repr=False)
    source: KeySource

    @property
    def id(self) -> str:
        """The last four characters, enough to tell one's own keys apart."""
        return self.value[-4:]


def checked_key(text: str) -> str:
    """The key in `text`; raises `SettingsError` if it does not have the form of one (contract: "Authentication")."""
    key = bare_key(text)
    if not key:
        raise SettingsError("no key was given: a key is a prefix, an underscore and 40 hexadecimal digits")
    if not KEY.fullmatch(key):
        raise SettingsError(
            "this is not an API key: a key is a prefix, an underscore and 40 hexadecimal digits, "
            f"but {len(key)} characters of another form were given"
        )
    return key


def redacted(text: str) -> str:
    """The text without API keys, and without whatever follows the word bearer.

    >>> redacted("Authorization: Bearer ds_" + "0" * 40)
    'Authorization: Bearer …'
    """
    return _BEARER.sub(r"\1…", without_keys(text))


class RedactingFormatter(logging.Formatter):
    """Removes keys from the finished line, including its arguments and traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """The line for `record`."""
        return redacted(super().format(record))


def configure_logging(*, verbose: bool) -> None:
    """Log to stderr: warnings only, or with `verbose` everything of ours and every request to the service."""
    handler = logging.StreamHandler()
    handler.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s", "%H:%M:%S"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in ("addin", "udfs", "dataservice"):
        logging.getLogger(name).setLevel(logging.DEBUG if verbose else logging.WARNING)


class Keychain(Protocol):
    """The part of the system's keychain that we use, as the package keyring offers it."""

    def get_password(self, service: str, username: str) -> str | None:
        """Return the secret, or None."""

    def set_password(self, service: str, username: str, password: str) -> None:
        """Store the secret."""

    def delete_password(self, service: str, username: str) -> None:
        """Forget the secret."""


def no_keychain() -> None:
    """No keychain at all: keys are stored in the file."""


def system_keychain() -> Keychain | None:
    """The system's keychain, or None, such as on a server without a desktop."""
    import keyring
    import keyring.backends.fail
    import keyring.backends.null

    backend = keyring.get_keyring()
    absent = isinstance(backend, keyring.backends.fail.Keyring | keyring.backends.null.Keyring)
    return None if absent else backend


class KeychainError(SettingsError):
    """The keychain is there and cannot be used, for instance because it is locked."""


def _of_keychain(action: str, step: Callable[[], T]) -> T:
    """Return what `step` returns; raises `KeychainError` for whatever this system's keychain raises."""
    try:
        return step()
    except Exception as error:
        raise KeychainError(f"the keychain cannot be {action} ({type(error).__name__})") from error


class KeyStore:
    """Stores one key for each service: in the keychain, or without one in a file that only its owner can read.

    `open_keychain` is called when the keychain is first needed; a key in the environment needs none. The addresses
    whose keys are in the keychain are noted in a file, because no keychain lists what it holds.
    """

    def __init__(
        self, service_url: str, *, open_keychain: Callable[[], Keychain | None], file: Path | None = None
    ) -> None:
        self._service = service_url.rstrip("/") or "default"
        self._open_keychain = open_keychain
        self.file = file or config_dir() / "keys.json"
        self._addresses = self.file.with_name(ADDRESSES)

    @cached_property
    def _keychain(self) -> Keychain | None:
        try:
            return _of_keychain("opened", self._open_keychain)
        except KeychainError as error:
            _log.warning("%s", error)
            return None

    def load(self) -> ConfiguredKey | None:
        """The stored key."""
        if self._noted() != DISCARDED and (key := self._from_keychain_if_it_can()):
            return ConfiguredKey(key, KeySource.KEYCHAIN)
        if key := self._in_file().get(self._service):
            return ConfiguredKey(key, KeySource.FILE)
        return None

    def save(self, text: str) -> ConfiguredKey:
        """Store the key in `text`; the result's source says where. Raises `SettingsError` for what is not a key."""
        key = checked_key(text)
        if self._into_keychain(key):
            self._write(None)
            self._note(IN_USE)
            return ConfiguredKey(key, KeySource.KEYCHAIN)
        # An older key that a locked keychain still holds must not win over this one when it is unlocked.
        self._note(DISCARDED if self._may_hold_a_key() else None)
        self._write(key)
        return ConfiguredKey(key, KeySource.FILE)

    def forget(self) -> bool:
        """Remove the stored key from everywhere; whether there was one.

        Raises `KeychainError` where the keychain may still hold it: it is not used any more, but it is there.
        """
        found = self._in_file().get(self._service) is not None
        self._write(None)
        try:
            found = self._remove_from_keychain() or found
        except KeychainError as error:
            self._note(DISCARDED)
            raise KeychainError(
                f"{error}: the key may still be in there. It is not used any more; unlock the keychain and forget the "
                "key again to remove it"
            ) from error
        self._note(None)
        return found

    def may_hold_more(self) -> bool:
        """Return whether the keychain holds, or may hold, a key of this service, used or not."""
        return self._may_hold_a_key()

    def _from_keychain(self) -> str | None:
        keychain = self._keychain
        return _of_keychain("read", lambda: keychain.get_password(APP, self._service)) if keychain else None

    def _from_keychain_if_it_can(self) -> str | None:
        try:
            return self._from_keychain()
        except KeychainError as error:
            _log.warning("%s", error)
            return None

    def _may_hold_a_key(self) -> bool:
        try:
            return self._from_keychain() is not None
        except KeychainError:
            return True

    def _remove_from_keychain(self) -> bool:
        """Remove the key from the keychain; whether there was one."""
        keychain = self._keychain
        if keychain is None:
            if self._noted() is not None:
                raise KeychainError("the keychain cannot be opened")
            return False
        if self._from_keychain() is None:
            return False
        _of_keychain("written", lambda: keychain.delete_password(APP, self._service))
        return True

    def _into_keychain(self, key: str) -> bool:
        """Return whether the keychain holds the key now; some accept a secret and drop it."""
        keychain = self._keychain
        if keychain is None:
            return False
        try:
            _of_keychain("written", lambda: keychain.set_password(APP, self._service, key))
            return self._from_keychain() == key
        except KeychainError as error:
            _log.warning("%s", error)
            return False

    def _noted(self) -> str | None:
        return _texts_in(self._addresses).get(self._service)

    def _note(self, what: str | None) -> None:
        """Note what is true of the keychain's key of this service."""
        others = {service: text for service, text in _texts_in(self._addresses).items() if service != self._service}
        noted = others if what is None else {**others, self._service: what}
        if noted:
            write_private(self._addresses, json.dumps(noted).encode())
        else:
            self._addresses.unlink(missing_ok=True)

    def _in_file(self) -> dict[str, str]:
        return _texts_in(self.file)

    def _write(self, key: str | None) -> None:
        """Put the key into the file in place of the one of this service; remove a file without keys."""
        others = {service: other for service, other in self._in_file().items() if service != self._service}
        keys = others if key is None else {**others, self._service: key}
        _move_aside_if_damaged(self.file)
        if keys:
            write_private(self.file, json.dumps(keys).encode())
        else:
            self.file.unlink(missing_ok=True)


def stored_addresses(folder: Path | None = None) -> set[str]:
    """The services whose keys are stored on this machine, in the keychain or the file; "default" for no address."""
    folder = config_dir() if folder is None else folder
    return {*_texts_in(folder / "keys.json"), *_texts_in(folder / ADDRESSES)}


def _move_aside_if_damaged(file: Path) -> None:
    """Keep a file that cannot be read under another name: it may hold the keys of other services."""
    try:
        json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    except ValueError:
        aside = next(path for n in count(1) if not (path := file.with_name(f"{file.name}.damaged-{n}")).exists())
        file.rename(aside)
        _log.warning("%s could not be read and is kept as %s", file, aside.name)


def _texts_in(file: Path) -> dict[str, str]:
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        _log.warning("%s cannot be read; what is stored there is not used", file)
        return {}
    return {k: v for k, v in stored.items() if isinstance(v, str)} if isinstance(stored, dict) else {}


def find_key(
    store: KeyStore, environ: Mapping[str, str] | None = None, file: Path | None = None
) -> ConfiguredKey | None:
    """The key to use: from the environment, else the stored one, else `api_key` in the config file, else None.

    Raises `SettingsError` for a file that the environment names and that cannot be read.
    """
    named = bare_key(secret_in(os.environ if environ is None else environ, "api_key"))
    if named:
        return ConfiguredKey(named, KeySource.ENVIRONMENT)
    if stored := store.load():
        return stored
    configured = read_config(config_file() if file is None else file).get("api_key")
    if isinstance(configured, str) and bare_key(configured):
        return ConfiguredKey(bare_key(configured), KeySource.CONFIG)
    return None
