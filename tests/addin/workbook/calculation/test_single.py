"""One formula without a book, as `addin eval` works it out."""

import pytest

from addin.workbook.calculation.engine.process import EngineFailedError
from addin.workbook.calculation.single import read_single, worked_out


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ('=SUM (DS.SIGNAL ("x"), 1)', 42.0),
        ('=LET(rate, DS.SIGNAL("x"), rate*2)', 82.0),
        ('=LET(rate, DS.SIGNAL("x"), more, rate+1, IF(more>rate, LET(inner, more, inner*2), 0))', 84.0),
        ('=IF(DS.SIGNAL("x")>1,"a (b)","")', "a (b)"),
    ],
)
async def test_spaces_before_brackets_and_names_of_let_are_read(formula, value):
    async def ask(calls):
        return [41.0 for _ in calls]

    assert await worked_out(read_single(formula, "DS"), 1.8e9, ask) == [[value]]


@pytest.mark.parametrize("formula", ['=SUM(@DS.SIGNAL({"x";"y"}))', '=@DS.SIGNAL({"x";"y"})'])
async def test_an_at_sign_takes_the_first_of_several_values(formula):
    async def ask(calls):
        return [[[41.0], [1.0]] for _ in calls]

    assert await worked_out(read_single(formula, "DS"), 1.8e9, ask) == [[41.0]]


@pytest.mark.parametrize("formula", ['=LET(rate,other,rate)&DS.SIGNAL("x")', '=rate*DS.SIGNAL("x")'])
def test_a_name_that_the_formula_does_not_give_means_nothing(formula):
    with pytest.raises(EngineFailedError, match=r"(other|rate) means nothing outside of a workbook"):
        read_single(formula, "DS")


@pytest.mark.parametrize("formula", ['=ROW()*DS.SIGNAL("x")', '=IF(DS.SIGNAL("x")>0,COLUMN(),0)'])
def test_the_place_of_a_formula_means_nothing(formula):
    with pytest.raises(EngineFailedError, match="means nothing outside of a workbook"):
        read_single(formula, "DS")


async def test_what_stands_in_many_brackets_costs_no_more_than_it_is_long():
    formula = 'DS.SIGNAL("x")'
    for _ in range(60):
        formula = f"IFERROR({formula},0)"

    async def ask(calls):
        return [{"error": "#N/A"} for _ in calls]

    read = read_single(f"={formula}", "DS")
    assert len(read.shape.pieces) < 200
    assert await worked_out(read, 1.8e9, ask) == [[0.0]]


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        ("=IF(TRUE,#N/A,1)", "#N/A"),
        ("=1/0", "#DIV/0!"),
        ("=SQRT(-1)", "#NUM!"),
        ("=MATCH(5,{1,2},0)", "#N/A"),
        ('="a"*1', "#VALUE!"),
        ("=INDEX({1,2},3)", "#REF!"),
    ],
)
async def test_an_error_is_the_one_that_excel_shows(formula, shown):
    async def ask(calls):
        return [1.0 for _ in calls]

    [[error]] = await worked_out(read_single(formula, "DS"), 1.8e9, ask)
    assert error.message == shown


@pytest.mark.parametrize(
    "formula",
    ["=MATCH(4,{5,1,9,3},-1)", "=LOOKUP(4,{5;1;9;3})", '=UPPER("straße")', '=IF("ä">"z",1,2)', "=IRR({-1,2,-1})"],
)
async def test_what_programs_show_differently_is_told_and_not_shown(formula):
    async def ask(calls):
        return [1.0 for _ in calls]

    with pytest.raises(EngineFailedError, match=r"differen|language|not sorted"):
        await worked_out(read_single(formula, "DS"), 1.8e9, ask)


