"""The calls of an open workbook, worked out from what its host hands over."""

import asyncio
import json
import time

import msgspec
import pytest

from addin.formulas.open_book import MOST_VALUES, MOST_VISITS, OpenFormulas
from addin.formulas.open_cells import LONG_RANGE_ROWS, MOST_CELLS
from addin.protocol.messages import MAX_COLUMNS, CellBlock, OpenBook, OpenSheet, WantedCells


def book(*formulas, cells=(), names=None, others=None, rows=100, sheets=(), is_part=False):
    """Formulas below each other in the last column of the first sheet."""
    ours = {row * MAX_COLUMNS + MAX_COLUMNS - 1: formula for row, formula in enumerate(formulas)}
    first = OpenSheet("Book", rows, ours, others or {}, list(cells))
    return OpenBook([first, *sheets], names or {}, is_part)


def column(*values, top=0, left=0, spilled=False):
    """Cells below each other; what begins with an equals sign is a formula that shows `us-cpi`."""
    is_formula = [str(value).startswith("=") for value in values]
    shown = [["us-cpi" if formula else value] for value, formula in zip(values, is_formula, strict=True)]
    formulas = [[value if formula else None] for value, formula in zip(values, is_formula, strict=True)]
    return CellBlock(top, left, shown, formulas, spilled)


def read(opened):
    formulas = OpenFormulas(opened, "DS")
    asyncio.run(formulas.read())
    return formulas


def wanted(*formulas, **options):
    return asyncio.run(read(book(*formulas, **options)).wanted())


def planned(*formulas, **options):
    found = asyncio.run(read(book(*formulas, **options)).planned())
    return [json.loads(text) for text in found.calls], [json.loads(text) for text in found.sure], found.is_open


def expected(*formulas, **options):
    found = asyncio.run(read(book(*formulas, **options)).expected())
    return found.expected, found.depend


def test_the_cells_that_arguments_refer_to_are_wanted_each_once():
    asked = wanted("=DS.SIGNAL(A1)", "=DS.SIGNAL(A2)", "=DS.SIGNAL($A$1:B2)", "=DS.SIGNAL(Other!A1)&DS.SIGNAL(A9)")
    assert asked == [WantedCells(0, 0, 1, 0, 0), WantedCells(0, 8, 8, 0, 0), WantedCells(0, 0, 1, 1, 1)]


def test_what_was_handed_over_is_not_wanted_again_but_what_it_leads_to_is():
    cells = [column("x", "=C3&C4")]
    assert wanted("=DS.SIGNAL(A1:A4)", cells=cells) == [WantedCells(0, 2, 3, 0, 0), WantedCells(0, 2, 3, 2, 2)]
    assert wanted("=DS.SIGNAL(A1:A4)", cells=cells, is_part=True) == []


def test_of_whole_columns_only_the_used_part_is_wanted():
    assert wanted("=DS.SIGNAL(C:C)", rows=7) == [WantedCells(0, 0, 6, 2, 2)]
    assert wanted("=DS.SIGNAL(C:C)", rows=0) == []


def test_a_name_leads_to_cells_of_its_own_sheet():
    other = OpenSheet("Other", 9, {}, {}, [])
    assert wanted("=Place", names={"OTHER!PLACE": "=A1"}, sheets=[other]) == [WantedCells(1, 0, 0, 0, 0)]


def test_no_more_cells_are_wanted_than_a_host_hands_over():
    asked = wanted(*(f"=DS.SIGNAL({letter}1:{letter}100000)" for letter in "ABCDE"), rows=1_000_000)
    assert sum(each.bottom - each.top + 1 for each in asked) == MOST_CELLS


@pytest.mark.parametrize(
    ("formula", "calls", "sure", "is_open"),
    [
        ('=DS.SIGNAL("us-cpi")', [["SIGNAL", "us-cpi"]], True, False),
        ("=DS.SIGNAL(A1)", [["SIGNAL", "gold"]], True, False),
        ("=DS.SIGNAL(A1:A2)", [["SIGNAL", [["gold"], ["us-cpi"]]]], True, False),
        ("=DS.SIGNAL(A2)", [["SIGNAL", "us-cpi"]], True, False),  # a formula that the refresh leaves as it is
        ("=DS.SIGNAL(A3)", [], False, True),  # one that changes
        ("=DS.SIGNAL(A4)", [], False, True),  # one that rests on ours
        ("=DS.SIGNAL(A5)", [], False, True),  # circular
        ("=DS.SIGNAL(A7)", [["SIGNAL"]], True, False),  # blank
        ("=DS.SIGNAL(A8)", [], False, False),  # an error: nothing is asked for
        ("=DS.SIGNAL(A1#)", [], False, True),
        ("=DS.SIGNAL(B1)", [], False, True),  # filled from elsewhere
        ("=DS.SIGNAL(Z9)", [], False, True),  # nobody has read it
        ('=DS.SIGNAL("us-"&"cpi",5&"")', [["SIGNAL", "us-cpi", "5"]], True, False),
        (
            '=IF(A1="",DS.SIGNAL("a"),DS.SIGNAL(1.50,,TRUE))',
            [["SIGNAL", "a"], ["SIGNAL", 1.5, None, True]],
            False,
            False,
        ),
        ("=DS.SIGNAL(Place)", [["SIGNAL", "gold"]], True, False),
        ("=Inflation*2", [["SIGNAL", "us-cpi"]], False, False),
        ("=DS.SIGNAL(Moving)", [], False, True),
        ("=DS.SIGNAL(#N/A)", [], False, False),
        ("=DS.SIGNAL({1,0})", [["SIGNAL", [[1, None]]]], True, False),
        ("=Unknown", [], False, True),
        ("=DS.SIGNAL(INDIRECT(A1))", [], False, True),
    ],
)
def test_calls_are_named_as_far_as_cells_and_names_tell(formula, calls, sure, is_open):
    cells = [
        column("gold", '="us"&"-cpi"', "=NOW()", f"=XFD1&{1}", "=A6", "=A5", "", "#N/A x"),
        column("gold", left=1, spilled=True),
    ]
    names = {"PLACE": "=Book!$A$1", "INFLATION": "=TWICE", "TWICE": '=DS.SIGNAL("us-cpi")', "MOVING": "=Book!A1"}
    found = planned(formula, cells=cells, names=names)
    assert found == (calls, calls if sure else [], is_open)


