"""Https on this machine: what is made, who trusts it, when it is renewed."""

import datetime as dt
import os
import ssl

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from addin.backend.serving import listen, running
from addin.tls.certificates import Certificates

NOW = dt.datetime.now(dt.UTC)
DAY = dt.timedelta(days=1)


@pytest.fixture
def own(tmp_path):
    certificates = Certificates(tmp_path / "certificates")
    certificates.ensure(NOW)
    return certificates


def leaf_in(own: Certificates) -> x509.Certificate:
    return x509.load_pem_x509_certificate(own.leaf.certificate.read_bytes())


def authority_in(own: Certificates) -> x509.Certificate:
    return x509.load_pem_x509_certificate(own.authority.read_bytes())


async def hello(_):
    return PlainTextResponse("hello")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_who_trusts_the_authority_reaches_the_backend_by_https(own, host):
    context = ssl.create_default_context(cafile=own.authority)
    with running(Starlette(routes=[Route("/", hello)]), listen("127.0.0.1", 0, own.leaf)) as url:
        assert url.startswith("https://localhost:")
        assert httpx.get(url.replace("localhost", host), verify=context).text == "hello"


def test_who_does_not_trust_it_is_warned(own):
    with (
        running(Starlette(routes=[Route("/", hello)]), listen("127.0.0.1", 0, own.leaf)) as url,
        pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        httpx.get(url)


def test_chromium_accepts_the_certificate_once_it_knows_its_key(own, chromium):
    """Chromium checks names, dates and form of the certificate; the authority's place in a list is all that is told."""
    with (
        running(Starlette(routes=[Route("/", hello)]), listen("127.0.0.1", 0, own.leaf)) as url,
        chromium.page(ignore_https_errors=True) as tab,
    ):
        tab.goto(url)
        assert tab.evaluate("[document.body.innerText, isSecureContext]") == ["hello", True]


def test_the_authority_can_vouch_for_this_machine_only(own):
    constraints = authority_in(own).extensions.get_extension_for_class(x509.NameConstraints)
    assert constraints.critical
    assert {str(name.value) for name in constraints.value.permitted_subtrees} == {
        "localhost",
        "127.0.0.1/32",
        "::1/128",
    }


def test_a_certificate_for_another_site_by_our_authority_is_refused(own, tmp_path):
    authority_key = serialization.load_pem_private_key(own.authority_key.read_bytes(), None)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "bank.example")])
    forged = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(authority_in(own).subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW - DAY)
        .not_valid_after(NOW + DAY)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("bank.example")]), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    verifier = x509.verification.PolicyBuilder().store(x509.verification.Store([authority_in(own)]))
    with pytest.raises(x509.verification.VerificationError):
        verifier.build_server_verifier(x509.DNSName("bank.example")).verify(forged, [])
    assert verifier.build_server_verifier(x509.DNSName("localhost")).verify(leaf_in(own), [])


def test_the_certificate_lives_as_long_as_browsers_allow(own):
    leaf = leaf_in(own)
    assert leaf.not_valid_after_utc - leaf.not_valid_before_utc <= 398 * DAY


@pytest.mark.skipif(os.name != "posix", reason="other systems have other rights")
def test_private_keys_are_readable_for_their_owner_alone(own):
    assert {file.stat().st_mode & 0o777 for file in own.folder.iterdir()} == {0o600}
    assert own.folder.stat().st_mode & 0o777 == 0o700


def test_a_good_certificate_is_kept(own):
    before = leaf_in(own)
    own.ensure(NOW + 300 * DAY)
    assert leaf_in(own) == before


def test_a_certificate_is_renewed_before_it_ends_and_the_authority_stays(own):
    authority, leaf = authority_in(own), leaf_in(own)
    own.ensure(NOW + 380 * DAY)
    assert leaf_in(own) != leaf
    assert authority_in(own) == authority
    assert own.ends() > NOW + 700 * DAY


def test_all_is_made_anew_when_the_authority_ends(own):
    authority = authority_in(own)
    own.ensure(NOW + 10 * 365 * DAY)
    assert authority_in(own) != authority
    leaf_in(own).verify_directly_issued_by(authority_in(own))


@pytest.mark.parametrize("file", ["authority.pem", "authority.key", "localhost.pem", "localhost.key"])
@pytest.mark.parametrize("content", [None, b"", b"not a certificate"])
def test_a_damaged_or_missing_file_is_made_good(own, file, content):
    if content is None:
        (own.folder / file).unlink()
    else:
        (own.folder / file).write_bytes(content)
    leaf = own.ensure(NOW)
    leaf_in(own).verify_directly_issued_by(authority_in(own))
    ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(leaf.certificate, leaf.private_key)


def test_removing_leaves_nothing(own):
    assert own.remove() is True
    assert list(own.folder.iterdir()) == []
    assert own.remove() is False
    assert (own.ends(), own.fingerprint()) == (None, None)


def test_the_fingerprint_is_the_one_systems_show(own):
    assert own.fingerprint() == authority_in(own).fingerprint(hashes.SHA1()).hex().upper()


def test_an_authority_is_remembered_through_its_renewal_until_it_is_forgotten(tmp_path):
    own = Certificates(tmp_path / "certificates", known=tmp_path / "authorities")
    own.ensure(NOW)
    first = own.fingerprint()
    own.ensure(NOW + dt.timedelta(days=365 * 10))
    second = own.fingerprint()
    assert (first != second, set(own.remembered())) == (True, {first, second})
    own.remove()
    assert set(own.remembered()) == {first, second}
    for fingerprint in (first, second):
        own.forget(fingerprint)
    assert (own.remembered(), (tmp_path / "authorities").exists()) == ({}, False)
