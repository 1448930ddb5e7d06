"""What Excel reads of our functions before it calls one."""

import re

import pytest

from addin.excel.metadata import functions_metadata
from udfs import REGISTRY
from udfs.arguments.kinds import Names, Number
from udfs.arguments.options import Options

METADATA = functions_metadata(REGISTRY.values(), base_url="https://localhost:8765")
FUNCTIONS = {function["id"]: function for function in METADATA["functions"]}
ENUMS = {enum["id"]: enum for enum in METADATA["enums"]}
PARAMETERS = [(function, parameter) for function in REGISTRY.values() for parameter in function.parameters]


def described(function, parameter):
    return next(p for p in FUNCTIONS[function.id]["parameters"] if p["name"] == parameter.name)


def named(pair):
    return f"{pair[0].id}.{pair[1].name}"


def test_every_function_of_the_library_is_described():
    assert list(FUNCTIONS) == list(REGISTRY)


def test_data_types_and_errors_are_allowed_as_values():
    assert METADATA["allowCustomDataForDataTypeAny"] is True
    assert METADATA["allowErrorForDataTypeAny"] is True


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_keeps_to_excels_limits(function):
    assert re.fullmatch(r"[A-Z][A-Z0-9_.]{2,}", function["id"])
    assert function["name"] == function["id"]
    assert 0 < len(function["description"]) <= 1024
    assert function["helpUrl"] == f"https://localhost:8765/help/{function['id']}"
    assert function["result"] == {"type": "any", "dimensionality": "matrix"}
    assert all(0 < len(parameter["description"]) <= 512 for parameter in function["parameters"])


@pytest.mark.parametrize("pair", PARAMETERS, ids=named)
def test_an_argument_that_takes_ranges_is_a_matrix(pair):
    kind = pair[1].kind
    takes_ranges = kind.vectorized or isinstance(kind, Names | Options)
    assert described(*pair)["dimensionality"] == ("matrix" if takes_ranges else "scalar")


@pytest.mark.parametrize("pair", PARAMETERS, ids=named)
def test_what_may_be_left_out_is_optional(pair):
    assert described(*pair)["optional"] is not pair[1].required


def test_no_needed_argument_follows_one_that_may_be_left_out():
    for function in FUNCTIONS.values():
        optional = [parameter["optional"] for parameter in function["parameters"]]
        assert optional == sorted(optional)


@pytest.mark.parametrize("pair", PARAMETERS, ids=named)
def test_an_argument_with_closed_choices_is_a_drop_down(pair):
    told, kind = described(*pair), pair[1].kind
    if not kind.choices or kind.open_choices or told["dimensionality"] == "matrix":
        assert "customEnumId" not in told
        assert told["type"] == "any"
        return
    enum = ENUMS[told["customEnumId"]]
    assert told["type"] == enum["type"] == "string"
    assert [value["stringValue"] for value in enum["values"]] == [choice.value for choice in kind.choices]
    assert all(value["name"] and value["tooltip"] for value in enum["values"])


def test_the_kind_of_the_wire_is_a_drop_down():
    assert described(REGISTRY["WIRE"], REGISTRY["WIRE"].parameters[1])["customEnumId"] == "WIRE_KIND"


def test_drop_downs_have_names_that_excel_takes_and_each_is_used():
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9._]{2,63}", name) for name in ENUMS)
    used = {p["customEnumId"] for f in FUNCTIONS.values() for p in f["parameters"] if "customEnumId" in p}
    assert used == set(ENUMS)


@pytest.mark.parametrize("pair", [p for p in PARAMETERS if isinstance(p[1].kind, Number)], ids=named)
def test_no_argument_gives_zero_a_meaning_of_its_own(pair):
    """Excel for Windows hands an empty cell over as 0, so the page takes 0 for a left-out argument."""
    parameter = pair[1]
    assert parameter.kind.least > 0 or parameter.default == 0


def test_formulas_in_the_help_are_shown_in_the_namespace_in_use():
    told = str(functions_metadata(REGISTRY.values(), base_url="https://localhost", namespace="ACME"))
    assert "DS." not in told