def test_a_formula_outside_the_scope_counts_only_if_what_it_rests_on_changes():
    cells = [column("gold", "=XFD1")]
    assert planned('=DS.SIGNAL("a")', others={5: "=DS.SIGNAL(A1)"}, cells=cells)[2] is False
    assert planned('=DS.SIGNAL("a")', others={5: "=DS.SIGNAL(A2)"}, cells=cells)[2] is True
    assert planned('=DS.SIGNAL("a")', others={5: "=Anything"}, cells=cells)[2] is True


def test_the_blank_end_of_a_long_range_is_dropped_and_half_characters_are_replaced():
    cells = [column("\ufffd", 0, 5, *[""] * LONG_RANGE_ROWS)]
    assert planned("=DS.SIGNAL(A:A)", cells=cells, rows=LONG_RANGE_ROWS + 3)[0] == [
        ["SIGNAL", [["\ufffd"], [None], [5]]]
    ]


def test_of_a_part_of_a_book_nothing_is_known_to_be_all():
    assert planned('=DS.SIGNAL("a")', is_part=True) == ([["SIGNAL", "a"]], [["SIGNAL", "a"]], True)


@pytest.mark.parametrize(
    ("formulas", "calls", "depend"),
    [
        (('=DS.SIGNAL("a")', "=DS.SIGNAL(A1)&DS.SIGNAL(B1:C9)"), 3, False),
        (('=IF(A1,DS.SIGNAL("a"),DS.SIGNAL("b"))',), 0, True),
        (("=DS.SIGNAL(XFD1:XFD2)",), 1, True),
        (("=DS.SIGNAL(A1#)",), 1, True),
        (("=DS.SIGNAL(A:A)",), 1, True),
        (("=DS.SIGNAL(A1,NOW())",), 1, True),
        (("=Inflation",), 0, True),
    ],
)
def test_as_many_calls_are_expected_as_are_made_for_sure(formulas, calls, depend):
    assert expected(*formulas) == (calls, depend)


def test_cells_in_rows_of_different_lengths_are_refused():
    for values, formulas in (
        ([["a"], ["a", "b"]], [[None], [None, None]]),
        ([["a"]], [[]]),
        ([["a"]], [[None], [None]]),
    ):
        with pytest.raises(ValueError, match=r"shorter|longer|differ"):
            read(book("=DS.SIGNAL(A1)", cells=[CellBlock(0, 0, values, formulas, spilled=False)]))


def test_of_more_values_than_are_looked_at_only_a_lower_bound_is_known():
    rows = 1_000
    formulas = [f"=DS.SIGNAL(A1:A{rows - number})" for number in range(rows)]
    calls, _, is_open = planned(*formulas, cells=[column(*["x"] * rows)])
    assert (len(calls), is_open) == (rows, False)
    calls, _, is_open = planned(
        *formulas,
        *(f"=DS.SIGNAL(B1:C{rows - number})" for number in range(rows)),
        cells=[CellBlock(0, 0, [["x"] * 3] * rows, [[None] * 3] * rows, spilled=False)],
    )
    assert is_open
    assert sum(len(rows) * len(rows[0]) for _, rows in calls if isinstance(rows, list)) <= MOST_VALUES


def test_hostile_books_are_read_in_a_bounded_time():
    chain = {
        f"N{number}": "=" + "+".join(f"N{each}" for each in range(200)) + "+DS.SIGNAL(A1)" for number in range(200)
    }
    cells = [column(*range(9_000))]
    hostile = [
        book(*(f"=DS.SIGNAL(A1:A{row})" for row in range(1, 9_000)), cells=cells),
        book(*(f"=N{number}" for number in range(200)), *(f"=N1+{number}" for number in range(5_000)), names=chain),
        book(*(f"=DS.SIGNAL({row}:{row + 5})" for row in range(1, 5_000))),
    ]
    for opened in hostile:
        formulas = read(opened)
        began = time.process_time()
        for each in (formulas.wanted(), formulas.planned(), formulas.expected()):
            asyncio.run(each)
        assert time.process_time() - began < MOST_VISITS / 250_000


def test_a_book_as_a_host_sends_it_is_understood():
    sent = {
        "sheets": [{"name": "A", "rows": 0, "formulas": {"0": "=DS.QUOTA()"}, "others": {}, "cells": []}],
        "names": {},
    }
    formulas = read(msgspec.json.decode(json.dumps(sent), type=OpenBook))
    assert (formulas.count, asyncio.run(formulas.planned()).calls) == (1, [b'["QUOTA"]'])