@pytest.mark.parametrize(
    ("formula", "rows"),
    [
        ('=SUM(LEN(DS.SIGNALS("x")))', [[6.0]]),
        ('=UPPER(DS.SIGNALS("x"))', [["A"], ["BB"], ["CCC"]]),
        ('=SORT(LEN(DS.SIGNALS("x")),,-1)', [[3.0], [2.0], [1.0]]),
        ('=SUMPRODUCT(--ISNUMBER(DS.SIGNALS("x")))', [[0.0]]),
        ('=TAKE(VSTACK(DS.SIGNALS("x"),"end"),-2)', [["CCC"], ["end"]]),
        ('=LET(names,DS.SIGNALS("x"),LARGE(LEN(names),{1;2}))', [[3.0], [2.0]]),
        ('=MAP(DS.SIGNALS("x"),LAMBDA(name,LEN(name)))', [[1.0], [2.0], [3.0]]),
    ],
)
async def test_a_table_of_ours_is_one_inside_any_function(formula, rows):
    async def ask(calls):
        return [[["a"], ["bb"], ["CCC"]] for _ in calls]

    upper = [[value.upper() if formula.startswith("=UPPER") else value for value in row] for row in rows]
    assert await worked_out(read_single(formula, "DS"), 1.8e9, ask) == upper


@pytest.mark.parametrize(
    ("formula", "asked"),
    [
        ('=IF(DS.SIGNAL("a")>0,DS.SIGNAL("b"),DS.SIGNAL("c"))', ["a", "b"]),
        ('=IFS(DS.SIGNAL("a")<0,DS.SIGNAL("b"),TRUE,DS.SIGNAL("c"))', ["a", "c"]),
        ('=SWITCH(1,2,DS.SIGNAL("a"),1,DS.SIGNAL("b"),DS.SIGNAL("c"))', ["b"]),
        ('=SWITCH(7,2,DS.SIGNAL("a"),1,DS.SIGNAL("b"),DS.SIGNAL("c"))', ["c"]),
        ('=CHOOSE(2,DS.SIGNAL("a"),DS.SIGNAL("b"))', ["b"]),
        ('=IFERROR(DS.SIGNAL("a"),DS.SIGNAL("b"))', ["a"]),
        ('=IFERROR(1/0,DS.SIGNAL("b"))', ["b"]),
        ('=DS.SIGNAL(IF(DS.SIGNAL("a")>0,"yes","no"))', ["a", "yes"]),
        ('=LET(x,"a",IF(DS.SIGNAL(x)>0,LET(y,"c",DS.SIGNAL(y)),DS.SIGNAL("d")))', ["a", "c"]),
    ],
)
async def test_only_the_calls_are_made_that_a_formula_needs(formula, asked):
    told = []

    async def ask(calls):
        told.extend(call[1] for call in calls)
        return [1.0 for _ in calls]

    await worked_out(read_single(formula, "DS"), 1.8e9, ask)
    assert told == asked


_NUMBERS = {"a": 1.0, "b": 2.0, "ab": 3.0, "1": 5.0, "5": 7.0}


