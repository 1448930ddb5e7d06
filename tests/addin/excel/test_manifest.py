"""The manifest: right as we write it, and what is wrong with one is told."""

import pytest

from addin.config.settings import Settings
from addin.errors import AddinError
from addin.excel.assets import STATIC
from addin.excel.manifest import ADDIN_ID, local_url, manifest, shortcuts
from addin.excel.manifest_check import problems
from dataservice.version import office_version

GOOD = manifest(base_url="https://localhost:8765")


@pytest.mark.parametrize("base_url", ["https://localhost:8765", "https://data.example/excel/", "https://[::1]:9"])
def test_our_manifest_has_no_problems_wherever_the_backend_is(base_url):
    assert problems(manifest(base_url=base_url, namespace="DS")) == []


def test_every_address_is_the_backends():
    assert GOOD.count("https://") == GOOD.count("https://localhost:8765")


def test_values_are_escaped():
    assert "&amp;" in manifest(base_url="https://localhost/a&b")
    assert problems(manifest(base_url="https://localhost/a&b")) == []


@pytest.mark.parametrize("base_url", ["http://localhost:8765", "localhost", "", "ftp://x", "https://"])
def test_an_address_that_excel_would_not_load_is_refused(base_url):
    with pytest.raises(AddinError, match="https only"):
        manifest(base_url=base_url)


def test_the_namespace_is_the_settings():
    assert 'id="Functions.Namespace" DefaultValue="ACME"' in manifest(base_url="https://x.example", namespace="ACME")


def test_the_version_has_four_numbers():
    assert office_version().count(".") == 3


def test_the_address_is_the_public_one_or_this_machine():
    assert local_url(Settings(port=9000)) == "https://localhost:9000"
    assert local_url(Settings(public_url="https://data.example/")) == "https://data.example"


def test_the_shortcut_starts_an_action_that_the_page_associates():
    told = shortcuts()
    actions = {action["id"] for action in told["actions"]}
    assert {shortcut["action"] for shortcut in told["shortcuts"]} == actions
    triggers = (STATIC / "workbook/triggers.js").read_text(encoding="utf-8")
    assert all(f"  {action}: {{" in triggers for action in actions)
    assert 'Url="https://localhost:8765/shortcuts.json"' in GOOD


WRONG = {
    "not well-formed": (GOOD, GOOD[:-20]),
    "not an add-in-only manifest": ("TaskPaneApp", "MailApp"),
    "is not a GUID": (ADDIN_ID, "not-a-guid"),
    "not of the form 1.0.0.0": (f"<Version>{office_version()}", "<Version>one"),
    "is not an https address": ("https://localhost:8765/functions.js?", "http://localhost:8765/functions.js?"),
    "stand in the wrong order": ("<ProviderName>", "<DefaultLocale>en-US</DefaultLocale>\n  <ProviderName>"),
    "must not hold": ("<DefaultLocale>en-US</DefaultLocale>", "<DefaultLocale>en-US</DefaultLocale><Colour/>"),
    "is used but not defined": ('<FunctionFile resid="Page.Url"/>', '<FunctionFile resid="Other.Url"/>'),
    "is defined but not used": ("</bt:Urls>", '<bt:Url id="Spare" DefaultValue="https://x.example"/></bt:Urls>'),
    "is defined twice": ("</bt:Urls>", '<bt:Url id="Page.Url" DefaultValue="https://x.example"/></bt:Urls>'),
    "is longer than 32 characters": ("Functions.Namespace", "Functions.Namespace.That.Is.Far.Too.Long"),
    "must name one page": ('<FunctionFile resid="Page.Url"/>', '<FunctionFile resid="Help.Url"/>'),
    "FunctionFile is missing": ('<FunctionFile resid="Page.Url"/>', ""),
    "SharedRuntime is missing": ('<Set Name="SharedRuntime"', '<Set Name="ExcelApi"'),
    "1 to 125 are allowed": ('DefaultValue="Refresh only"', f'DefaultValue="{"x" * 126}"'),
    "1 to 250 are allowed": ('DefaultValue="Bring this sheet up to date."', f'DefaultValue="{"x" * 251}"'),
    "has 0 characters": ('DefaultValue="Refresh only"', 'DefaultValue=""'),
    "an icon has the sizes": ('<bt:Image size="80" resid="Refresh.80"/>', ""),
    "there is no icon": ("icons/refresh-80.png", "icons/refreshing-80.png"),
    "is not 80 pixels wide": ("icons/refresh-80.png", "icons/refresh-64.png"),
    "no script associates the function 'refreshAll'": ("<FunctionName>refreshSheet", "<FunctionName>refreshAll"),
    "not to functions.json": ("/functions.json", "/functions.yaml"),
    "cannot stand in a formula": ('DefaultValue="DS"', 'DefaultValue="D S"'),
}


@pytest.mark.parametrize("told", WRONG)
def test_what_is_wrong_with_a_manifest_is_told(told):
    right, wrong = WRONG[told]
    assert right in GOOD
    found = problems(GOOD.replace(right, wrong))
    assert any(told in problem for problem in found), found


def test_a_manifest_cannot_make_us_read_other_files():
    text = GOOD.replace("?>", '?><!DOCTYPE x [<!ENTITY secret SYSTEM "file:///etc/hostname">]>', 1)
    found = problems(text.replace(ADDIN_ID, "&secret;"))
    assert any("Id '' is not a GUID" in problem for problem in found)


def test_the_addresses_of_the_functions_carry_the_version_so_that_excel_loads_new_ones():
    for name in ("functions.js", "functions.json"):
        assert f'DefaultValue="https://localhost:8765/{name}?v={office_version()}"' in GOOD
