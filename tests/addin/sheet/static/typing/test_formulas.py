"""Formulas on their way between a file and a user."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addin.sheet.formulas import file_form, typed_form

PAIRS = {
    'DS.SIGNAL("us-cpi")': '_xldudf_DS_SIGNAL("us-cpi")',
    "SUM(A1#)": "SUM(_xlfn.ANCHORARRAY(A1))",
    "'It''s'!$A$1#+1": "_xlfn.ANCHORARRAY('It''s'!$A$1)+1",
    "Sheet2!B2#": "_xlfn.ANCHORARRAY(Sheet2!B2)",
    'DS.SIGNAL("DS.SIGNAL(A1#)")': '_xldudf_DS_SIGNAL("DS.SIGNAL(A1#)")',
    "SORT(UNIQUE(FILTER(A1:A9,B1:B9>0)))": "_xlfn._xlws.SORT(_xlfn.UNIQUE(_xlfn._xlws.FILTER(A1:A9,B1:B9>0)))",
    "IFERROR(DS.SIGNAL(A1),0)&DS.INDEX(B1)": "IFERROR(_xldudf_DS_SIGNAL(A1),0)&_xldudf_DS_INDEX(B1)",
    "A1*2": "A1*2",
}


@pytest.mark.parametrize("typed", PAIRS)
def test_a_formula_has_one_form_for_users_and_one_for_files(typed):
    assert file_form(typed) == PAIRS[typed]
    assert typed_form(PAIRS[typed]) == typed
    assert file_form(PAIRS[typed]) == PAIRS[typed]


@pytest.mark.parametrize("damaged", ["'C:\\DS.XLAM'!_xldudf_DS_SIGNAL(A1)", "_xlfn.SINGLE(DS.SIGNAL(A1))"])
def test_what_excel_leaves_around_a_call_is_gone(damaged):
    assert typed_form(damaged) == "DS.SIGNAL(A1)"


def test_another_namespace_is_kept():
    assert typed_form("_xldudf_ACME_SIGNAL(A1)", "ACME") == "ACME.SIGNAL(A1)"
    assert file_form("ACME.SIGNAL(A1)", "ACME") == "_xldudf_ACME_SIGNAL(A1)"


PIECES = st.sampled_from(
    ['DS.SIGNAL("a#",A1#)', '"x""A1#"', "'a b'!A1#", "SUM(A1:B2)", "1%", "FILTER(A1:A3,B1:B3)", "Ns!$C$4", "#N/A"]
)


@given(st.lists(PIECES, min_size=1, max_size=5))
def test_there_and_back_is_the_same_formula(pieces):
    formula = "+".join(pieces)
    assert typed_form(file_form(formula)) == formula
    assert file_form(typed_form(file_form(formula))) == file_form(formula)


@given(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=40))
def test_no_text_makes_it_fail(text):
    typed_form(text)
    file_form(text)
