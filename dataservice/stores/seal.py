"""Names and payloads as only their owner reads them: AES-SIV for names, which must be found again, else AES-GCM."""

from __future__ import annotations

import base64
import binascii
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESSIV

VERSION = "~1"
"""Ends the readable part of every name, so that a later version never meets bytes that it would read otherwise."""

NAME_KEY_BYTES, PAYLOAD_KEY_BYTES = 64, 32
KEY_BYTES = NAME_KEY_BYTES + PAYLOAD_KEY_BYTES

NONCE_BYTES = 12  # random: the same key may seal four billion payloads before two of them matter
SEAL_BYTES = NONCE_BYTES + 16
"""How much longer a sealed payload is."""

NAME_STEP = 32
"""Names are filled up to a multiple of so many bytes: their lengths tell nothing of a slug."""


class Seal:
    """A seal on names and payloads by `keys`, 96 secret bytes; of a name `scope/rest` the scope stays readable."""

    def __init__(self, keys: bytes) -> None:
        self._names = AESSIV(keys[:NAME_KEY_BYTES])
        self._payloads = AESGCM(keys[NAME_KEY_BYTES:])

    def name(self, name: str) -> str:
        """The sealed name: always the same for the same name."""
        scope = name.partition("/")[0] if "/" in name else ""
        text = name[len(scope) :].encode() + b"\x80"
        filled = text.ljust(-(-len(text) // NAME_STEP) * NAME_STEP, b"\0")
        return f"{scope}{VERSION}/{base64.urlsafe_b64encode(self._names.encrypt(filled, [scope.encode()])).decode()}"

    def opened_name(self, sealed: str) -> str | None:
        """The name that was sealed, or None where these keys do not open it."""
        head, _, token = sealed.partition("/")
        scope = head.removesuffix(VERSION)
        try:
            filled = self._names.decrypt(base64.urlsafe_b64decode(token), [scope.encode()])
        except (InvalidTag, ValueError, binascii.Error):
            return None
        return scope + filled.rstrip(b"\0")[:-1].decode()

    def payload(self, payload: bytes, place: bytes) -> bytes:
        """The sealed payload, which opens only at this `place`."""
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._payloads.encrypt(nonce, payload, place)

    def opened(self, sealed: bytes, place: bytes) -> bytes | None:
        """The payload; None if a byte of it was changed, or if it was sealed with other keys or for another place."""
        try:
            return self._payloads.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], place)
        except (InvalidTag, ValueError):
            return None


def sealed_prefix(prefix: str) -> str:
    """Return what the sealed names of all names with this prefix begin with."""
    scope, slash, _ = prefix.partition("/")
    return f"{scope}{VERSION}/" if slash else ""
