"""Formulas as text become calls; what only a spreadsheet program can evaluate is rejected with the reason."""

from contextlib import suppress

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addin.formulas import (
    Area,
    FormulaError,
    Named,
    ParsedCall,
    Spill,
    Unworkable,
    call_text,
    mentions,
    parse,
    references,
    stored_form,
)


def test_a_space_before_the_bracket_is_left_out_so_that_the_call_is_one():
    assert stored_form('= DS.SIGNAL \n( "a b" ) + SUM (1)') == '= _xldudf_DS_SIGNAL( "a b" ) + SUM (1)'


def test_the_typed_and_the_stored_form_are_the_same_call():
    call = ParsedCall("SIGNAL", ("us-cpi",))
    assert parse('=DS.SIGNAL("us-cpi")') == call
    assert parse('_xldudf_DS_SIGNAL("us-cpi")') == call
    assert parse('=ds.signal("us-cpi")') == call


def test_a_firms_own_namespace_is_understood_and_the_usual_one_is_then_not_ours():
    assert parse('=ACME.SIGNAL("x")', "ACME").function_id == "SIGNAL"
    assert not mentions('=DS.SIGNAL("x")', "ACME")


def test_constants_keep_their_types():
    call = parse('=DS.X("a ""b""",-1.5,TRUE,,50%,{1,"b";2,FALSE})')
    assert call.args == ('a "b"', -1.5, True, None, 0.5, [[1.0, "b"], [2.0, False]])


def test_references_are_read_with_their_sheet_and_without_their_dollars():
    call = parse("=DS.X($A$1,B2:A1,'My ''own'' sheet'!C3,D:D,5:6,Rates,_xlfn.ANCHORARRAY(Data!A1))")
    assert call.args == (
        Area(1, 1, 1, 1),
        Area(1, 1, 2, 2),
        Area(3, 3, 3, 3, sheet="My 'own' sheet"),
        Area(1, 4, 1_048_576, 4),
        Area(5, 1, 6, 16_384),
        Named("Rates"),
        Spill(Area(1, 1, 1, 1, sheet="Data")),
    )


@pytest.mark.parametrize(
    ("formula", "why"),
    [
        ('=DS.SIGNAL("x")+1', "inside another formula"),
        ('=SUM(DS.SIGNAL("x"))', "inside another formula"),
        ("=DS.SIGNAL(TODAY())", "calculation"),
        ('=DS.SIGNAL("a"&A1)', "calculation"),
        ("=DS.SIGNAL(Table1[Slug])", "calculation"),
        ("=DS.SIGNAL([other.xlsx]Sheet1!A1)", "calculation"),
        ("=DS.SIGNAL(", "not complete"),
        ('=DS.SIGNAL("x', "cannot be read"),
        ("=DS.SIGNAL(XFE1)", "calculation"),
    ],
)
def test_what_only_a_spreadsheet_program_can_work_out_says_why(formula: str, why: str):
    with pytest.raises(Unworkable, match=why):
        parse(formula)


def test_a_call_inside_a_text_is_no_call():
    assert mentions("=A1+DS.SIGNAL(B1)")
    assert not mentions('="write DS.SIGNAL(x) here"')
    assert not mentions("=OTHERDS.SIGNAL(x)")


def test_every_reference_of_any_formula_is_found():
    assert references("=SUM(A1:A3)*Other!B2+Rate") == [
        Area(1, 1, 3, 1),
        Area(2, 2, 2, 2, sheet="Other"),
        Named("Rate"),
    ]


@given(st.text(max_size=80))
def test_no_text_does_more_than_be_unworkable(text: str):
    with suppress(Unworkable):
        parse(text)
    mentions(text)
    references(text)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_any_text_constant_comes_back(text: str):
    quoted = text.replace('"', '""')
    assert parse(f'=DS.X("{quoted}")').args == (text,)


@pytest.mark.parametrize(
    ("formula", "call"),
    [
        ('=DS.SIGNAL("us-cpi")', ["SIGNAL", "us-cpi"]),
        ('ds.signal("us-cpi")', ["SIGNAL", "us-cpi"]),
        ('=_xldudf_DS_SIGNAL("us-cpi")', ["SIGNAL", "us-cpi"]),
        ('=DS.SIGNAL("say ""hi""", -1, TRUE, {"a";"b"})', ["SIGNAL", 'say "hi"', -1.0, True, [["a"], ["b"]]]),
        ('=DS.SIGNAL({"a","b";1,FALSE})', ["SIGNAL", [["a", "b"], [1.0, False]]]),
        ("=DS.WIRE(, , 70)", ["WIRE", None, None, 70.0]),
        ("=DS.QUOTA()", ["QUOTA"]),
        (
            '=DS.SIGNAL_HISTORY("a","-5Y",,"freq=M; fill=prev")',
            ["SIGNAL_HISTORY", "a", "-5Y", None, "freq=M; fill=prev"],
        ),
        ("=DS.SIGNAL(50%)", ["SIGNAL", 0.5]),
        (' = DS.SIGNAL( "a" ) '.strip(), ["SIGNAL", "a"]),
    ],
)
def test_a_formula_becomes_a_call(formula, call):
    assert orjson.loads(call_text(formula)) == call


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("=DS.SIGNAL(A1)", "means nothing outside of a workbook"),
        ("=DS.SIGNAL(Prices)", "Prices means nothing"),
        ("=DS.SIGNAL(_xlfn.ANCHORARRAY(A1))", "means nothing"),
        ('=DS.SIGNAL("a")*2', "inside another formula"),
        ('=SUM(DS.SIGNAL("a"))', "inside another formula"),
        ('=DS.SIGNAL(DS.SIGNAL("a"))', "is a calculation"),
        ('=DS.SIGNAL("a"', "not complete"),
        ('=DS.SIGNAL("a', "cannot be read"),
        ("=SUM(1)", "expected one call such as =DS.SIGNAL"),
        ("", "expected one call"),
        ("us-cpi", "expected one call"),
    ],
)
def test_what_cannot_be_worked_out_is_said(formula, reason):
    with pytest.raises(FormulaError) as caught:
        call_text(formula)
    assert reason in str(caught.value)


def test_the_namespace_is_a_setting():
    assert orjson.loads(call_text('=ACME.SIGNAL("a")', "ACME")) == ["SIGNAL", "a"]
    with pytest.raises(FormulaError, match=r"=ACME\.SIGNAL"):
        call_text('=DS.SIGNAL("a")', "ACME")
