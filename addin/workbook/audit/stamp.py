"""The time that an authority confirms (RFC 3161): it signs that a block's signature was there at that moment.

A stamp is kept as the authority sent it, so other tools can check it too. What it covers is signed by nobody else: a
stamp that does not fit, that another authority made, or whose time is not that of the signature is told.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from addin.errors import AddinError
from dataservice.extras import install_command

MAX_APART_S = 300.0
"""How far the authority's clock and this machine's may be apart, and how long signing may take until the stamp."""

TIMEOUT_S = 10.0
"""How long the authority may take: a slow one must not hold up the books that are signed."""

MAX_BYTES = 256 * 1024
"""An answer has a few thousand bytes, with its certificates."""


class StampError(AddinError):
    """There is no time stamp: the authority refused, was not reached, or sent one that does not count."""


@dataclass(frozen=True, slots=True)
class Stamped:
    """The result of checking a time stamp."""

    at: str = ""
    """The confirmed time, in UTC; empty where nothing confirms one."""
    authority: str = ""
    """The name in the certificate that confirms it."""
    problem: str = ""
    """What is wrong with it."""
    note: str = ""
    """Why it could not be checked, or why there is none."""


class TimeStamper:
    """Asks one authority for stamps; once it failed it is not asked again, so that a run with many books goes on.

    `authorities` is a file of certificates (PEM) of which one has to stand behind each stamp; `verify` is whom https
    trusts. Raises `AddinError` if that file cannot be used, or the package that reads stamps is missing.
    """

    def __init__(
        self,
        address: str,
        authorities: Path,
        *,
        timeout_s: float = TIMEOUT_S,
        verify: Any = True,
    ) -> None:
        _ = _library()
        self.address = address
        self.name = urlsplit(address).netloc.rpartition("@")[2]
        """How lines name the authority: without a password or a token that its address may hold."""
        self._roots = _certificates(authorities)
        self._client = httpx.Client(timeout=timeout_s, verify=verify)
        self._failed = ""

    def stamp(self, content: bytes, at: str) -> str:
        """The authority's stamp for what is signed at the time `at`; raises `StampError`."""
        if self._failed:
            raise StampError(self._failed)
        try:
            return self._stamp(content, at)
        except StampError as error:
            self._failed = str(error)
            raise

    def _stamp(self, content: bytes, at: str) -> str:
        library = _library()
        request = library.TimestampRequestBuilder().data(content).hash_algorithm(library.HashAlgorithm.SHA256).build()
        answer = self._asked(request.as_bytes())
        verifier = library.VerifierBuilder.from_request(request)
        checked = _checked(answer, content, at, verifier, self._roots)
        if checked.problem:
            raise StampError(f"the time-stamping authority {self.name}: {checked.problem}")
        return base64.b64encode(answer).decode()

    def _asked(self, request: bytes) -> bytes:
        headers = {"content-type": "application/timestamp-query", "accept": "application/timestamp-reply"}
        try:
            with self._client.stream("POST", self.address, content=request, headers=headers) as response:
                if response.status_code != httpx.codes.OK:
                    raise StampError(
                        f"the time-stamping authority {self.name} answered with status {response.status_code}"
                    )
                body = bytearray()
                for piece in response.iter_bytes():
                    body += piece
                    if len(body) > MAX_BYTES:
                        raise StampError(f"the time-stamping authority {self.name} sent more than a stamp")
                return bytes(body)
        except httpx.TimeoutException:
            raise StampError(f"the time-stamping authority {self.name} did not answer in time") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise StampError(f"the time-stamping authority {self.name} was not reached ({error})") from None


def check_stamp(begin: Mapping[str, Any], content: bytes, stamp: str | None, authorities: Path | None) -> Stamped:
    """Check the stamp of a block, whose first line is `begin`; raises `AddinError` for unusable `authorities`.

    A block without a stamp confirms no time. One whose first line names an authority must have one.
    """
    if why := begin.get("not_stamped"):
        return Stamped(note=f"when this was signed, no time stamp was had: {why}")
    named = begin.get("stamped_by")
    if stamp is None:
        return Stamped(problem=f"the time stamp of {named} is missing" if named else "")
    if authorities is None:
        return Stamped(
            note="it holds a time stamp that was not checked: say whom to trust in the setting stamp_ca_file"
        )
    try:
        library = _library()
    except AddinError as error:
        return Stamped(note=f"it holds a time stamp that was not checked: {error}")
    try:
        answer = base64.b64decode(stamp, validate=True)
    except ValueError:
        return Stamped(problem="its time stamp cannot be read")
    found = _checked(answer, content, str(begin.get("at")), library.VerifierBuilder(), _certificates(authorities))
    return Stamped(problem=f"its time stamp does not count: {found.problem}") if found.problem else found


def _checked(answer: bytes, content: bytes, at: str, verifier: Any, roots: list[Any]) -> Stamped:
    """Return what an answer confirms of this content, signed at the time `at` by the signer's own word."""
    library = _library()
    try:
        response = library.decode_timestamp_response(answer)
        if response.status != library.PKIStatus.GRANTED:
            told = ", ".join(map(str, response.status_string)) or f"status {response.status}"
            return Stamped(problem=f"it refused ({told[:200]})")
        for root in roots:
            verifier = verifier.add_root_certificate(root)
        verifier.build().verify_message(response, content)
        confirmed = response.tst_info.gen_time
        apart = confirmed.timestamp() - datetime.fromisoformat(at).timestamp()
    except library.VerificationError as error:
        return Stamped(problem=f"it is not that of a trusted authority about these lines ({error})")
    except (ValueError, TypeError, OverflowError) as error:
        return Stamped(problem=f"it cannot be read ({error})")
    when = confirmed.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    if abs(apart) > MAX_APART_S:
        return Stamped(problem=f"it is of {when}, while this was signed at {at} by the signer's own clock")
    return Stamped(when, _signer(response))


def _signer(response: Any) -> str:
    """The name of the authority's certificate, of which the stamp was made."""
    from cryptography.x509 import load_der_x509_certificate

    made_with = {(each.issuer, each.serial_number) for each in response.signed_data.signer_infos}
    certificates = map(load_der_x509_certificate, response.signed_data.certificates)
    named = [each.subject.rfc4514_string() for each in certificates if (each.issuer, each.serial_number) in made_with]
    return named[0] if named else ""


def _certificates(file: Path) -> list[Any]:
    from cryptography.x509 import load_pem_x509_certificates

    try:
        found = load_pem_x509_certificates(file.read_bytes())
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "holds no certificate in PEM form"
        raise AddinError(f"the setting stamp_ca_file cannot be used: {file} {why}") from None
    return list(dict.fromkeys(found))


def _library() -> Any:
    try:
        import rfc3161_client
    except ImportError:
        raise AddinError(f"time stamps need one more package: {install_command('timestamp')}") from None
    return rfc3161_client
