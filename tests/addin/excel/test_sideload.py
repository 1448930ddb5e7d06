"""Giving the manifest to Excel, and telling systems to trust our authority."""

import shutil
import subprocess
from pathlib import Path

import pytest

from addin.excel.manifest import ADDIN_ID
from addin.excel.sideload import DEVELOPER_KEY, MAC_FOLDER, into_mac_folder, into_registry
from addin.tls.certificates import AUTHORITY_NAME, Certificates
from addin.tls.trust import Step, distrust, run, trust_check, trust_steps, untrust_steps
from tests.addin.tls.test_certificates import NOW


class Registry:
    def __init__(self):
        self.values = {}

    def set_value(self, key, name, text):
        self.values[key, name] = text

    def delete_value(self, key, name):
        return self.values.pop((key, name), None) is not None


def test_excel_for_windows_finds_the_manifest_in_the_registry_until_it_is_removed():
    registry = Registry()
    assert into_registry(registry, Path("manifest.xml")) is True
    assert registry.values == {(DEVELOPER_KEY, ADDIN_ID): "manifest.xml"}
    assert into_registry(registry, None) is True
    assert registry.values == {}
    assert into_registry(registry, None) is False


def test_excel_for_mac_finds_the_manifest_in_its_folder_until_it_is_removed(tmp_path):
    file = into_mac_folder(tmp_path, "<manifest/>")
    assert file == tmp_path / MAC_FOLDER / f"{ADDIN_ID}.xml"
    assert file.read_text() == "<manifest/>"
    assert into_mac_folder(tmp_path, None) == file
    assert not file.exists()
    assert into_mac_folder(tmp_path, None) is None


@pytest.mark.parametrize("system", ["windows", "mac"])
def test_each_system_is_told_by_its_own_tool(system, tmp_path):
    authority = tmp_path / "authority.pem"
    (trust,) = trust_steps(system, authority, home=tmp_path)
    (untrust,) = untrust_steps(system, "AB12", home=tmp_path)
    assert str(authority) in trust.command
    assert "AB12" in untrust.command
    check = trust_check(system, authority, "AB12", home=tmp_path)
    assert {"AB12", str(authority)} & set(check.command)
    tools = {step.command[0] for step in (trust, untrust, check)}
    assert tools == {{"windows": "certutil", "mac": "security"}[system]}


def test_what_was_never_made_is_not_trusted(tmp_path):
    assert distrust(Certificates(tmp_path)) == "there is none"


def test_a_tool_that_is_missing_or_fails_is_told():
    assert run([Step(("no-such-tool-here",), "x")]) == "there is no no-such-tool-here here"
    assert run([Step(("python3", "-c", "raise SystemExit('no rights')"), "x")]) == "python3 ended with 1: no rights"
    assert run([Step(("python3", "-c", ""), "x")]) is None


@pytest.mark.skipif(shutil.which("certutil") is None, reason="no certutil here")
def test_chromium_on_linux_comes_to_trust_the_authority_and_forgets_it(tmp_path):
    own = Certificates(tmp_path / "certificates")
    own.ensure(NOW)
    database = tmp_path / ".pki/nssdb"
    database.mkdir(parents=True)
    for _ in range(2):
        assert run(trust_steps("linux", own.authority, home=tmp_path)) is None
    check = trust_check("linux", own.authority, "", home=tmp_path)
    assert run([check]) is None
    listing = ["certutil", "-d", f"sql:{database}", "-L"]
    assert AUTHORITY_NAME in subprocess.run(listing, capture_output=True, text=True, check=True).stdout
    assert run(untrust_steps("linux", "", home=tmp_path)) is None
    assert run([check]) is not None
    assert AUTHORITY_NAME not in subprocess.run(listing, capture_output=True, text=True, check=True).stdout
