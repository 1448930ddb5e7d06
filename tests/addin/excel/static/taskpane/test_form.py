"""A form that is not right yet: what is wrong is marked where it is, and nothing wrong is inserted."""

import dataclasses

import pytest

from tests.addin.backends import backend_of
from tests.addin.excel.parts.panes import Pane, opened
from tests.addin.excel.static.taskpane.test_excel import OFFICE
from udfs import REGISTRY
from udfs.arguments.options import Options
from udfs.timeseries.table import TableOptions

INSERT = "document.querySelector('.wizard-bar .button.primary')"
INVALID = "[...document.querySelectorAll('[aria-invalid=true]')].map((each) => each.value)"
IN_SIGHT = """() => {
  const error = document.querySelector(".field-error:not([hidden])").getBoundingClientRect();
  const [head, bar] = [".top", ".wizard-bar"].map((part) => document.querySelector(part).getBoundingClientRect());
  return error.top >= head.bottom && error.bottom <= bar.top;
}"""


def open_form(pane: Pane, name: str) -> None:
    pane.open_tab("Insert")
    pane.press(name)
    pane.run(lambda page: page.locator(".wizard h2").wait_for())


def test_a_select_shows_what_leaving_it_out_means(chromium, backend):
    with opened(chromium, backend) as pane:
        open_form(pane, "SIGNAL_HISTORY")
        shown = pane.tab.evaluate(
            "[...document.querySelectorAll('.wizard select')].map((s) => s.selectedOptions[0].text)"
        )
        defaults = [
            "raw",
            "last",
            "union",
            "none",
            "last",
            "filled",
            "periods",
            "asc",
            "slug",
            "show",
            "wide",
            "latest",
            "code",
        ]
        expected = [f"{name} (default)" for name in defaults]
        assert [text.split(" –")[0] for text in shown] == [*expected[:2], "any", *expected[2:]]
        pane.press("Functions")
        open_form(pane, "WIRE")
        assert pane.tab.evaluate("document.querySelector('.wizard select').selectedOptions[0].text") == "any"


def test_no_select_of_any_function_begins_with_a_dash_or_names_a_choice_twice(chromium, backend):
    with opened(chromium, backend) as pane:
        for name in REGISTRY:
            pane.open_tab("Insert")
            pane.run(lambda page, name=name: page.locator(f"[data-function={name}]").click())
            lists = pane.tab.evaluate(
                "[...document.querySelectorAll('.wizard select')].map((s) => [...s].map((o) => o.text))"
            )
            for texts in lists:
                values = [text.split(" – ")[0].removesuffix(" (default)") for text in texts]
                assert values[0] not in ("", "—")
                assert len(set(values)) == len(values)
            pane.press("Functions")


def test_the_defaults_that_options_tell_are_those_that_count():
    """The registry's words beside the values that the table itself begins with."""
    counted: dict[str, str | None] = {field.name: str(field.default) for field in dataclasses.fields(TableOptions)}
    counted |= {"transform": None, "limit": None, "partial": None, "asof": None, "vintage": "latest"}
    for option in REGISTRY["SIGNAL_HISTORY"].parameters[3].kind.options:
        assert option.default == counted[option.name]


def test_every_default_of_an_option_is_one_of_its_choices():
    kinds = [parameter.kind for function in REGISTRY.values() for parameter in function.parameters]
    options = [option for kind in kinds if isinstance(kind, Options) for option in kind.allowed]
    for option in options:
        assert option.default is None or option.default in [choice.value for choice in option.kind.choices]


def test_a_wrong_argument_is_marked_in_sight_and_cannot_be_inserted(chromium, backend):
    with opened(chromium, backend, office=OFFICE, height=640) as pane:
        open_form(pane, "SIGNAL_HISTORY")
        pane.type("slug", "us-cpi")
        pane.type("start", "yesterdayish")
        pane.tab.evaluate("window.scrollTo(0, document.body.scrollHeight)")
        pane.until(f"{INVALID}.length")
        assert pane.tab.evaluate(INVALID) == ["yesterdayish"]
        assert pane.tab.evaluate(IN_SIGHT)
        assert "'yesterdayish' is not a date" in pane.text(".field-error:visible")
        assert pane.text(".why") == "Correct start to insert."
        assert pane.tab.evaluate(f"{INSERT}.disabled")
        pane.type("start", "-3Y")
        pane.until(f"!{INSERT}.disabled")
        assert pane.tab.evaluate(INVALID) == []
        pane.press("Insert", exact=True)
        pane.sees("Inserted into A1")


