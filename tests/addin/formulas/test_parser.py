"""Formulas of ours as text: what is understood, and what is left to a spreadsheet program."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addin.formulas.parser import Area, Named, ParsedCall, Spill, Unworkable, mentions, parse, references


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
