"""`addin calc-extension` writes an extension that finds the backend of this machine."""

import json
import zipfile

import pytest

from tests.addin.commands import addin, environment

PACKAGE = "pythonpath/dataservice_addin_ds/"


@pytest.fixture
def built(tmp_path):
    """Return what builds an extension and reads what it knows, and the files in it."""

    def build(*options: str) -> tuple[dict, set[str]]:
        done = addin("calc-extension", str(tmp_path / "ds.oxt"), *options, environ=environment(tmp_path, port="9911"))
        assert done.returncode == 0, done.stderr
        with zipfile.ZipFile(tmp_path / "ds.oxt") as file:
            return json.loads(file.read(f"{PACKAGE}built.json")), set(file.namelist())

    return build


def test_it_knows_the_backends_port_and_trusts_its_certificate(built):
    known, files = built()
    assert known["url"] == "https://localhost:9911"
    assert f"{PACKAGE}ca.pem" in files


def test_plain_http_needs_no_certificate(built):
    known, files = built("--http")
    assert known["url"] == "http://localhost:9911"
    assert f"{PACKAGE}ca.pem" not in files


def test_a_shared_backend_is_named_by_its_address(built):
    known, files = built("--url", "https://data.example/")
    assert known["url"] == "https://data.example"
    assert f"{PACKAGE}ca.pem" not in files


def test_a_file_without_a_certificate_is_refused(tmp_path):
    (tmp_path / "ca.pem").write_text("hello")
    done = addin(
        "calc-extension", "x.oxt", "--ca", str(tmp_path / "ca.pem"), environ=environment(tmp_path), cwd=tmp_path
    )
    assert done.returncode == 1
    assert "holds no certificate" in done.stderr


def test_a_place_that_cannot_be_written_is_told(tmp_path):
    done = addin("calc-extension", str(tmp_path / "no" / "x.oxt"), "--http", environ=environment(tmp_path))
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
