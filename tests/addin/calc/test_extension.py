"""The extension holds what Calc needs of every function, made from the registry alone."""

import ast
import json
import sys
import zipfile
from io import BytesIO
from xml.etree import ElementTree as ET

import pytest

from addin.calc.configuration import COMMANDS
from addin.calc.extension import Extension, extension_parts, oxt
from udfs import REGISTRY

OOR = "{http://openoffice.org/2001/registry}"
PARTS = extension_parts(Extension(url="http://localhost:8765"))
MODULES = {name: content.decode() for name, content in PARTS.items() if name.endswith(".py")}


def node(tree: ET.Element, *names: str) -> ET.Element:
    for name in names:
        tree = next(child for child in tree if child.get(f"{OOR}name") == name)
    return tree


def prop(tree: ET.Element, name: str) -> str:
    return node(tree, name)[0].text or ""


def test_the_same_registry_gives_the_same_file():
    assert oxt(Extension()) == oxt(Extension())


def test_the_file_is_a_zip_of_all_parts():
    with zipfile.ZipFile(BytesIO(oxt(Extension(url="http://localhost:8765")))) as file:
        assert {name: file.read(name) for name in file.namelist()} == PARTS


@pytest.mark.parametrize("function", REGISTRY.values(), ids=REGISTRY)
def test_every_function_has_its_help_and_the_name_that_excel_stores(function):
    found = node(ET.fromstring(PARTS["CalcAddIns.xcu"]), "AddInInfo", "DS", "AddInFunctions", function.id)
    assert prop(found, "DisplayName") == f"DS.{function.id}"
    assert prop(found, "Description") == function.summary
    assert prop(found, "CompatibilityName") == f"_xldudf_DS_{function.id}"
    parameters = node(found, "Parameters")
    assert [p.get(f"{OOR}name") for p in parameters] == [p.name for p in function.parameters]
    for parameter in function.parameters:
        shown = prop(node(parameters, parameter.name), "Description")
        assert parameter.kind.help[1:] in shown
        assert ("needed" in shown) >= parameter.required


def test_every_command_is_in_the_menu_and_those_with_an_icon_in_the_toolbar():
    interface = node(ET.fromstring(PARTS["Addons.xcu"]), "AddonUI")
    submenu = node(interface, "OfficeMenuBar", "org.dataservice.addin.ds", "Submenu")
    commands = [command for command in COMMANDS if command]
    titles = [prop(entry, "Title") for entry in submenu if prop(entry, "URL") != "private:separator"]
    assert titles == [command.title for command in commands]
    toolbar = node(interface, "OfficeToolBar", "org.dataservice.addin.ds")
    assert [prop(entry, "Title") for entry in toolbar] == [command.title for command in commands if command.icon]


def test_every_file_that_is_referred_to_is_there():
    manifest = ET.fromstring(PARTS["META-INF/manifest.xml"])
    listed = {entry.get("{http://openoffice.org/2001/manifest}full-path") for entry in manifest}
    icons = {
        text.removeprefix("%origin%/") for text in ET.fromstring(PARTS["Addons.xcu"]).itertext() if "%origin%" in text
    }
    assert len(icons) == 4
    assert listed | icons | {"description.txt", "component.py"} <= PARTS.keys()


def test_another_namespace_shares_no_name_with_ours():
    other = extension_parts(Extension(namespace="ACME"))
    assert "_xldudf_ACME_SIGNAL" in other["CalcAddIns.xcu"].decode()
    built = json.loads(other["pythonpath/dataservice_addin_acme/built.json"])
    ours = json.loads(PARTS["pythonpath/dataservice_addin_ds/built.json"])
    for name in ("namespace", "interface", "commands", "protocol"):
        assert built[name].lower() not in ours[name].lower()


def test_an_authority_travels_with_the_extension():
    parts = extension_parts(Extension(ca=b"-----BEGIN CERTIFICATE-----"))
    assert parts["pythonpath/dataservice_addin_ds/ca.pem"] == b"-----BEGIN CERTIFICATE-----"


@pytest.mark.parametrize("name", MODULES)
def test_the_component_runs_in_any_python_that_libreoffice_brings(name):
    tree = ast.parse(MODULES[name], feature_version=(3, 8))
    absolute = {
        name
        for statement in ast.walk(tree)
        for name in (
            [alias.name for alias in statement.names]
            if isinstance(statement, ast.Import)
            else [statement.module or ""]
            if isinstance(statement, ast.ImportFrom) and not statement.level
            else []
        )
    }
    allowed = sys.stdlib_module_names | {"uno", "unohelper", "com", "dataservice_addin_ds"}
    assert {module.partition(".")[0] for module in absolute} <= allowed


def test_an_empty_cell_is_told_from_a_zero_that_means_something():
    functions = json.loads(PARTS["pythonpath/dataservice_addin_ds/built.json"])["functions"]
    wire = next(function for function in functions if function["id"] == "WIRE")
    known = dict(zip([p.name for p in REGISTRY["WIRE"].parameters], wire["parameters"], strict=True))
    assert [known[name]["zero_is_blank"] for name in ("ticker", "min_importance", "limit")] == [True, False, True]
    assert [known[name]["is_day"] for name in ("since", "limit")] == [True, False]
