"""Certificates for https on this machine: an authority of our own that can vouch for this machine only, and a
certificate for localhost, renewed before it expires.

Only the two private keys are secret; only the user can read them. The authority is constrained to loopback names: even
if it is stolen, it cannot vouch for any other site.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from addin.config.settings import config_dir, write_private

AUTHORITY_NAME = "Data Service add-in, this machine only"
"""What the system's list of trusted authorities shows."""

AUTHORITY_YEARS = 10
LEAF_DAYS = 397
"""Browsers refuse certificates that live longer than 398 days."""
RENEW_DAYS = 30
"""A certificate is renewed when it has less than this left."""
CLOCK_SKEW = dt.timedelta(hours=1)

DNS_NAMES = ("localhost",)
ADDRESSES = (ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("::1"))

Key: TypeAlias = ec.EllipticCurvePrivateKey


@dataclass(frozen=True, slots=True)
class Certificate:
    """The files of a TLS certificate and its private key, in PEM form."""

    certificate: Path
    private_key: Path


KNOWN_AUTHORITIES = "authorities"
"""The folder, among the settings, of the authorities that a system may trust; without their keys."""


class Certificates:
    """The authority and the certificate for localhost, as files in one folder of the user's."""

    def __init__(self, folder: Path, *, known: Path | None = None) -> None:
        self.folder = folder
        self._known = known or folder.with_name(f"{folder.name}-{KNOWN_AUTHORITIES}")
        self.authority = folder / "authority.pem"
        """The authority's certificate, which the system is asked to trust."""
        self.authority_key = folder / "authority.key"
        self.leaf = Certificate(folder / "localhost.pem", folder / "localhost.key")
        """The certificate for localhost."""

    def ensure(self, now: dt.datetime) -> Certificate:
        """The certificate for localhost, made or renewed if necessary; a valid authority is kept."""
        authority = _valid_pair(self.authority, self.authority_key, now, dt.timedelta(days=LEAF_DAYS))
        if authority is None:
            key = ec.generate_private_key(ec.SECP256R1())
            authority = _authority(key, now), key
            _write_pair(self.authority, self.authority_key, *authority)
        self._remember(authority[0])
        leaf = self.leaf
        found = _valid_pair(leaf.certificate, leaf.private_key, now, dt.timedelta(days=RENEW_DAYS))
        if found is None or not _issued_by(found[0], authority[0]):
            key = ec.generate_private_key(ec.SECP256R1())
            _write_pair(leaf.certificate, leaf.private_key, _leaf(key, *authority, now), key)
        return leaf

    def remembered(self) -> dict[str, Path]:
        """Every authority that was ever made here and that the system may still trust, by its SHA-1 fingerprint."""
        found = {path.stem: path for path in sorted(self._known.glob("*.pem"))}
        current = self.fingerprint()
        return found if current is None else {**found, current: self.authority}

    def forget(self, fingerprint: str) -> None:
        """Remember an authority no more: the system does not trust it."""
        (self._known / f"{fingerprint}.pem").unlink(missing_ok=True)
        with suppress(OSError):  # others are still in there
            self._known.rmdir()

    def _remember(self, authority: x509.Certificate) -> None:
        file = self._known / f"{_fingerprint(authority)}.pem"
        if not file.exists():
            write_private(file, authority.public_bytes(serialization.Encoding.PEM))

    def remember(self) -> None:
        """Remember the authority that is in use now, also after its files are deleted."""
        if (current := _certificate_in(self.authority)) is not None:
            self._remember(current)

    def remove(self) -> bool:
        """Delete all four files; whether there were any. An authority that was remembered stays so."""
        files = (self.authority, self.authority_key, self.leaf.certificate, self.leaf.private_key)
        existing = [file for file in files if file.exists()]
        for file in existing:
            file.unlink()
        return bool(existing)

    def ends(self) -> dt.datetime | None:
        """Return when the certificate for localhost expires."""
        certificate = _certificate_in(self.leaf.certificate)
        return certificate.not_valid_after_utc if certificate else None

    def fingerprint(self) -> str | None:
        """The authority's SHA-1 fingerprint, by which Windows and macOS name it."""
        certificate = _certificate_in(self.authority)
        return _fingerprint(certificate) if certificate else None


def certificates() -> Certificates:
    """The certificates of this user."""
    return Certificates(config_dir() / "certificates", known=config_dir() / KNOWN_AUTHORITIES)


def _fingerprint(certificate: x509.Certificate) -> str:
    # This protects nothing; it is only a name that the tools of both systems accept.
    return certificate.fingerprint(hashes.SHA1()).hex().upper()  # noqa: S303


def _authority(key: Key, now: dt.datetime) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, AUTHORITY_NAME)])
    subtrees: list[x509.GeneralName] = [x509.DNSName(dns) for dns in DNS_NAMES]
    subtrees += [x509.IPAddress(ipaddress.ip_network(address)) for address in ADDRESSES]
    return (
        _builder(name, name, key, now, ca=True)
        .add_extension(x509.NameConstraints(permitted_subtrees=subtrees, excluded_subtrees=None), critical=True)
        .sign(key, hashes.SHA256())
    )


def _leaf(key: Key, authority: x509.Certificate, authority_key: Key, now: dt.datetime) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, DNS_NAMES[0])])
    names: list[x509.GeneralName] = [*map(x509.DNSName, DNS_NAMES), *map(x509.IPAddress, ADDRESSES)]
    issuer_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    return (
        _builder(subject, authority.subject, key, now, ca=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(issuer_key, critical=False)
        .sign(authority_key, hashes.SHA256())
    )


def _builder(subject: x509.Name, issuer: x509.Name, key: Key, now: dt.datetime, *, ca: bool) -> x509.CertificateBuilder:
    usage = x509.KeyUsage(
        digital_signature=not ca,
        key_cert_sign=ca,
        crl_sign=ca,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    constraints = x509.BasicConstraints(ca=ca, path_length=0 if ca else None)
    lifetime = dt.timedelta(days=365 * AUTHORITY_YEARS if ca else LEAF_DAYS)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now - CLOCK_SKEW + lifetime)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(constraints, critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    )


def _write_pair(file: Path, key_file: Path, certificate: x509.Certificate, key: Key) -> None:
    pem = serialization.Encoding.PEM
    encryption = serialization.NoEncryption()
    write_private(key_file, key.private_bytes(pem, serialization.PrivateFormat.PKCS8, encryption))
    write_private(file, certificate.public_bytes(pem))


def _valid_pair(
    file: Path, key_file: Path, now: dt.datetime, needed: dt.timedelta
) -> tuple[x509.Certificate, Key] | None:
    """The certificate and its key, None unless they belong together and stay valid for as long as `needed`."""
    certificate, key = _certificate_in(file), _key_in(key_file)
    if certificate is None or key is None or certificate.public_key() != key.public_key():
        return None
    valid = certificate.not_valid_before_utc <= now and now + needed < certificate.not_valid_after_utc
    return (certificate, key) if valid else None


def _issued_by(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


def _certificate_in(file: Path) -> x509.Certificate | None:
    try:
        return x509.load_pem_x509_certificate(file.read_bytes())
    except (OSError, ValueError):
        return None


def _key_in(file: Path) -> Key | None:
    try:
        key = serialization.load_pem_private_key(file.read_bytes(), password=None)
    except (OSError, ValueError, TypeError):
        return None
    return key if isinstance(key, ec.EllipticCurvePrivateKey) else None
