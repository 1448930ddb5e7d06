"""Workbooks that are open in a host: what a refresh of their formulas would spend, with the cells they lead to."""

import pytest

from tests.addin.backends import backend_of

PLACE = 16_384


def sheet(*formulas, cells=(), name="Sheet1"):
    ours = {str(row * PLACE): formula for row, formula in enumerate(formulas)}
    return {"name": name, "rows": 9, "formulas": ours, "others": {}, "cells": list(cells)}


def asked(backend, *sheets, path="functions/book/cost", **options):
    response = backend.http.post(f"/{path}", json={"sheets": sheets, "names": {}, **options})
    assert response.status_code == 200, response.text
    return response.json()


def test_the_cost_is_told_once_the_cells_are_there_that_decide_it(backend, service):
    backend.batch(["SIGNALS"])  # each name costs its own request only once the catalogue is known
    before = service.running.request_count
    formulas = ['=DS.SIGNAL("us-cpi")', "=DS.SIGNAL(B2)"]
    first = asked(backend, sheet(*formulas))
    wanted = {"sheet": 0, "top": 1, "bottom": 1, "left": 1, "right": 1}
    assert (first["wanted"], first["cost"]) == ([wanted], None)
    cells = {"top": 1, "left": 1, "values": [["us-10y"]], "formulas": [[None]], "spilled": False}
    second = asked(backend, sheet(*formulas, cells=[cells]))
    cost = second["cost"]
    assert (second["wanted"], cost["at_least"], cost["at_most"], cost["requests"], cost["calls"]) == ([], 2, 2, 2, 2)
    part = asked(backend, sheet(*formulas), is_part=True)
    assert (part["cost"]["at_least"], part["cost"]["at_most"]) == (1, None)
    assert service.running.request_count == before


def test_what_is_fresh_costs_nothing_unless_everything_is_asked_for(backend):
    backend.batch(["SIGNAL", "us-cpi"])
    book = sheet('=DS.SIGNAL("us-cpi")')
    assert asked(backend, book)["cost"]["at_most"] == 0
    assert asked(backend, book, path="functions/book/cost?refresh=stale")["cost"]["fresh_calls"] == 1
    assert asked(backend, book, path="functions/book/cost?refresh=force")["cost"]["at_most"] == 1


def test_calls_of_several_batches_are_weighed_one_after_the_other(service, tmp_path):
    with backend_of(service, tmp_path, max_calls=2) as backend:
        backend.batch(["SIGNALS"])
        cost = asked(backend, sheet(*(f'=DS.SIGNAL("{name}")' for name in ("us-cpi", "us-10y", "btc-usd", "sp-500"))))
        assert (cost["cost"]["at_least"], cost["cost"]["at_most"], cost["cost"]["calls"]) == (2, 4, 4)


def test_a_recalculation_makes_as_many_calls_as_are_told(backend):
    told = asked(backend, sheet('=DS.SIGNAL("us-cpi")', "=DS.SIGNAL(B1)"), path="functions/book")
    assert told == {"expected": 2, "depend": False}


UNEVEN = {"top": 0, "left": 0, "values": [[1], [2, 3]], "formulas": [[None], [None]], "spilled": False}


@pytest.mark.parametrize(
    "body", [[], {"sheets": [{}], "names": {}}, {"sheets": [sheet("=1", cells=[UNEVEN])], "names": {}}]
)
def test_what_is_no_workbook_is_refused_with_the_form_of_one(backend, body):
    for path in ("functions/book", "functions/book/cost"):
        response = backend.http.post(f"/{path}", json=body)
        assert (response.status_code, response.json()["error"][:19]) == (400, 'send {"sheets": [{"')


def test_a_workbook_is_refreshed_in_one_of_two_ways(backend):
    response = backend.http.post("/functions/book/cost?refresh=some", json={"sheets": [], "names": {}})
    assert (response.status_code, response.json()["error"]) == (400, 'mode is "stale" or "force"')


def part(name, address, numbers=None):
    return {"name": name, "sheet": "Now", "address": address, "numbers": numbers or {}}


def test_only_what_the_template_makes_is_emptied_when_a_book_is_frozen(backend):
    quota = {"sheet": "Now", "formula": "=DS.QUOTA()", "top": 4, "bottom": 6, "left": 0, "right": 1}
    parts = [
        part("_button", "Now!A1:B1"),
        part("_Button", "Now!A1:B2"),  # larger than the template's
        part("_button", "Other!A1"),
        part("_mine", "Now!A1"),
        part("_help", "Now!A1:C9", {"1": "=5"}),
        part("_help", "Now!A5:B7", {str(4 * PLACE + 1): "=5", str(5 * PLACE): '=IF(Now!A6&""="","",Now!A6)'}),
        part("", "Now!A5:B7"),
        part("", "Now!D5:E7"),
        part("", "nowhere"),
    ]
    told = backend.http.post("/functions/book/parts", json={"parts": parts, "filled": [quota]}).json()
    assert told == {"ours": [True, False, False, False, False, True, True, False, False]}
    refused = backend.http.post("/functions/book/parts", json={"parts": 5})
    assert (refused.status_code, refused.json()) == (400, {"error": 'send {"parts": [], "filled": []}'})
