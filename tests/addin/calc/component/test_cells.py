"""Real Calc, headless: every function gives in a cell what the backend answers, and errors are errors."""

import csv
import math
import zipfile
from dataclasses import replace
from datetime import date
from typing import Any

import httpx
import pytest
import xlsxwriter

from addin.calc.component.calls import json_of
from addin.calc.component.values import value_of
from addin.calc.extension import Extension
from addin.calc.soffice import convert, prepared
from addin.formulas import Area, Unworkable, parse
from tests.addin.calc.books import calculated, column, write_book
from tests.addin.calc.counting import counted_backend
from tests.addin.calc.office import require_soffice
from udfs import REGISTRY

FIELDS = ["value", "name", "unit", "change"]
MOMENTARY = {"QUOTA", "STATUS", "EXPLAIN"}
"""Functions that tell of requests and ages, which go on while Calc works."""

pytestmark = pytest.mark.usefixtures("soffice")


@pytest.fixture(scope="module")
def soffice():
    require_soffice()


def ask(url: str, *calls: Any) -> list[Any]:
    """The values of calls, as the backend answers them."""
    answers = httpx.post(f"{url}/functions/call", json={"calls": [json_of(call) for call in calls]}, timeout=60).json()
    return [value_of(answer).value for answer in answers["answers"]]


def call_in(formula: str, slugs: list[str]) -> tuple[Any, ...]:
    """The call that a formula makes on a sheet whose A2:A17 are slugs and whose B1:E1 are fields."""
    parsed = parse(formula)
    return (parsed.function_id, *(_range(a, slugs) if isinstance(a, Area) else a for a in parsed.args))


def _range(area: Area, slugs: list[str]) -> tuple[tuple[str, ...], ...]:
    if area.first_row == 1:
        return (tuple(FIELDS[area.first_column - 2 : area.last_column - 1]),)
    return tuple((slug,) for slug in slugs[area.first_row - 2 : area.last_row - 1])


def workable_examples() -> list[tuple[str, str]]:
    found = []
    for function in REGISTRY.values():
        for example in function.examples:
            try:
                parse(example)
            except Unworkable:
                continue
            found.append((function.id, example))
    return found


def test_every_example_of_every_function_shows_what_the_backend_answers(service, tmp_path):
    examples = workable_examples()
    assert {function for function, _ in examples} == set(REGISTRY)
    with counted_backend(service, tmp_path) as backend:
        slugs = [row[0] for row in ask(backend.url, ("SIGNALS",))[0][1:]]
        inputs = {f"A{i}": slug for i, slug in enumerate(slugs, 2)} | dict(
            zip(("B1", "C1", "D1", "E1"), FIELDS, strict=True)
        )
        sheets = {f"S{i}": {**inputs, "G1": example} for i, (_, example) in enumerate(examples)}
        shown = calculated(tmp_path, sheets, backend.url, fit_tables=True)
        wanted = ask(backend.url, *(call_in(example, slugs) for _, example in examples))
    for i, (function, example) in enumerate(examples):
        found = [row[6:] for row in shown[f"S{i}"]]
        expected = wanted[i] if isinstance(wanted[i], tuple) else ((wanted[i],),)
        if function in MOMENTARY:
            assert [row[0] for row in found[: len(expected)]][:1] == [expected[0][0]] or function == "QUOTA", example
        else:
            assert_shown(found, expected, example)


def assert_shown(found: list[list[Any]], expected: tuple[tuple[Any, ...], ...], example: str) -> None:
    for y, row in enumerate(expected):
        for x, value in enumerate(row):
            cell = found[y][x] if y < len(found) and x < len(found[y]) else None
            if isinstance(value, float) and math.isnan(value):
                assert cell in ("#N/A", "#VALUE!"), (example, y, x)
            elif isinstance(value, float):
                assert cell == pytest.approx(value, rel=1e-14), (example, y, x)
            else:
                assert (cell or "") == (value or ""), (example, y, x)


def test_failed_cells_are_errors_and_no_numbers(service, tmp_path):
    formulas = [
        '=DS.SIGNAL("nope")',
        "=DS.SIGNAL()",
        '=IF(ISNA(DS.SIGNAL("nope")),"yes","no")',
        '=IF(ISERR(DS.SIGNAL("us-cpi","value","not a day")),"yes","no")',
        '=IFERROR(DS.SIGNAL("nope"),"none")',
        "=DS.SIGNAL(Z99)",
        '=DS.SIGNAL("nope",,,"err=text")',
        '=DS.SIGNAL("nope",,,"err=blank")',
        '=DS.SIGNAL("us-cpi",,,"colour=red")',
    ]
    with counted_backend(service, tmp_path) as backend:
        shown = column(tmp_path, formulas, backend.url)
    assert shown[:6] == ["#N/A", "#VALUE!", "yes", "yes", "none", "#VALUE!"]
    assert shown[6].startswith("no signal 'nope'")
    assert shown[7:] == ["", "#VALUE!"]


def test_true_and_false_are_one_and_zero_and_blank_is_blank(service, tmp_path):
    formulas = [
        '=DS.SIGNAL("us-cpi","is_premium")+10',
        '=DS.SIGNAL("pm.rate-cut","shortcode")&"|"',
        '=DS.SIGNAL("WTI")',
    ]
    with counted_backend(service, tmp_path) as backend:
        (premium, price) = ask(backend.url, ("SIGNAL", "us-cpi", "is_premium"), ("SIGNAL", "WTI"))
        assert column(tmp_path, formulas, backend.url) == [f"{premium + 10:g}", "|", f"{price:g}"]


