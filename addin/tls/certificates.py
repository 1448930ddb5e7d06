"""Certificates for https on this machine: an authority of our own that can vouch for this machine only, and a
certificate for localhost, renewed before it ends.

Nothing here is secret but the two private keys, which are readable for the user alone. The authority is constrained
to loopback names: even stolen, it cannot vouch for any other site.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from addin.config.settings import Settings, config_dir

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


@dataclass(frozen=True, slots=True)
class Certificates:
    """The files of the authority and of the certificate for localhost, in one folder of the user's."""

    folder: Path

    @property
    def authority(self) -> Path:
        """The authority's certificate: what the system is told to trust."""
        return self.folder / "authority.pem"

    @property
    def authority_key(self) -> Path:
        """The authority's private key."""
        return self.folder / "authority.key"

    @property
    def leaf(self) -> Certificate:
        """The certificate for localhost, and its private key."""
        return Certificate(self.folder / "localhost.pem", self.folder / "localhost.key")

    def ensure(self, now: dt.datetime) -> Certificate:
        """The certificate for localhost, made or renewed where need be; an authority that is there is kept."""
        if not self._is_good(self.authority, self.authority_key, now, dt.timedelta(days=LEAF_DAYS)):
            self._make_authority(now)
        leaf = self.leaf
        if not (self._is_good(leaf.certificate, leaf.private_key, now, dt.timedelta(days=RENEW_DAYS)) and self._ours()):
            self._make_leaf(now)
        return leaf

    def remove(self) -> bool:
        """Delete all four files; whether there were any."""
        files = (self.authority, self.authority_key, self.leaf.certificate, self.leaf.private_key)
        there = [file for file in files if file.exists()]
        for file in there:
            file.unlink()
        return bool(there)

    def ends(self) -> dt.datetime | None:
        """When the certificate for localhost ends; None where there is none."""
        certificate = _certificate_in(self.leaf.certificate)
        return certificate.not_valid_after_utc if certificate else None

    def fingerprint(self) -> str | None:
        """The authority's SHA-1 fingerprint, by which Windows and macOS name it; None where there is none."""
        certificate = _certificate_in(self.authority)
        # Not a protection: only a name that both systems' tools take.
        return certificate.fingerprint(hashes.SHA1()).hex().upper() if certificate else None  # noqa: S303

    def _is_good(self, file: Path, key_file: Path, now: dt.datetime, needed: dt.timedelta) -> bool:
        certificate, key = _certificate_in(file), _key_in(key_file)
        if certificate is None or key is None or certificate.public_key() != key.public_key():
            return False
        return certificate.not_valid_before_utc <= now and now + needed < certificate.not_valid_after_utc

    def _ours(self) -> bool:
        """Whether the certificate was made by the authority that is there now."""
        authority, leaf = _certificate_in(self.authority), _certificate_in(self.leaf.certificate)
        if authority is None or leaf is None:
            return False
        try:
            leaf.verify_directly_issued_by(authority)
        except (InvalidSignature, ValueError, TypeError):
            return False
        return True

    def _make_authority(self, now: dt.datetime) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        _write(self.authority_key, _key_text(key))
        _write(self.authority, _authority(key, now).public_bytes(serialization.Encoding.PEM))

    def _make_leaf(self, now: dt.datetime) -> None:
        authority, authority_key = _certificate_in(self.authority), _key_in(self.authority_key)
        assert authority is not None  # noqa: S101 - made just before
        assert authority_key is not None  # noqa: S101
        key = ec.generate_private_key(ec.SECP256R1())
        _write(self.leaf.private_key, _key_text(key))
        _write(
            self.leaf.certificate, _leaf(key, authority, authority_key, now).public_bytes(serialization.Encoding.PEM)
        )


def certificates(folder: Path | None = None) -> Certificates:
    """The certificates of this user."""
    return Certificates(folder or config_dir() / "certificates")


def local_certificate(settings: Settings) -> Certificate:  # noqa: ARG001 - every port and namespace has the same one
    """The certificate that the backend shows on this machine, made or renewed where need be."""
    return certificates().ensure(dt.datetime.now(dt.UTC))


def _authority(key: Key, now: dt.datetime) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, AUTHORITY_NAME)])
    subtrees: list[x509.GeneralName] = [x509.DNSName(dns) for dns in DNS_NAMES]
    subtrees += [x509.IPAddress(ipaddress.ip_network(address)) for address in ADDRESSES]
    return (
        _builder(name, name, key, now, dt.timedelta(days=365 * AUTHORITY_YEARS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(x509.NameConstraints(permitted_subtrees=subtrees, excluded_subtrees=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )


def _leaf(key: Key, authority: x509.Certificate, authority_key: Key, now: dt.datetime) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, DNS_NAMES[0])])
    names: list[x509.GeneralName] = [*map(x509.DNSName, DNS_NAMES), *map(x509.IPAddress, ADDRESSES)]
    issuer_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    return (
        _builder(subject, authority.subject, key, now, dt.timedelta(days=LEAF_DAYS))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(issuer_key, critical=False)
        .sign(authority_key, hashes.SHA256())
    )


def _builder(
    subject: x509.Name, issuer: x509.Name, key: Key, now: dt.datetime, lifetime: dt.timedelta
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now - CLOCK_SKEW + lifetime)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _key_text(key: Key) -> bytes:
    encryption = serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)


def _write(file: Path, content: bytes) -> None:
    """Write a file that is never there half, and never readable for others."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as opened:
        opened.write(content)
    draft.replace(file)


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
