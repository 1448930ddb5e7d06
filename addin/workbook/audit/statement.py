"""The statement about the file: the digest of each of its parts, signed in the envelope that other tools read too.

It is an in-toto statement in a DSSE envelope. Its subjects are the book and each part of its package, but for the part
that holds the signed lines and the statement itself; these lines it names by their hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from addin.workbook.audit.chain import Block
from addin.workbook.audit.keys import SigningKey, is_weak
from addin.workbook.ooxml.package import Package

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:dataservice-addin:signed-workbook:v2"


@dataclass(frozen=True, slots=True)
class FileCheck:
    """The parts of a file beside those that were signed."""

    is_as_signed: bool = False
    changed: list[str] = field(default_factory=list)
    """Parts with other bytes, that are missing, or that nobody signed."""
    problem: str = ""
    """What is wrong with the statement itself."""


def part_digests(package: Package, changed: Mapping[str, bytes], *, without: str) -> dict[str, str]:
    """The SHA-256 of each part of the package as it will be written with these `changed` parts."""
    found = {
        name: package.digest(name)
        for name in package.parts()
        if name not in changed and name != without and not name.endswith("/")
    }
    found |= {name: hashlib.sha256(content).hexdigest() for name, content in changed.items() if name != without}
    return dict(sorted(found.items()))


def whole_digest(parts: Mapping[str, str]) -> str:
    """One digest for all parts: `dirHash` of in-toto, which is Go's hash of a folder in hexadecimal digits."""
    lines = (f"{digest}  {name}\n" for name, digest in sorted(parts.items()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def stating(
    key: SigningKey, book: str, parts: Mapping[str, str], lines_part: str, about: Mapping[str, Any]
) -> Callable[[str], dict[str, Any]]:
    """Return what makes the signed statement about a file with these `parts` from the hash of its lines."""

    def state(lines_hash: str) -> dict[str, Any]:
        statement = {
            "_type": STATEMENT_TYPE,
            "subject": [
                {"name": book, "digest": {"dirHash": whole_digest(parts)}},
                *({"name": f"/{name}", "digest": {"sha256": digest}} for name, digest in parts.items()),
            ],
            "predicateType": PREDICATE_TYPE,
            "predicate": {**about, "lines": {"sha256": lines_hash}, "without": f"/{lines_part}"},
        }
        return _enveloped(orjson.dumps(statement), key)

    return state


def _enveloped(payload: bytes, key: SigningKey) -> dict[str, Any]:
    from securesystemslib.dsse import Envelope
    from securesystemslib.signer import CryptoSigner

    envelope = Envelope(payload, PAYLOAD_TYPE, {})
    envelope.sign(CryptoSigner(key.private))
    return dict(envelope.to_dict())


def statement_in(block: Block) -> dict[str, Any] | str:
    """The statement of a block, or what is wrong with it: it must be signed with the key of the lines, about them."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from securesystemslib.dsse import Envelope
    from securesystemslib.exceptions import Error
    from securesystemslib.signer import SSlibKey

    if block.envelope is None:
        return "it holds no statement about the file"
    try:
        raw = bytes.fromhex(block.public_key)
        if is_weak(raw):
            return "its key is none that could sign"
        envelope = Envelope.from_dict(orjson.loads(orjson.dumps(block.envelope)))
        envelope.verify([SSlibKey.from_crypto(Ed25519PublicKey.from_public_bytes(raw))], 1)
        statement = orjson.loads(envelope.payload)
        if (envelope.payload_type, statement["_type"]) != (PAYLOAD_TYPE, STATEMENT_TYPE):
            return "its statement is of another kind"
        if statement["predicateType"] != PREDICATE_TYPE:
            return "its statement is of another version"
        if statement["predicate"]["lines"]["sha256"] != block.lines_hash:
            return "its statement is about other lines"
    except (Error, ValueError, KeyError, TypeError, AttributeError) as error:
        return f"its statement is not signed as it stands ({type(error).__name__})"
    return dict(statement)


def check_file(package: Package, block: Block, lines_part: str | None) -> FileCheck:
    """Compare the file with the statement of the block; `lines_part` holds the signed lines, if any part does."""
    statement = statement_in(block)
    if isinstance(statement, str):
        return FileCheck(problem=statement)
    subjects = {each["name"]: each["digest"] for each in statement["subject"]}
    signed = {name[1:]: digest["sha256"] for name, digest in subjects.items() if name.startswith("/")}
    if whole_digest(signed) != statement["subject"][0]["digest"].get("dirHash"):
        return FileCheck(problem="its statement names parts that are not those of the book")
    without = lines_part or str(statement["predicate"]["without"])[1:]
    found = part_digests(package, {}, without=without)
    changed = sorted(name for name in {*signed, *found} if signed.get(name) != found.get(name))
    return FileCheck(not changed, changed)