def test_calls_stand_anywhere_in_formulas_and_in_each_other(service, tmp_path):
    formulas = [
        '=ROUND(DS.SIGNAL("us-"&"10y")*2,1)',
        '=DS.SIGNAL(DS.SIGNAL("eia.wti.spot","shortcode"),"name")',
        '=SUM(DS.SIGNAL("us-cpi"),DS.SIGNAL("us-10y"))',
        "=COUNTA(DS.SIGNALS(,,,5))",
        '=IF(DS.SIGNAL("us-cpi")>0,"up","down")',
    ]
    with counted_backend(service, tmp_path) as backend:
        ten, cpi, name = ask(backend.url, ("SIGNAL", "us-10y"), ("SIGNAL", "us-cpi"), ("SIGNAL", "WTI", "name"))
        before = backend.batches
        shown = column(tmp_path, formulas, backend.url)
        batches = backend.batches - before
    assert shown[0] == f"{round(ten * 2, 1):g}"
    assert shown[1] == name
    assert float(shown[2]) == pytest.approx(ten + cpi)
    assert (int(shown[3]) > 5, shown[4]) == (True, "up")
    assert batches == 2, "one for the calls of the first level, one for the call that waited for another"


def test_a_book_that_counts_days_from_1904_gives_and_gets_its_own_numbers(service, tmp_path):
    shown = []
    for epoch in (1900, 1904):
        book = tmp_path / f"{epoch}.xlsx"
        with xlsxwriter.Workbook(book, {"date_1904": epoch == 1904}) as made:
            sheet = made.add_worksheet()
            sheet.write_datetime("A1", date(2026, 6, 30), made.add_format({"num_format": "yyyy-mm-dd"}))
            sheet.write_formula("B1", '=_xldudf_DS_SIGNAL("us-cpi","value",A1)')
            sheet.write_formula("C1", '=TEXT(_xldudf_DS_SIGNAL("us-cpi","observed_at",A1),"yyyy-mm-dd")')
            sheet.write_array_formula("D1:E3", '{=_xldudf_DS_SIGNAL_HISTORY("us-cpi","2026-01-01",A1)}')
            sheet.write_formula("F1", '=TEXT(D2,"yyyy-mm-dd")')
        with counted_backend(service, tmp_path) as backend:
            csv = convert(book, to="csv", into=tmp_path, extension=Extension(url=backend.url))
        first = csv.read_text().splitlines()[0].split(",")
        shown.append([first[1], first[2], first[5]])
    assert shown[0] == shown[1]
    assert shown[0][1].startswith("2026-")


def test_a_hostile_name_is_only_an_unknown_name(service, tmp_path):
    names = ["=1+1", '=HYPERLINK("http://x")', "'; DROP TABLE x", "<b>&\x01", "x" * 1000, "😀", "a\nb"]
    sheet = {"A1": "us-cpi", "B1": "=DS.SIGNAL(A1)"}
    for row, name in enumerate(names, 2):
        sheet |= {f"A{row}": f" {name}", f"C{row}": f"=DS.SIGNAL(A{row})"}
        sheet[f"B{row}"] = f'=DS.SIGNAL(A{row},,,"err=text")'
    with counted_backend(service, tmp_path) as backend:
        (cpi,) = ask(backend.url, ("SIGNAL", "us-cpi"))
        first, *others = calculated(tmp_path, {"S": sheet}, backend.url)["S"]
    assert first[1] == pytest.approx(cpi)
    for name, (_, text, error) in zip(names, others, strict=True):
        assert (text.startswith("no signal"), error) == (True, "#N/A"), name


def test_a_converted_book_keeps_the_names_that_excel_stores(service, tmp_path):
    with counted_backend(service, tmp_path) as backend:
        cells = {"A1": '=DS.SIGNAL("us-cpi")', "C1:D4": '=DS.SIGNAL_HISTORY("us-cpi","N3")'}
        book = write_book(tmp_path / "book.xlsx", {"S": cells})
        made = convert(book, to="xlsx", into=tmp_path / "made", extension=Extension(url=backend.url))
    with zipfile.ZipFile(made) as file:
        xml = file.read("xl/worksheets/sheet1.xml").decode()
    assert "_xldudf_DS_SIGNAL(&quot;us-cpi&quot;)" in xml
    assert "_xldudf_DS_SIGNAL_HISTORY(&quot;us-cpi&quot;,&quot;N3&quot;)" in xml
    assert 'ref="C1:D4"' in xml


def test_tables_take_the_size_of_their_results_unless_told_not_to(service, tmp_path):
    cells = {"A1": '=DS.SIGNAL_HISTORY("us-cpi","N5")', "D1:H9": '=DS.SIGNAL_HISTORY("us-cpi","N2")', "D10": "below"}
    with counted_backend(service, tmp_path) as backend:
        kept = calculated(tmp_path, {"S": cells}, backend.url)["S"]
        with prepared(Extension(url=backend.url)) as office:
            plain = {name: value for name, value in office.environment.items() if name != "DATA_SERVICE_ADDIN_FIT"}
            arguments = ["--headless", "--convert-to", "csv", "--outdir", str(tmp_path), str(tmp_path / "book.xlsx")]
            replace(office, environment=plain).run(arguments)
    assert kept[0][0] == "date"
    assert len(kept) == 10
    assert kept[3][3:] == ["#N/A"] * 5
    with (tmp_path / "book.csv").open(encoding="utf-8", newline="") as stream:
        fitted = list(csv.reader(stream))
    assert [len(list(filter(None, row))) for row in fitted] == [4, 4, 4, 2, 2, 2, 0, 0, 0, 1]
    assert (fitted[0][0], fitted[9][3]) == ("date", "below")
    assert "#N/A" not in (tmp_path / "book.csv").read_text(encoding="utf-8")
