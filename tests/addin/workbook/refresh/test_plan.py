"""What a book asks for: which formulas are ours, in which order, and what is left to a spreadsheet program."""

from pathlib import Path

from addin.formulas import ParsedCall
from addin.workbook.ooxml.book import Book
from addin.workbook.ooxml.package import Package
from addin.workbook.refresh.plan import Plan, arguments, make_plan
from tests.addin.workbook.books import make_book


def _plan(path: Path) -> tuple[Plan, Book]:
    with Package(path) as package:
        book = Book(package)
        plan = make_plan(book)
        for name in book.sheet_names:  # read what the checks need before the file is closed
            book.sheet(name)
        return plan, book


def _rounds(plan: Plan) -> list[list[str]]:
    return [sorted(str(cell) for cell in cells) for cells in plan.rounds]


def test_formulas_of_ours_are_found_on_every_sheet_in_either_form(tmp_path: Path):
    book = make_book(
        tmp_path / "book.xlsx",
        {"A1": '=_xldudf_DS_SIGNAL("a")', "A2": "=SUM(1,2)", "A3": '=DS.SIGNAL("b")'},
        Other={"B2": ("B2:C9", '=_xldudf_DS_WIRE("x")')},
    )
    plan, _ = _plan(book)
    assert _rounds(plan) == [["Other!B2", "Sheet1!A1", "Sheet1!A3"]]


def test_a_formula_waits_for_those_whose_cells_it_refers_to(tmp_path: Path):
    # openpyxl writes no cell for a blank, so the spill's neighbours are put in with a value
    book = make_book(
        tmp_path / "book.xlsx",
        {
            "A1": ("A1:A5", "=_xldudf_DS_SIGNALS()"),
            **{f"A{row}": "us-cpi" for row in range(2, 6)},
            "B3": "=_xldudf_DS_SIGNAL(A3)",
            "C1": '=_xldudf_DS_SIGNAL("x",B3)',
            "D1": '=_xldudf_DS_SIGNAL("y")',
        },
    )
    plan, _ = _plan(book)
    assert _rounds(plan) == [["Sheet1!A1", "Sheet1!D1"], ["Sheet1!B3"], ["Sheet1!C1"]]


def test_circles_are_named_and_the_rest_goes_on(tmp_path: Path):
    book = make_book(
        tmp_path / "book.xlsx",
        {
            "A1": "=_xldudf_DS_SIGNAL(B1)",
            "B1": "=_xldudf_DS_SIGNAL(A1)",
            "C1": "=_xldudf_DS_SIGNAL(C1)",
            "D1": "=_xldudf_DS_SIGNAL(A1)",
            "E1": '=_xldudf_DS_SIGNAL("x")',
        },
    )
    plan, _ = _plan(book)
    assert _rounds(plan) == [["Sheet1!E1"]]
    assert {item.where for item in plan.skipped} == {"Sheet1!A1", "Sheet1!B1", "Sheet1!C1", "Sheet1!D1"}
    assert all("circle" in item.why for item in plan.skipped)


def test_a_calculation_with_our_values_is_left_to_a_spreadsheet_program(tmp_path: Path):
    book = make_book(
        tmp_path / "book.xlsx",
        {
            "A1": '=_xldudf_DS_SIGNAL("a")',
            "B1": "=A1+1",
            "C1": "=_xldudf_DS_SIGNAL(B1)",
            "D1": "=_xldudf_DS_SIGNAL(C1)",
            "E1": '=_xldudf_DS_SIGNAL("a")*2',
            "F1": "=2+3",
            "G1": "=_xldudf_DS_SIGNAL(F1)",
        },
    )
    plan, _ = _plan(book)
    assert _rounds(plan) == [["Sheet1!A1", "Sheet1!G1"]]
    assert {item.where: item.why for item in plan.skipped} == {
        "Sheet1!C1": "Sheet1!B1 is a calculation with values of ours",
        "Sheet1!D1": "it needs a cell that is left as it is",
        "Sheet1!E1": "our function stands inside another formula",
    }


def test_a_formula_that_only_shows_our_value_is_worked_out_too(tmp_path: Path):
    book = make_book(
        tmp_path / "book.xlsx",
        {
            "A1": '=_xldudf_DS_SIGNAL("a","name")',
            "B1": '=A1&""',
            "C1": "=B1",
            "D1": "=_xldudf_DS_SIGNAL(C1)",
            "E1": "=Z9",
        },
    )
    plan, _ = _plan(book)
    assert _rounds(plan) == [["Sheet1!A1"], ["Sheet1!B1"], ["Sheet1!C1"], ["Sheet1!D1"]]


def test_arguments_are_what_the_cells_hold(tmp_path: Path):
    book = make_book(
        tmp_path / "book.xlsx",
        {"A1": "us-cpi", "A2": 5, "A3": True, "C1": "=_xldudf_DS_SIGNAL(A1,A1:B2,A3,Nothing!A1)"},
        Nothing={},
    )
    plan, opened = _plan(book)
    call = plan.cells[0].call
    assert isinstance(call, ParsedCall)
    assert arguments(opened, call, "Sheet1") == ["us-cpi", [["us-cpi", None], [5.0, None]], True, None]


def test_a_whole_column_counts_only_as_far_as_it_is_used(tmp_path: Path):
    book = make_book(tmp_path / "book.xlsx", {"A1": "a", "A3": "b", "C1": "=_xldudf_DS_SIGNAL(A:A)"})
    plan, opened = _plan(book)
    call = plan.cells[0].call
    assert isinstance(call, ParsedCall)
    assert arguments(opened, call, "Sheet1") == [[["a"], [None], ["b"]]]


def test_defined_names_and_other_sheets_are_followed(tmp_path: Path):
    import openpyxl
    from openpyxl.workbook.defined_name import DefinedName

    path = make_book(tmp_path / "book.xlsx", {"A1": "=_xldudf_DS_SIGNAL(Slug)"}, Inputs={"B2": "us-cpi"})
    book = openpyxl.load_workbook(path)
    book.defined_names["Slug"] = DefinedName("Slug", attr_text="Inputs!$B$2")
    book.save(path)
    plan, opened = _plan(path)
    call = plan.cells[0].call
    assert isinstance(call, ParsedCall)
    assert arguments(opened, call, "Sheet1") == ["us-cpi"]


def test_a_long_chain_is_put_in_order_without_delay(tmp_path: Path):
    cells = {
        "A1": '=_xldudf_DS_SIGNAL("a")',
        **{f"A{row}": f"=_xldudf_DS_SIGNAL(A{row - 1})" for row in range(2, 2001)},
    }
    plan, _ = _plan(make_book(tmp_path / "book.xlsx", cells))
    assert len(plan.rounds) == 2000
