"""Our functions in Microsoft's published engine: what Excel would be told."""

import json

import pytest

from addin.excel.metadata import functions_metadata
from tests.addin.excel.parts.engine import Engine, engine
from tests.addin.excel.parts.scripted_backend import fresh
from udfs import REGISTRY

__all__ = ["engine"]

METADATA = functions_metadata(REGISTRY.values(), base_url="https://localhost:8765")


def test_the_engine_finds_every_function_that_the_metadata_names(engine):
    cells = engine.cells(*([function["id"], "x"] for function in METADATA["functions"]))
    assert cells == [{"value": [["x"]]}] * len(METADATA["functions"])
    assert engine.tab.errors == []


def test_a_function_that_is_not_ours_is_not_found(engine):
    assert "errorCode" in engine.cells(["NO_SUCH_FUNCTION", "x"])[0]


@pytest.mark.parametrize("function", METADATA["functions"], ids=lambda function: function["id"])
def test_left_out_arguments_arrive_as_excel_sends_them(engine, scripted, function):
    """Excel sends null for every optional argument that a formula leaves out."""
    scripted.answer = lambda call: fresh(len(call))
    assert engine.cells([function["id"], *[None] * len(function["parameters"])]) == [{"value": [[1]]}]


def test_ranges_spill_in_their_shape(engine, scripted):
    scripted.answer = lambda call: {
        "rows": 2,
        "header": None,
        "columns": [{"type": "any", "values": ["a", "b"]}, {"type": "number", "values": [1.5, None]}],
        "fresh_s": 900,
    }
    assert engine.cells(["SIGNAL", [["us-cpi"], ["us-10y"]], [["name", "value"]]]) == [
        {"value": [["a", 1.5], ["b", ""]]}
    ]
    assert scripted.batches == [[["SIGNAL", [["us-cpi"], ["us-10y"]], [["name", "value"]]]]]


@pytest.mark.parametrize(("code", "number"), [("#N/A", Engine.NOT_AVAILABLE), ("#VALUE!", Engine.WRONG_VALUE)])
def test_an_error_reaches_excel_with_its_text(engine, scripted, code, number):
    scripted.answer = lambda call: {"error": code, "message": "no signal 'x'; did you mean y?", "fresh_s": 0}
    assert engine.cells(["SIGNAL", "x"]) == [{"value": "no signal 'x'; did you mean y?", "errorCode": number}]


def test_an_argument_that_is_an_error_is_passed_on(engine, scripted):
    """Bit 4 of the flags says that arguments may be errors; the engine makes them objects."""
    engine.tab.evaluate(
        """() => _richApiNativeBridge.onMessageFromHost(JSON.stringify({ type: 3, message: { entries: [{
          messageCategory: 1,
          messageType: 1000,
          message: [0, "SIGNAL", [{ type: "CustomFunctionError", code: "#N/A" }], null, 4],
        }] } }))"""
    )
    engine.tab.evaluate("async () => { while (!results[0]) await new Promise((go) => setTimeout(go, 5)); }")
    assert engine.tab.evaluate("results[0].errorCode") == Engine.NOT_AVAILABLE
    assert scripted.batches == []


def test_an_error_inside_a_range_is_that_cells_error_and_the_others_are_answered(engine, scripted):
    scripted.answer = lambda call: {
        "rows": 1,
        "header": None,
        "columns": [
            {
                "type": "any",
                "values": [{"error": text, "message": "it is an error itself"} if text == "#N/A" else 163.1],
            }
            for text in call[1][0]
        ],
        "fresh_s": 60,
    }
    engine.tab.evaluate(
        """() => _richApiNativeBridge.onMessageFromHost(JSON.stringify({ type: 3, message: { entries: [{
          messageCategory: 1,
          messageType: 1000,
          message: [0, "SIGNAL", [[["us-cpi", { type: "CustomFunctionError", code: "#N/A" }]]], null, 4],
        }] } }))"""
    )
    engine.tab.evaluate("async () => { while (!results[0]) await new Promise((go) => setTimeout(go, 5)); }")
    assert scripted.batches == [[["SIGNAL", [["us-cpi", "#N/A"]]]]]
    assert engine.tab.evaluate("results[0].value[0][0]") == 163.1
    assert engine.tab.evaluate("results[0].value[0][1]")["errorType"] == "NotAvailable"


def test_dates_arrive_as_numbers_with_their_format(engine, scripted):
    engine.tab.evaluate(
        "() => { Office.context ??= {}; Office.context.requirements = { isSetSupported: () => true }; }"
    )
    scripted.answer = lambda call: fresh(46252, type="date")
    assert engine.cells(["SIGNAL", "x", "observed_at"]) == [
        {"value": [[{"type": "Double", "basicValue": 46252, "numberFormat": "yyyy-mm-dd"}]]}
    ]


def test_twenty_thousand_calls_of_one_recalculation_take_few_batches(engine, scripted):
    shown = engine.tab.evaluate(
        """async () => {
          const values = await cells([...Array(20000).keys()].map((i) => ["SIGNAL", `s-${i}`]));
          return values.filter((cell, i) => cell.value[0][0] === `s-${i}`).length;
        }"""
    )
    assert shown == 20_000
    sizes = [len(batch) for batch in scripted.batches]
    # Each twice the one before; a page that takes longer over its calls than a cell may wait sends what it has.
    assert (sizes[0], sum(sizes)) == (10_000, 20_000)
    assert len(sizes) <= 3


def test_a_failed_backend_leaves_no_cell_waiting(engine, scripted):
    async def broken(_):
        raise ConnectionResetError

    scripted.reply = broken
    cells = engine.cells(*(["SIGNAL", f"s-{i}"] for i in range(300)))
    assert {cell["errorCode"] for cell in cells} == {Engine.NOT_AVAILABLE}


def test_more_than_excel_takes_at_once_is_delivered_in_parts(engine, scripted):
    """Ten tables of 1.2 MB: in one exchange Excel would refuse them, again and again, until the engine gives up."""
    table = {"rows": 6_000, "header": None, "columns": [{"type": "any", "values": ["x" * 193] * 6_000}], "fresh_s": 900}
    scripted.answer = lambda call: table
    engine.tab.evaluate("(calls) => cells(calls).then(() => 0)", [["SIGNAL_HISTORY", f"s-{i}"] for i in range(10)])
    lengths = engine.tab.evaluate("deliveries.map((delivery) => delivery.length)")
    assert len(lengths) > 1
    assert max(lengths) <= 5_000_000
    assert sum(lengths) > 10 * len(json.dumps(table["columns"][0]["values"], separators=(",", ":")))


def test_remembered_results_are_delivered_in_parts_too(engine, scripted):
    table = {"rows": 6_000, "header": None, "columns": [{"type": "any", "values": ["x" * 193] * 6_000}], "fresh_s": 900}
    scripted.answer = lambda call: table
    engine.tab.evaluate("cells([['SIGNAL_HISTORY', 'x']]).then(() => 0)")
    engine.tab.evaluate("(calls) => cells(calls).then(() => 0)", [["SIGNAL_HISTORY", "x"]] * 6)
    assert len(scripted.batches) == 1
    assert max(engine.tab.evaluate("deliveries.map((delivery) => delivery.length)")) <= 5_000_000
