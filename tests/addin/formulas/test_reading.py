"""The calls that formulas make and what they refer to, read off their text."""

import random

import msgspec
import pytest

from addin.formulas.reading import DEEPEST, read_formula
from addin.protocol.messages import Operand, ReferredArea


def shown(operand: Operand):
    """A constant as its value, anything else as its kind."""
    return operand.value if operand.kind == "value" else operand.kind


@pytest.mark.parametrize(
    ("formula", "calls"),
    [
        ('=DS.SIGNAL("us-cpi")', [("SIGNAL", ["us-cpi"], True)]),
        ('=ds.signal( "say ""x""" , 5 )', [("SIGNAL", ['say "x"', 5], True)]),
        ('=DS.SIGNAL ("us-cpi")', [("SIGNAL", ["us-cpi"], True)]),
        ("=DS.SIGNAL(A1)+DS.INDEX($B$2:C3)", [("SIGNAL", ["area"], True), ("INDEX", ["area"], True)]),
        ('=DS.WIRE(,,-5,TRUE,"x"&A1)', [("WIRE", [None, None, -5, True, "join"], True)]),
        ("=DS.QUOTA()&DS.SIGNAL(1,)", [("QUOTA", [], True), ("SIGNAL", [1, None], True)]),
        ('=IF(DS.SIGNAL("a")>1,DS.SIGNAL("b"),0)', [("SIGNAL", ["a"], True), ("SIGNAL", ["b"], False)]),
        ('=IFERROR(DS.SIGNAL("a"),DS.SIGNAL("b"))', [("SIGNAL", ["a"], True), ("SIGNAL", ["b"], False)]),
        ('="DS.SIGNAL(1)"&DS.SIGNAL({"a","b";"c","d"})', [("SIGNAL", [[["a", "b"], ["c", "d"]]], True)]),
        ("='C:\\it''s\\A.XLAM'!_xldudf_DS_SIGNAL(\"x\")", [("SIGNAL", ["x"], True)]),
        ("=@DS.SIGNAL('My sheet'!A1)", [("SIGNAL", ["area"], True)]),
        ("=DS.SIGNAL(Place)", [("SIGNAL", ["name"], True)]),
        ("=LET(x,A1,DS.SIGNAL(x))", [("SIGNAL", ["unknown"], True)]),
        ("=DS.SIGNAL(Table1[Slug])", [("SIGNAL", ["unknown"], True)]),
        ("=DS.SIGNAL(DS.SIGNAL(A1))", [("SIGNAL", ["area"], True), ("SIGNAL", ["unknown"], True)]),
        ("=DS.SIGNAL(#N/A)", [("SIGNAL", ["#N/A"], True)]),
        ("=DS.SIGNAL(50%)", [("SIGNAL", [0.5], True)]),
        ("=A1:DS.INDEX(1)", [("INDEX", [1], True)]),
        ("=XDS.SIGNAL(1)+SUM(A1)", []),
    ],
)
def test_the_calls_of_a_formula_are_found_with_their_arguments(formula, calls):
    found = read_formula(formula).calls
    assert [(call.id, list(map(shown, call.args)), call.sure) for call in found] == calls


def test_areas_are_told_with_their_sheets_and_corners_whole_columns_to_the_end():
    first, second, third, fourth = read_formula("=DS.SIGNAL('It''s'!$B$2:A1)&B7#&SUM(C:D)&$A$1").areas
    assert first == ReferredArea("It's", 0, 1, 0, 1, spill=False, fixed=False)
    assert (second.top, second.left, second.spill) == (6, 1, True)
    assert (third.top, third.bottom, third.left, third.right) == (0, 1_048_575, 2, 3)
    assert fourth.fixed


@pytest.mark.parametrize(
    ("formula", "names"),
    [
        ("=Place&sheet1!Other", ["PLACE", "SHEET1!OTHER"]),
        ("='My sheet'!Place", ["MY SHEET!PLACE"]),
        ("=Table1[Slug]", ["TABLE1"]),
        ("=TRUE", []),
    ],
)
def test_the_names_that_a_formula_uses_are_told(formula, names):
    assert read_formula(formula).names == names


@pytest.mark.parametrize(
    "formula",
    [
        *("=TODAY()", "=OFFSET(A1,1,1)", "=Other.ADDIN(1)", "=A1:INDEX(A:A,5)", "=[1]Sheet1!A1", "=Sheet1:Sheet3!A1"),
        *("=A1#:B2", '="open', "=(1", "=SUM(", "=" + "(" * DEEPEST + "1" + ")" * DEEPEST, "=" + "(" * 16_000),
    ],
)
def test_what_depends_on_more_than_the_cells_it_names_is_told(formula):
    assert not read_formula(formula).closed


@pytest.mark.parametrize(
    "formula", ["=A1&B1", '=UPPER("x")', "=SUM(A1:A9)*2", "=1", "=-(1+2)%", "=IF(A1<>2,TRUE(),FALSE)"]
)
def test_what_depends_on_nothing_else_is_told(formula):
    assert read_formula(formula).closed


def test_any_text_is_read_to_its_end_whatever_it_holds():
    pieces = ['"', "'", "!", "(", ")", ",", ";", "{", "}", "#", "A1", ":", "DS.SIGNAL(", "[", "]", "%", "@", "&", "1"]
    pieces += ["\u00e9", "\x00", "IF(", "-", "A1:B2", "x", "1e999"]
    chosen = random.Random(3)
    for _ in range(20_000):
        msgspec.json.encode(read_formula("=" + "".join(chosen.choices(pieces, k=chosen.randrange(12)))))
