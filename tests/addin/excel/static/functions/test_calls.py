"""How calls of Excel become calls to the backend."""

import pytest

from addin.config.settings import Settings
from udfs import REGISTRY


def posted(scripted) -> list:
    return [call for batch in scripted.batches for call in batch]


def test_every_function_of_the_library_is_associated(page, scripted):
    assert sorted(page.evaluate("Object.keys(functions)")) == sorted(REGISTRY)


def test_a_call_gives_the_backends_value(page):
    assert page.evaluate("call('SIGNAL', 'us-cpi')") == {"value": [["us-cpi"]]}


def test_the_calls_of_a_moment_go_out_as_one_batch(page, scripted):
    page.evaluate("Promise.all([...Array(500).keys()].map((i) => call('SIGNAL', `s-${i}`)))")
    assert [len(batch) for batch in scripted.batches] == [500]


def test_equal_calls_are_asked_once(page, scripted):
    values = page.evaluate("Promise.all([...Array(10000).keys()].map((i) => call('SIGNAL', `s-${i % 100}`)))")
    assert [len(batch) for batch in scripted.batches] == [100]
    assert values[9999] == {"value": [["s-99"]]}


def test_a_call_made_while_an_equal_one_is_on_its_way_joins_it(page, scripted):
    page.evaluate(
        """async () => {
          const first = call("SIGNAL", "us-cpi");
          while (DataServiceAddin.totals.batches === 0) await new Promise((go) => setTimeout(go, 0));
          return Promise.all([first, call("SIGNAL", "us-cpi")]);
        }"""
    )
    assert posted(scripted) == [["SIGNAL", "us-cpi"]]


def test_more_calls_than_one_batch_may_hold_go_out_as_several(page, scripted):
    scripted.settings = Settings(max_calls=100)
    page.goto(f"{scripted.url}/page")
    page.evaluate("Promise.all([...Array(201).keys()].map((i) => call('SIGNAL', `s-${i}`)))")
    assert sorted(len(batch) for batch in scripted.batches) == [1, 100, 100]


def test_calls_larger_than_one_body_may_be_go_out_as_several(page, scripted):
    scripted.settings = Settings(max_body_bytes=1_000)
    page.goto(f"{scripted.url}/page")
    page.evaluate("(text) => Promise.all([1, 2, 3].map((i) => call('SIGNAL', i + text)))", "x" * 400)
    assert sorted(len(batch) for batch in scripted.batches) == [1, 2]


def test_left_out_arguments_at_the_end_are_not_sent(page, scripted):
    page.evaluate("call('SIGNAL_HISTORY', 'us-cpi', null, undefined, '')")
    page.evaluate("call('SIGNAL_HISTORY', 'us-cpi', null, null, 'freq=M')")
    assert posted(scripted) == [["SIGNAL_HISTORY", "us-cpi"], ["SIGNAL_HISTORY", "us-cpi", None, None, "freq=M"]]


def test_a_range_is_sent_as_rows_with_null_for_blank_cells(page, scripted):
    page.evaluate("call('SIGNAL', [['us-cpi', 'us-10y'], ['', null]])")
    assert posted(scripted) == [["SIGNAL", [["us-cpi", "us-10y"], [None, None]]]]


def test_a_blank_cell_that_arrives_as_zero_is_a_blank_cell(page, scripted):
    page.evaluate("call('SIGNAL', [['us-cpi'], [0]])")
    assert posted(scripted) == [["SIGNAL", [["us-cpi"], [None]]]]


def test_a_range_of_one_cell_is_the_same_question_as_its_value(page, scripted):
    page.evaluate("Promise.all([call('SIGNAL', [['us-cpi']]), call('SIGNAL', 'us-cpi')])")
    assert posted(scripted) == [["SIGNAL", "us-cpi"]]


def test_a_range_without_values_keeps_its_shape_and_one_blank_cell_is_a_left_out_argument(page, scripted):
    page.evaluate("call('INDEX', 'x', [['', ''], ['', '']])")
    page.evaluate("call('INDEX', 'x', [['']])")
    assert posted(scripted) == [["INDEX", "x", [[None, None], [None, None]]], ["INDEX", "x"]]


def test_the_blank_end_of_a_whole_column_is_not_sent(page, scripted):
    page.evaluate("call('SIGNAL', [['us-cpi'], ['us-10y'], ...Array(1048574).fill([''])])")
    assert posted(scripted) == [["SIGNAL", [["us-cpi"], ["us-10y"]]]]


def test_a_formatted_date_is_sent_as_its_serial_number(page, scripted):
    page.evaluate("call('SIGNAL', 'us-cpi', null, {type: 'Double', basicValue: 45292, numberFormat: 'yyyy-mm-dd'})")
    assert posted(scripted) == [["SIGNAL", "us-cpi", None, 45292]]


def test_an_entity_is_sent_by_its_text(page, scripted):
    page.evaluate("call('SIGNAL', {type: 'Entity', text: 'us-cpi', basicValue: '#VALUE!', properties: {}})")
    assert posted(scripted) == [["SIGNAL", "us-cpi"]]


ERROR_FORMS = [
    "new CustomFunctions.Error('#N/A')",
    "{type: 'Error', basicValue: '#N/A', errorType: 'NotAvailable'}",
    "[[new CustomFunctions.Error('#N/A')]]",
    "'#N/A no signal'",
]


@pytest.mark.parametrize("error", ERROR_FORMS)
def test_an_argument_that_is_an_error_gives_that_error_without_asking(page, scripted, error):
    told = page.evaluate(f"call('SIGNAL', 'us-cpi', {error})")
    assert told == {"error": "#N/A", "message": "an argument is an error itself (#N/A)"}
    assert scripted.batches == []


@pytest.mark.parametrize(
    ("given", "sent"), [("#N/A", "#N/A"), ("#VALUE!", "#VALUE!"), ("#DIV/0!", "#DIV/0!"), ("#BLOCKED!", "#N/A")]
)
def test_an_error_inside_a_range_goes_along_as_its_code(page, scripted, given, sent):
    page.evaluate("(code) => call('SIGNAL', [['us-cpi', new CustomFunctions.Error(code)]])", given)
    page.evaluate("(code) => call('INDEX', [['x'], [{type: 'Error', basicValue: code}]])", given)
    assert posted(scripted) == [["SIGNAL", [["us-cpi", sent]]], ["INDEX", [["x"], [sent]]]]


def test_a_host_that_passes_no_invocation_object_is_served_too(page, scripted):
    assert page.evaluate("functions.SIGNAL('us-cpi')") == [["us-cpi"]]
    assert posted(scripted) == [["SIGNAL", "us-cpi"]]


def test_a_key_given_to_the_page_goes_with_every_batch_until_it_is_taken_back(page, scripted):
    page.evaluate("(DataServiceAddin.useKey('ds_1'), call('SIGNAL', 'a'))")
    page.evaluate("(DataServiceAddin.useKey(null), call('SIGNAL', 'a'))")
    assert scripted.key_headers == ["ds_1", None]


def test_the_page_shows_nothing_of_itself_but_what_it_offers(page):
    assert page.evaluate("[typeof memo, typeof batches, typeof DataServiceAddin]") == [
        "undefined",
        "undefined",
        "object",
    ]
