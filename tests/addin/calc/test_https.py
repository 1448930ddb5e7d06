"""Calc trusts the certificate of this machine's own backend, and no other."""

from datetime import UTC, datetime

import httpx
import pytest

from addin.calc.extension import Extension
from addin.calc.soffice import convert
from addin.tls.certificates import Certificates
from tests.addin.calc.books import write_book
from tests.addin.calc.counting import counted_backend
from tests.addin.calc.office import require_soffice


@pytest.fixture
def own(tmp_path):
    """Return certificates made for this test."""
    require_soffice()
    made = Certificates(tmp_path / "certificates")
    made.ensure(datetime.now(UTC))
    return made


@pytest.fixture
def book(tmp_path):
    return write_book(tmp_path / "a.xlsx", {"S": {"A1": '=DS.SIGNAL("us-cpi")', "A2": '=DS.SIGNAL("x",,,"err=text")'}})


def test_the_backends_own_authority_is_trusted(service, tmp_path, own, book):
    with counted_backend(service, tmp_path, certificate=own.leaf) as backend:
        assert backend.url.startswith("https://localhost:")
        extension = Extension(url=backend.url, ca=own.authority.read_bytes())
        shown = convert(book, to="csv", into=tmp_path / "made", extension=extension).read_text().splitlines()
    assert float(shown[0]) > 0
    assert shown[1].startswith('"no signal') or shown[1].startswith("no signal")


def test_an_authority_that_is_not_known_is_refused_and_told(service, tmp_path, own, book):
    with counted_backend(service, tmp_path, certificate=own.leaf) as backend:
        extension = Extension(url=backend.url)
        shown = convert(book, to="csv", into=tmp_path / "made", extension=extension).read_text().splitlines()
        assert backend.paths == []
    assert shown[0] == "#N/A"
    assert "is not trusted" in shown[1]


def test_an_extension_for_https_works_with_a_local_backend_on_plain_http(service, tmp_path, own, book):
    with counted_backend(service, tmp_path) as backend:
        assert httpx.get(f"{backend.url}/health").status_code == 200
        extension = Extension(url=backend.url.replace("http:", "https:"), ca=own.authority.read_bytes())
        shown = convert(book, to="csv", into=tmp_path / "made", extension=extension).read_text().splitlines()
    assert float(shown[0]) > 0