@pytest.mark.parametrize(
    ("function", "typed", "wrong"),
    [
        ("SIGNAL The latest value", {"slug": "us-cpi", "at": "some day"}, ["some day"]),
        ("SIGNAL_HISTORY", {"slug": "us-cpi", "limit": "many"}, ["many"]),
        ("SIGNAL_HISTORY", {"slug": "us-cpi", "transform": "nonsense"}, ["nonsense"]),
        ("WIRE", {"min_importance": "500"}, ["500"]),
        ("SPARK", {"slug": "us-cpi", "points": "0"}, ["0"]),
    ],
)
def test_whichever_argument_is_wrong_it_is_the_one_that_is_marked(chromium, backend, service, function, typed, wrong):
    with opened(chromium, backend) as pane:
        open_form(pane, function)
        pane.tab.evaluate("document.querySelectorAll('details.options').forEach((each) => (each.open = true))")
        for name, text in typed.items():
            pane.type(name, text)
        pane.until(f"{INVALID}.length")
        assert pane.tab.evaluate(INVALID) == wrong
        assert pane.tab.evaluate(f"{INSERT}.disabled")
    assert service.running.request_count == 0


def test_an_unknown_name_is_marked_once_it_is_known_to_be_none(chromium, backend):
    with opened(chromium, backend) as pane:
        pane.press("Load the catalogue")
        pane.sees("15 signals")
        open_form(pane, "SIGNAL The latest value")
        pane.type("slug", "us-cpii")
        pane.sees("did you mean us-cpi?")
        pane.until(f"{INSERT}.disabled")
        assert pane.tab.evaluate(INVALID) == ["us-cpii"]


def test_a_press_right_after_typing_waits_for_the_verdict(chromium, backend):
    with opened(chromium, backend, office=OFFICE) as pane:
        open_form(pane, "SIGNAL_HISTORY")
        pane.type("slug", "us-cpi")
        pane.type("start", "yesterdayish")
        pane.tab.evaluate(f"{INSERT}.click()")
        pane.until(f"{INVALID}.length")
        pane.settle()
        assert pane.tab.evaluate("book.cell('Sheet1', 'A1')?.formula ?? ''") == ""


def test_a_service_that_is_down_makes_no_formula_wrong(chromium, backend, service):
    with opened(chromium, backend) as pane:
        service.running.stop()
        open_form(pane, "SIGNAL The latest value")
        pane.type("slug", "us-cpi")
        pane.press("Preview (at least 1 request)")
        pane.sees("did not answer")
        assert pane.tab.evaluate(f"[{INSERT}.disabled, {INVALID}.length]") == [False, 0]


def test_a_tier_that_is_known_to_refuse_is_offered_no_preview(chromium, service, tmp_path):
    with backend_of(service, tmp_path, key=service.free_key) as backend, opened(chromium, backend) as pane:
        pane.press("Load the catalogue")
        pane.sees("15 signals")
        spent = service.running.request_count
        open_form(pane, "WIRE")
        pane.type("ticker", "CPI")
        pane.sees("This needs the Pro tier")
        pane.sees_no("Preview (1 request)")
        assert service.running.request_count == spent


def test_escape_leaves_a_form_which_keeps_what_was_typed(chromium, backend):
    with opened(chromium, backend) as pane:
        open_form(pane, "SIGNAL_HISTORY")
        pane.type("slug", "us-cpi")
        pane.keys("Escape")
        assert pane.focused().startswith("SIGNAL_HISTORY")
        pane.keys("Enter")
        pane.sees('=DS.SIGNAL_HISTORY("us-cpi")')


def test_escape_leaves_a_card_and_closes_a_dialog_before_the_form_behind_it(chromium, backend):
    with opened(chromium, backend) as pane:
        pane.press("Load the catalogue")
        pane.press("US consumer price")
        pane.sees("Formulas")
        pane.keys("Escape")
        assert pane.focused().startswith("US consumer price")
        open_form(pane, "SPARK")
        pane.type("slug", "us-cpi")
        pane.press("Insert", exact=True)
        pane.sees("copy the formula")
        pane.keys("Escape")
        pane.gone("dialog")
        assert pane.text(".wizard h2") == "DS.SPARK"


def test_an_option_can_be_taken_from_a_cell(chromium, backend):
    with opened(chromium, backend) as pane:
        open_form(pane, "SIGNAL_HISTORY")
        pane.type("slug", "us-cpi")
        pane.check("Options")
        pane.choose("freq", "M")
        pane.type("limit", "=B1")
        assert pane.tab.evaluate("document.querySelector('.wizard .formula code').textContent") == (
            '=DS.SIGNAL_HISTORY("us-cpi",,,"freq=M"&"; limit="&(B1))'
        )