@pytest.mark.parametrize(
    ("formula", "rows", "asked"),
    [
        ('=MAP({"a";"b"},LAMBDA(x,DS.SIGNAL(x)*2))', [[2.0], [4.0]], ["a", "b"]),
        ('=SUM(BYROW({"a";"b"},LAMBDA(r,DS.SIGNAL(r)+1)))', [[5.0]], ["a", "b"]),
        ('=REDUCE(0,{"a";"b"},LAMBDA(sum,x,sum+DS.SIGNAL(x)))', [[3.0]], ["a", "b"]),
        ('=SCAN(0,{"a","b"},LAMBDA(sum,x,sum+DS.SIGNAL(x)))', [[1.0, 3.0]], ["a", "b"]),
        ('=REDUCE("a",{1,2},LAMBDA(slug,x,DS.SIGNAL(slug)))', [[5.0]], ["a", "1"]),
        ('=MAKEARRAY(1,2,LAMBDA(r,c,DS.SIGNAL(INDEX({"a","b"},c))))', [[1.0, 2.0]], ["a", "b"]),
        ('=MAP({"a";"b"},LAMBDA(x,IF(x="a",DS.SIGNAL(x),0)))', [[1.0], [0.0]], ["a"]),
        ('=MAP({"a";"b"},LAMBDA(x,LET(y,x&"",DS.SIGNAL(y))))', [[1.0], [2.0]], ["a", "b"]),
        ('=LET(all,{"a";"b"},MAP(all,LAMBDA(x,DS.SIGNAL(x))))', [[1.0], [2.0]], ["a", "b"]),
        ('=MAP({"a"},LAMBDA(x,SUM(MAP({"","b"},LAMBDA(y,DS.SIGNAL(x&y))))))', [[4.0]], ["a", "ab"]),
        ('=MAP({"a";"b"},LAMBDA(x,DS.SIGNAL(DS.SIGNAL("a"))))', [[5.0], [5.0]], ["a", "1"]),
        ('=MAP({"a"},LAMBDA(x,DS.SIGNAL(DS.SIGNAL(x))))', [[5.0]], ["a", "1"]),
        ('=MAP({"a";"a"},LAMBDA(x,DS.SIGNAL(x)+DS.SIGNAL("b")))', [[3.0], [3.0]], ["b", "a"]),
        ('=MAP({"a"},LAMBDA(x,DS.SIGNAL("a")))', [[1.0]], ["a"]),
    ],
)
async def test_calls_inside_a_lambda_are_asked_for_what_it_is_handed(formula, rows, asked):
    told = []

    async def ask(calls):
        told.extend(str(call[1]).removesuffix(".0") for call in calls)
        return [_NUMBERS[str(call[1]).removesuffix(".0")] for call in calls]

    assert await worked_out(read_single(formula, "DS"), 1.8e9, ask) == rows
    assert sorted(told) == sorted(asked)


async def test_an_error_that_a_lambda_is_handed_is_the_argument_of_its_call():
    told = []

    async def ask(calls):
        told.extend(call[1] for call in calls)
        return [2.0 if call[1] == 1.0 else {"error": "#N/A"} for call in calls]

    formula = "=MAP({1;0},LAMBDA(x,IFERROR(DS.SIGNAL(1/x),-1)))"
    assert await worked_out(read_single(formula, "DS"), 1.8e9, ask) == [[2.0], [-1.0]]
    assert told == [1.0, {"error": "#DIV/0!"}]


async def test_branches_nested_in_a_lambda_ask_one_call_each():
    told = []

    async def ask(calls):
        told.extend(call[1] for call in calls)
        return [5.0 if call[1] == "12" else {"error": "#N/A"} for call in calls]

    nested = "DS.SIGNAL(x&12)"
    for number in range(11, -1, -1):
        nested = f"IFERROR(DS.SIGNAL(x&{number}),{nested})"
    assert await worked_out(read_single(f'=MAP({{""}},LAMBDA(x,{nested}))', "DS"), 1.8e9, ask) == [[5.0]]
    assert told == [str(number) for number in range(13)]


def _nested(count: int) -> str:
    """The first of so many calls that has a value."""
    formula = '"none"'
    for number in range(count, 0, -1):
        formula = f'IFERROR(DS.SIGNAL("s{number}"),{formula})'
    return f"={formula}"


@pytest.mark.parametrize("known", [1, 60, None])
async def test_as_many_calls_may_wait_for_others_as_a_formula_can_nest(known):
    asked = []

    async def ask(calls):
        asked.extend(call[1] for call in calls)
        return [7.0 if call[1] == f"s{known}" else {"error": "#N/A"} for call in calls]

    assert await worked_out(read_single(_nested(60), "DS"), 1.8e9, ask) == [[7.0 if known else "none"]]
    assert asked == [f"s{number}" for number in range(1, (known or 60) + 1)]


async def test_calls_that_what_came_before_decides_on_are_made_twenty_times_at_most():
    asked = []

    async def ask(calls):
        asked.extend(call[1] for call in calls)
        return [call[1] + 1 for call in calls]

    formula = "=REDUCE(1,SEQUENCE({}),LAMBDA(sum,x,DS.SIGNAL(sum)))"
    assert await worked_out(read_single(formula.format(20), "DS"), 1.8e9, ask) == [[21.0]]
    with pytest.raises(EngineFailedError, match="not answered"):
        await worked_out(read_single(formula.format(30), "DS"), 1.8e9, ask)
    assert len(asked) == 40
