"""The commands for Excel, run as users run them."""

import pytest

from addin.excel.manifest import ADDIN_ID
from tests.addin.commands import addin, environment


@pytest.fixture
def user(tmp_path):
    return environment(tmp_path)


def test_a_manifest_is_printed_and_found_good(user):
    printed = addin("manifest", environ=user)
    assert ADDIN_ID in printed.stdout
    checked = addin("manifest", "--check", "-", environ=user, given=printed.stdout)
    assert (checked.returncode, checked.stdout) == (0, "The manifest is good.\n")


def test_a_manifest_is_written_for_a_shared_backend(user, tmp_path):
    file = tmp_path / "manifest.xml"
    done = addin("manifest", "-o", str(file), "--base-url", "https://data.example/excel", environ=user)
    assert done.returncode == 0, done.stderr
    assert "https://data.example/excel/functions.json" in file.read_text()
    assert addin("manifest", "--check", str(file), environ=user).returncode == 0


@pytest.mark.parametrize("given", ["", "<html/>", "not xml"])
def test_a_wrong_manifest_ends_with_1_and_what_is_wrong(user, given):
    done = addin("manifest", "--check", "-", environ=user, given=given)
    assert done.returncode == 1
    assert done.stdout.strip()


def test_an_address_without_https_is_refused_in_one_sentence(user):
    done = addin("manifest", "--base-url", "http://data.example", environ=user)
    assert done.returncode == 1
    assert done.stderr.startswith("addin: Excel loads add-ins over https only")
    assert "Traceback" not in done.stderr


def test_a_file_that_is_not_there_is_told(user):
    done = addin("manifest", "--check", "nowhere.xml", environ=user)
    assert done.stderr == "addin: nowhere.xml cannot be read: No such file or directory\n"


def test_certificates_are_made_shown_and_removed_without_asking_where_nobody_can_answer(user):
    assert addin("certs", "show", environ=user).returncode == 1
    made = addin("certs", "install", environ=user)
    assert made.returncode == 0, made.stderr
    assert "authority.pem" in made.stdout
    shown = addin("certs", "show", environ=user)
    assert "fingerprint" in shown.stdout
    assert "Deleted from" in addin("certs", "remove", environ=user).stdout
    assert "There was no certificate" in addin("certs", "remove", environ=user).stdout


@pytest.mark.skipif("sys.platform != 'linux'")
def test_where_there_is_no_excel_the_way_by_the_web_is_told(user, tmp_path):
    done = addin("sideload", environ=user)
    assert "Upload My Add-in" in done.stdout
    assert ADDIN_ID in (tmp_path / "config/dataservice-addin/manifest.xml").read_text()
    assert "Remove" in addin("sideload", "--remove", environ=user).stdout
