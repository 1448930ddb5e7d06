"""What a book costs: a few batches to the backend, one request of the service for each thing it needs."""

import pytest

from addin.calc.extension import Extension
from addin.calc.soffice import convert
from tests.addin.calc.books import calculated, column, write_book
from tests.addin.calc.counting import counted_backend, unused_url
from tests.addin.calc.office import require_soffice

SLUGS = ["us-cpi", "us-10y", "wb.gold", "btc-usd", "sp-500", "fx.eur-usd"]


@pytest.fixture(autouse=True)
def soffice():
    require_soffice()


def test_thousands_of_cells_are_a_few_batches_and_a_request_for_each_signal(service, tmp_path):
    cells = {f"A{i}": SLUGS[i % len(SLUGS)] for i in range(1, 3001)}
    cells |= {f"B{i}": f"=DS.SIGNAL(A{i})" for i in range(1, 3001)}
    cells |= {f"C{i}": f'=DS.SIGNAL("us-"&"cpi",,{40_000 + i})' for i in range(1, 3001)}
    with counted_backend(service, tmp_path) as backend:
        rows = calculated(tmp_path, {"S": cells}, backend.url)["S"]
        assert backend.batches <= 20, "one, and again each second for what is pending"
    assert service.running.request_count <= len(SLUGS) + 2, "the signals' detail, and one longer history in pages"
    assert all(isinstance(row[1], float) for row in rows)
    assert len({row[1] for row in rows}) == len(SLUGS)


def test_a_hundred_cells_on_an_unknown_name_cost_one_request_and_the_catalogue(service, tmp_path):
    with counted_backend(service, tmp_path) as backend:
        assert set(column(tmp_path, ['=DS.SIGNAL("us-nope")'] * 100, backend.url)) == {"#N/A"}
        assert backend.batches == 1
    assert service.running.request_count <= 2


def test_a_book_that_is_opened_again_costs_no_request(service, tmp_path):
    formulas = [f'=DS.SIGNAL("{slug}")' for slug in SLUGS]
    with counted_backend(service, tmp_path) as backend:
        first = column(tmp_path, formulas, backend.url)
        service.running.forget_requests()
        assert column(tmp_path, formulas, backend.url) == first
    assert service.running.request_count == 0


def test_without_a_backend_cells_show_errors_and_calc_goes_on(tmp_path):
    formulas = [f'=DS.SIGNAL("s{i}")' for i in range(500)]
    formulas += ['=DS.SIGNAL("x",,,"err=text")', '=DS.SIGNAL("x",,,"err=blank")&"|"', '=DS.SIGNAL("x",,"-1Y")', "=1+1"]
    shown = column(tmp_path, formulas, unused_url())
    assert set(shown[:500]) == {"#N/A"}
    assert shown[500].endswith("start it with: addin serve --http")
    assert shown[501:] == ["|", "#N/A", "2"]


def test_a_page_that_is_no_backend_gives_errors(service, tmp_path):
    assert column(tmp_path, ['=DS.SIGNAL("us-cpi")'], service.url) == ["#N/A"]


def test_constants_and_other_formulas_need_no_backend(service, tmp_path):
    book = write_book(tmp_path / "plain.xlsx", {"S": {"A1": 2, "A2": "=A1*3"}})
    with counted_backend(service, tmp_path) as backend:
        made = convert(book, to="csv", into=tmp_path / "made", extension=Extension(url=backend.url))
        assert backend.paths == []
    assert made.read_text() == "2\n6\n"
