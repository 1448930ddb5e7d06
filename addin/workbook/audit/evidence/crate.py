"""A folder of evidence: the bodies that the service sent, described as an RO-Crate with the words of W3C PROV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import orjson

from addin.workbook.audit.evidence.exchanges import Exchange
from addin.workbook.audit.evidence.recording import EvidenceError
from addin.workbook.audit.trusted import iso

METADATA = "ro-crate-metadata.json"
BODIES = "bodies"
_CONTEXT = ["https://w3id.org/ro/crate/1.1/context", {"prov": "http://www.w3.org/ns/prov#"}]
_PROFILE = "https://w3id.org/ro/crate/1.1"


def write_crate(folder: Path, exchanges: Sequence[Exchange], *, book: str, service: str, at: float) -> None:
    """Describe the bodies in the folder; what an earlier run described there stays. Raises `EvidenceError`."""
    try:
        known = read_crate(folder) if (folder / METADATA).exists() else []
        every = [*known, *(each for each in exchanges if each not in known)]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / METADATA).write_bytes(
            orjson.dumps(_metadata(every, book=book, service=service, at=at), option=orjson.OPT_INDENT_2)
        )
    except OSError as error:
        raise EvidenceError(f"the evidence in {folder} could not be written ({error.strerror})") from None


def _metadata(exchanges: Sequence[Exchange], *, book: str, service: str, at: float) -> dict[str, Any]:
    files = {each.sha256: each for each in exchanges}
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"What {service or 'the service'} answered for {book}",
        "description": "The bodies of the service's answers, from which the signed numbers can be worked out again.",
        "datePublished": iso(at),
        "license": "The terms of the service apply.",
        "hasPart": [{"@id": f"{BODIES}/{digest}"} for digest in files],
        "mentions": [{"@id": f"#request-{number}"} for number, _ in enumerate(exchanges, 1)],
    }
    about = {
        "@id": METADATA,
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": {"@id": _PROFILE},
    }
    return {
        "@context": _CONTEXT,
        "@graph": [
            about,
            root,
            *(_file(each) for each in files.values()),
            *(_action(number, each) for number, each in enumerate(exchanges, 1)),
        ],
    }


def _file(exchange: Exchange) -> Mapping[str, Any]:
    return {
        "@id": f"{BODIES}/{exchange.sha256}",
        "@type": ["File", "prov:Entity"],
        "name": exchange.address,
        "encodingFormat": exchange.headers.get("content-type", "application/json"),
        "sha256": exchange.sha256,
    }


def _action(number: int, exchange: Exchange) -> Mapping[str, Any]:
    return {
        "@id": f"#request-{number}",
        "@type": ["CreateAction", "prov:Activity"],
        "name": f"GET {exchange.address}",
        "startTime": iso(exchange.sent_at),
        "endTime": iso(exchange.received_at),
        "prov:startedAtTime": iso(exchange.sent_at),
        "prov:endedAtTime": iso(exchange.received_at),
        "prov:generated": {"@id": f"{BODIES}/{exchange.sha256}"},
        "result": {"@id": f"{BODIES}/{exchange.sha256}"},
        "exchange": msgspec.to_builtins(exchange),
    }


def read_crate(folder: Path) -> list[Exchange]:
    """The requests that a folder describes, in their order; raises `EvidenceError`."""
    try:
        graph = orjson.loads((folder / METADATA).read_bytes())["@graph"]
        return [msgspec.convert(each["exchange"], Exchange) for each in graph if "exchange" in each]
    except FileNotFoundError:
        raise EvidenceError(f"{folder} holds no evidence: there is no {METADATA}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EvidenceError(f"the evidence in {folder} cannot be read ({error})") from None


def body_in(folder: Path, digest: str) -> bytes | None:
    """The body with this digest; None where it is missing."""
    file = folder / BODIES / digest
    if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
        return None
    try:
        return file.read_bytes()
    except OSError:
        return None
