"""The key that signs numbers: made once for each user, and never the API key.

It is an Ed25519 key. Its public half stands in every signature, so anyone can check one; only who holds the private
half can make one.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from addin.config.settings import config_dir, write_private
from addin.errors import AddinError

KEY_FILE = "signing.key"
_FINGERPRINT = 32
"""Hexadecimal digits of a key's hash that people compare, 128 bits: nobody finds a second key with the same."""

_FIELD = 2**255 - 19
_SMALL_Y = 2707385501144840649318225287225658788936804267575313519463743609750303402022
"""The second coordinate of the points of order 8 on the curve of Ed25519."""
_WEAK = frozenset((0, 1, _FIELD - 1, _SMALL_Y, _FIELD - _SMALL_Y))
"""Those of all points of small order: as public keys, they verify signatures that nobody with a private key made."""


class SigningKey:
    """The user's key for signatures, in a file that only they can read."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private

    @property
    def public(self) -> str:
        """The public half, 64 hexadecimal digits."""
        return self._private.public_key().public_bytes_raw().hex()

    @property
    def private(self) -> Ed25519PrivateKey:
        """The private half, for libraries that make signatures of another form."""
        return self._private

    def sign(self, data: bytes) -> str:
        """The signature of `data`, 128 hexadecimal digits."""
        return self._private.sign(data).hex()

    def __repr__(self) -> str:
        return f"SigningKey({fingerprint(self.public)})"


def key_file() -> Path:
    """Return where the user's key is."""
    return config_dir() / KEY_FILE


def own_key(file: Path | None = None) -> SigningKey:
    """The user's key, made at its first use; raises `AddinError` for a file that holds none."""
    file = key_file() if file is None else file
    try:
        if not file.exists():
            _make(file)
        return SigningKey(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(file.read_text("ascii").strip())))
    except OSError as error:
        raise AddinError(f"the key for signatures in {file} cannot be used: {error.strerror}") from None
    except ValueError:
        raise AddinError(
            f"{file} holds no key for signatures; restore it, or move it away to begin with a new key"
        ) from None


def known_public_key(file: Path | None = None) -> str | None:
    """The public half of the user's key; None where there is no key yet."""
    file = key_file() if file is None else file
    return own_key(file).public if file.exists() else None


def is_signed(public_key: str, signature: str, data: bytes) -> bool:
    """Return whether `signature` is that of `data` by the key whose public half this is."""
    try:
        raw = bytes.fromhex(public_key)
        if is_weak(raw):
            return False
        Ed25519PublicKey.from_public_bytes(raw).verify(bytes.fromhex(signature), data)
    except (InvalidSignature, ValueError):
        return False
    return True


def is_weak(raw: bytes) -> bool:
    """Return whether a public key is none that a private key belongs to: a point of small order, or not 32 bytes."""
    return len(raw) != 32 or (int.from_bytes(raw, "little") & (2**255 - 1)) % _FIELD in _WEAK


def fingerprint(public_key: str) -> str:
    """A short name of a key for people to compare, in groups of four: half of the SHA-256 of its 32 bytes.

    >>> fingerprint("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    '21fe-31df-a154-a261-626b-f854-046f-d227'
    """
    try:
        raw = bytes.fromhex(public_key)
    except ValueError:
        raw = public_key.encode()  # lines that were altered may hold anything
    digits = hashlib.sha256(raw).hexdigest()[:_FINGERPRINT]
    return "-".join(digits[at : at + 4] for at in range(0, _FINGERPRINT, 4))


def _make(file: Path) -> None:
    """Make a key, unless another process makes one at the same moment: then theirs is used."""
    draft = file.with_name(f"{file.name}.new-{os.getpid()}")
    write_private(draft, Ed25519PrivateKey.generate().private_bytes_raw().hex().encode())
    try:
        os.link(draft, file)
    except FileExistsError:
        pass
    except OSError:  # a file system without hard links
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
