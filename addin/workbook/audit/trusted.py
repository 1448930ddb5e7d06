"""Whose signatures count here: the user's own keys, and those that the user trusts by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import orjson

from addin.config.settings import config_dir, write_private
from addin.errors import AddinError
from addin.workbook.audit.keys import fingerprint, is_weak, key_file, known_public_key


class UntrustedKeyError(AddinError):
    """Something is signed with a key that is not trusted here; the message names it, and says what to do."""


TRUSTED_FILE = "trusted-keys.json"


class Trust(StrEnum):
    """The trust that a key has here."""

    OWN = "your own key"
    TRUSTED = "a key that you trust"
    NAMED = "the key that you named"
    REVOKED = "a key that was revoked"
    OUT_OF_TIME = "a key that was not valid then"
    UNKNOWN = "a key that is not yours"

    @property
    def is_accepted(self) -> bool:
        """Return whether its signatures count."""
        return self in (Trust.OWN, Trust.TRUSTED, Trust.NAMED)


@dataclass(frozen=True, slots=True)
class TrustedKey:
    """A key that the user trusts, from one day until another; times are ISO texts in UTC."""

    key: str
    """The public half, 64 hexadecimal digits."""
    name: str
    since: str = ""
    until: str = ""
    revoked: str = ""
    """Since when nothing that it signed counts any more, whenever it says that it was signed."""
    is_own: bool = False
    """Whether it was the user's own key once."""


def trusted_file() -> Path:
    """Return where the trusted keys are listed."""
    return config_dir() / TRUSTED_FILE


def trusted_keys(file: Path | None = None) -> list[TrustedKey]:
    """The keys in the list; raises `AddinError` for a list that cannot be read, because then nobody is trusted."""
    file = trusted_file() if file is None else file
    try:
        found = [TrustedKey(**entry) for entry in orjson.loads(file.read_bytes())] if file.exists() else []
        for each in found:
            refuse_no_key(each.key)
            for when in (each.since, each.until, each.revoked):
                _ = when and datetime.fromisoformat(when)
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise AddinError(
            f"the list of trusted keys in {file} cannot be read ({error}); restore it, or move it away and trust the "
            "keys again"
        ) from None
    return found


def save_trusted(keys: Iterable[TrustedKey], file: Path | None = None) -> None:
    """Write the list; raises `OSError`."""
    entries = [{name: value for name, value in asdict(each).items() if value} for each in keys]
    write_private(trusted_file() if file is None else file, orjson.dumps(entries, option=orjson.OPT_INDENT_2))


def refuse_no_key(public_key: str) -> None:
    """Raise `AddinError` for what is no public key, or one that no private key belongs to."""
    try:
        raw = bytes.fromhex(public_key)
    except ValueError:
        raw = b""
    if is_weak(raw):
        raise AddinError(f"{public_key[:80]!r} is no key for signatures: expected 64 hexadecimal digits of a sound key")


def trust_in(public_key: str, at: str, keys: Iterable[TrustedKey], own: str | None, named: str | None = None) -> Trust:
    """Return the trust in a key that signed at `at`, by its own word; `named` is the one the user asked for."""
    entry = next((each for each in keys if each.key == public_key), None)
    if entry is not None and entry.revoked:
        return Trust.REVOKED
    if named is not None and named.replace("-", "").casefold() in (
        public_key,
        fingerprint(public_key).replace("-", ""),
    ):
        return Trust.NAMED
    if public_key == own:
        return Trust.OWN
    if entry is None:
        return Trust.UNKNOWN
    if (entry.since and at < entry.since) or (entry.until and at > entry.until):
        return Trust.OUT_OF_TIME
    return Trust.OWN if entry.is_own else Trust.TRUSTED


def trust_of(public_key: str, at: str, named: str | None = None) -> Trust:
    """Return what a key is worth on this machine; raises `AddinError` where its list of keys or own key is damaged."""
    return trust_in(public_key, at, trusted_keys(), known_public_key(), named)


def with_key(keys: Iterable[TrustedKey], entry: TrustedKey) -> list[TrustedKey]:
    """The list with this entry, in the place of any other about the same key."""
    refuse_no_key(entry.key)
    return [*(each for each in keys if each.key != entry.key), entry]


def revoked(keys: Iterable[TrustedKey], public_key: str, now: float) -> list[TrustedKey]:
    """The list in which a key counts no more, also one that was in no list before."""
    entry = next((each for each in keys if each.key == public_key), TrustedKey(public_key, "revoked"))
    return with_key(keys, replace(entry, revoked=iso(now)))


def rotated(keys: Iterable[TrustedKey], old: str, now: float) -> list[TrustedKey]:
    """The list after the user's own key was replaced: what the `old` one signed until now still counts."""
    return with_key(keys, TrustedKey(old, f"own key until {iso(now)[:10]}", until=iso(now), is_own=True))


def iso(seconds: float) -> str:
    """A time as lists and lines write it, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def replace_own_key(now: float) -> Path:
    """Put the user's own key aside, so that the next signature makes a new one; where it is kept now."""
    file = key_file()
    public = known_public_key(file)
    if public is None:
        raise AddinError("there is no key for signatures yet; the first one is made when something is signed")
    save_trusted(rotated(trusted_keys(), public, now))
    aside = file.with_name(f"{file.name}.until-{iso(now)[:19].replace(':', '')}")
    file.rename(aside)
    return aside
