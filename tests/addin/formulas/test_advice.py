"""A formula that `addin eval` cannot evaluate is answered with what to change in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addin.formulas.advice import advice, wrong_count
from tests.addin.commands import addin, environment
from udfs import REGISTRY

IDS = frozenset(REGISTRY)


@pytest.mark.parametrize(
    ("formula", "change"),
    [
        ('=DS.SIGNALHISTORY("x")', "there is no function DS.SIGNALHISTORY; did you mean DS.SIGNAL_HISTORY?"),
        ('=2*ds.curent("x")', "there is no function DS.CURENT; did you mean DS.CURRENT?"),
        ("=DS.XYZ()", "there is no function DS.XYZ; there are CODEX, CODEX_POST, CURRENT"),
        ('=SIGNAL("x")', "SIGNAL lacks the prefix DS: =DS.SIGNAL(…)"),
        ('=signal_history("x")', "SIGNAL_HISTORY lacks the prefix DS: =DS.SIGNAL_HISTORY(…)"),
        ('=ACME.SIGNAL("x")', "ACME.SIGNAL has another prefix than DS: =DS.SIGNAL(…)"),
        ('=DS_SIGNAL("x")', "DS_SIGNAL has another prefix than DS: =DS.SIGNAL(…)"),
        ("=1+1", "it calls no function; expected one call such as =DS.SIGNAL(…)"),
        ("=WENN(1;2)", "WENN is no function of ours; expected one call such as =DS.SIGNAL(…)"),
        ("us-cpi", 'this is no formula; expected a call such as =DS.SIGNAL("us-cpi")'),
        ("=", "the formula is empty; expected one call such as =DS.SIGNAL(…)"),
        ("=DS.SIGNAL('x')", 'text stands in double quotes: "x"'),
        ("=DS.SIGNAL(`x`, `y`)", 'text stands in double quotes: "x"'),
        ("=DS.SIGNAL(“x”)", 'text stands in straight double quotes: "us-cpi"'),
        ('=DS.SIGNAL（"x"）', "（ is a full-width character; formulas are written with ("),
        ("=DS.SIGNAL(us-cpi)", 'text stands in double quotes: "us-cpi"; a shell removes them unless it is told to'),
        ('=DS.SIGNAL("x";"y")', "arguments are separated by commas, not by semicolons"),
        ("=DS.WIRE(;;70)", "arguments are separated by commas, not by semicolons"),
        ('=DS.SIGNAL("x";1,5;2)', "not by semicolons, and numbers have a decimal point"),
        ("=DS.SIGNAL(A1:A)", "an area has a row at both of its ends or at none: A1:A9 or A:A"),
        ("=DS.SIGNAL(Other!A:$A$5)", "an area has a row at both of its ends"),
        ("=DS.SIGNAL(A1048577)", "A1048577 is outside of a sheet, whose last cell is XFD1048576"),
        ("=DS.SIGNAL(B2:XFE3)", "B2:XFE3 is outside of a sheet"),
        ('=DS.SIGNAL("x"', "a closing bracket is missing"),
        ('=DS.SIGNAL("x"))', "there is a closing bracket too many"),
        ('=DS.SIGNAL("x)', 'a text has no closing quote (")'),
    ],
)
def test_a_usual_mistake_is_named_with_its_remedy(formula, change):
    assert change in advice(formula, "DS", IDS)


@pytest.mark.parametrize("formula", ['=SUM(DS.SIGNAL("a"))', '=DS.SIGNAL("a")*2', '=DS.SIGNAL("a;b","it\'s")+1'])
def test_where_nothing_better_is_known_the_reason_of_the_parser_stands(formula):
    assert advice(formula, "DS", IDS) is None


@pytest.mark.parametrize(
    ("formula", "wrong"),
    [
        ("=DS.SIGNAL()", "slug is missing: slug or shortcode of a signal"),
        ("=SUM(1,DS.EXPLAIN())", "slug is missing: "),
        ('=DS.SIGNAL("x",{1,2},SUM(1,2),,5)', "SIGNAL takes at most 4 arguments, not 5"),
        ('=DS.SIGNAL("x","a,b",(1),)', None),
        ("=DS.QUOTA()+SUM()", None),
        ("=DS.SIGNAL(", None),
    ],
)
def test_a_call_with_too_few_or_too_many_arguments_is_told_which(formula, wrong):
    told = wrong_count(formula, "DS", REGISTRY)
    assert told is None if wrong is None else told.startswith(wrong)


@given(st.text(st.sampled_from("=DS.SIGNAL()\"';,{}“x 1"), max_size=30))
def test_any_text_gets_an_answer(text):
    assert advice(text, "DS", IDS) != ""


def test_the_command_prints_the_remedy_and_sends_nothing(tmp_path, service):
    done = addin("eval", '=DS.SIGNAL("us-cpi";"unit")', environ=environment(tmp_path, service))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == ('addin: =DS.SIGNAL("us-cpi";"unit"): arguments are separated by commas, not by semicolons\n')
    assert service.running.request_count == 0
