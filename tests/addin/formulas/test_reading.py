"""The calls that formulas make and what they refer to, read off their text."""

import random

import pytest

from addin.formulas.areas import Area
from addin.formulas.reading import DEEPEST, MOST_CHARACTERS, NOTHING, Operand, Readings, ReferredArea


def read_formula(formula):
    return Readings().read(formula)


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
    assert [(call.id, list(map(shown, call.args)), call.is_sure) for call in found] == calls


def test_areas_are_told_with_their_sheets_and_corners_whole_columns_to_the_end():
    first, second, third, fourth = read_formula("=DS.SIGNAL('It''s'!$B$2:A1)&B7#&SUM(C:D)&$A$1").areas
    assert first == ReferredArea(Area(1, 1, 2, 2, "It's"), is_spill=False, is_fixed=False)
    assert second == ReferredArea(Area(7, 2, 7, 2), is_spill=True, is_fixed=False)
    assert third.area == Area(1, 3, 1_048_576, 4)
    assert fourth.is_fixed


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
    assert not read_formula(formula).is_closed


@pytest.mark.parametrize(
    "formula", ["=A1&B1", '=UPPER("x")', "=SUM(A1:A9)*2", "=1", "=-(1+2)%", "=IF(A1<>2,TRUE(),FALSE)"]
)
def test_what_depends_on_nothing_else_is_told(formula):
    assert read_formula(formula).is_closed


PIECES = ['"', '"a"', '"b"', "'", "!", "(", ")", ",", ";", "{", "}", "#", "A1", ":", "DS.SIGNAL(", "[", "]", "%", "@"]
PIECES += ["&", "1", "\u00e9", "\x00", "IF(", "-", "A1:B2", "x", "1e999", "S!C3", "T[x]", '""', " "]


def random_formulas(count):
    chosen = random.Random(3)
    return ["=" + "".join(chosen.choices(PIECES, k=chosen.randrange(12))) for _ in range(count)]


def test_formulas_of_one_shape_are_read_as_each_of_them_alone():
    together = Readings()
    for formula in random_formulas(20_000):
        assert together.read(formula) == read_formula(formula)
    for row in range(1, 50):
        formula = f'=IF(A{row}>0,DS.SIGNAL("name ""{row}""",Sheet{row}!$B${row}#),"{row}"&C{row})'
        (call,) = together.read(formula).calls
        assert call.args[0].value == f'name "{row}"'
        assert [str(each.area) for each in together.read(formula).areas] == [f"A{row}", f"Sheet{row}!B{row}", f"C{row}"]


def test_formulas_of_one_shape_are_read_however_many_they_are():
    readings, long = Readings(), "SUM(A1)+" * 500
    for row in range(1, MOST_CHARACTERS // len(long) + 2):
        assert readings.read(f'={long}DS.SIGNAL("name {row}")').is_closed


def test_of_too_many_shapes_the_last_ones_may_call_anything():
    readings = Readings()
    formulas = [f"={'1+' * 5_000}{number}" for number in range(MOST_CHARACTERS // 10_000 + 1)]
    unread = [readings.read(formula) == NOTHING for formula in formulas]
    assert (unread[0], unread[-1]) == (False, True)
