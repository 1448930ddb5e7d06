"""Formulas as text become calls; what only a workbook can work out is refused with the reason."""

import orjson
import pytest

from addin.formulas.evaluate import FormulaError, call_text


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
