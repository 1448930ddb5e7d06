"""The form of a function: formula, cost, preview."""

from tests.addin.excel.parts.panes import form_of, opened


def test_every_function_is_listed_with_its_group(chromium, backend):
    from udfs import REGISTRY

    with opened(chromium, backend) as pane:
        pane.open_tab("Insert")
        pane.sees("SIGNAL_HISTORY")
        assert sorted(pane.texts("[data-function] .list-title")) == sorted(REGISTRY)
        assert set(pane.texts("#panel-insert h2")) == {function.group for function in REGISTRY.values()}


def test_the_formula_follows_what_is_typed_and_nothing_is_asked_before_it_is_complete(chromium, backend, service):
    with form_of(chromium, backend, "SIGNAL_HISTORY") as pane:
        pane.sees("Fill in slug")
        pane.type("slug", "us-cpi")
        pane.type("end", "2024-12-31")
        pane.check("Options")
        pane.choose("freq", "Q")
        pane.choose("agg", "mean")
        assert pane.text(".wizard .formula code") == '=DS.SIGNAL_HISTORY("us-cpi",,"2024-12-31","freq=Q; agg=mean")'
        pane.sees("Preview (")
    assert service.running.request_count == 0


def test_formula_and_button_stay_in_sight_along_a_long_form(chromium, backend):
    with opened(chromium, backend, height=640) as pane:
        pane.open_tab("Insert")
        pane.press("SIGNAL_HISTORY")
        pane.check("Options")
        pane.tab.evaluate("window.scrollTo(0, 300)")
        for part in (".wizard .formula", ".wizard-bar .button.primary"):
            box = pane.run(lambda page, part=part: page.locator(part).bounding_box())
            assert 300 < box["y"] < 640 - box["height"]


def test_what_takes_the_focus_is_not_covered_by_the_bar(chromium, backend):
    with opened(chromium, backend, height=640) as pane:
        pane.open_tab("Insert")
        pane.press("WIRE")
        pane.sees("min_importance")
        pane.type("ticker", "CPI")
        covered = []
        for _ in range(9):
            pane.keys("Tab")
            covered += pane.tab.evaluate(COVERED_FOCUS)
    assert covered == []


COVERED_FOCUS = """() => {
  const [bar, focused] = [document.querySelector(".wizard-bar"), document.activeElement];
  const [above, below] = [bar.getBoundingClientRect(), focused.getBoundingClientRect()];
  const apart = below.bottom <= above.top || below.top >= above.bottom;
  return apart || bar.contains(focused) ? [] : [focused.outerHTML];
}"""


def test_a_formula_breaks_between_its_arguments_and_is_copied_whole(chromium, backend):
    with opened(chromium, backend, width=320) as pane:
        pane.open_tab("Insert")
        pane.press("SIGNAL_HISTORY")
        pane.type("slug", "eia.wti.spot, us-cpi")
        pane.type("start", "2020-01-31")
        assert pane.texts(".wizard .formula .piece") == [
            "=DS.SIGNAL_HISTORY(",
            '"eia.wti.spot,',
            'us-cpi",',
            '"2020-01-31")',
        ]
        selected = "getSelection().selectAllChildren(document.querySelector('.wizard .formula code'))"
        copied = pane.tab.evaluate(f"({selected}, String(getSelection()))")
        assert copied == '=DS.SIGNAL_HISTORY("eia.wti.spot, us-cpi","2020-01-31")'


def test_a_preview_that_costs_a_request_waits_for_the_button(chromium, backend, service):
    with form_of(chromium, backend, "SIGNAL_HISTORY") as pane:
        pane.type("slug", "us-cpi")
        pane.type("start", "N24")
        pane.sees("Costs at least 1 request")
        assert service.running.request_count == 0
        pane.press("Preview (at least 1 request)")
        pane.sees("First 12 of 24 rows")
        pane.sees("Spent 1 request")
        assert pane.texts(".wizard thead th") == ["date", "us-cpi"]
        pane.type("start", "N6")
        pane.sees("Costs no request")
        pane.run(lambda page: page.locator(".wizard tbody tr").nth(5).wait_for())
    assert service.running.request_count == 1


def test_a_wrong_argument_is_explained_in_the_preview_at_no_cost(chromium, backend, service):
    with form_of(chromium, backend, "SIGNAL_HISTORY") as pane:
        pane.type("slug", "us-cpi")
        pane.type("start", "yesterdayish")
        pane.sees("#VALUE!")
        pane.sees("yesterdayish")
    assert service.running.request_count == 0


def test_a_cell_in_an_argument_stays_a_cell_in_the_formula(chromium, backend):
    with form_of(chromium, backend, "SIGNAL The latest value") as pane:
        pane.type("slug", "=A2:A9")
        pane.sees("The result depends on A2:A9.")
        assert pane.text(".wizard .formula code") == "=DS.SIGNAL(A2:A9)"


def test_a_field_outside_the_choices_can_be_typed(chromium, backend):
    with form_of(chromium, backend, "SIGNAL The latest value") as pane:
        pane.type("slug", "us-cpi")
        pane.run(lambda page: page.get_by_label("field").first.select_option(label="something else or a cell…"))
        pane.type("field, as text", "is_premium")
        pane.sees('=DS.SIGNAL("us-cpi","is_premium")')


def test_columns_are_chosen_by_boxes(chromium, backend):
    with form_of(chromium, backend, "SIGNALS The catalogue") as pane:
        pane.check("Choose")
        pane.run(lambda page: page.get_by_role("checkbox", name="unit").check())
        pane.run(lambda page: page.get_by_role("checkbox", name="slug").check())
        pane.sees('=DS.SIGNALS(,,"unit, slug")')
        pane.run(lambda page: page.get_by_role("checkbox", name="unit").uncheck())
        pane.sees('=DS.SIGNALS(,,"slug")')


def test_the_help_of_a_function_is_a_page_of_the_backend(chromium, backend):
    with form_of(chromium, backend, "SPARK") as pane:
        address = pane.attribute(".wizard header a", "href")
    assert backend.http.get(f"/{address}").status_code == 200


def test_going_back_puts_the_focus_on_the_function(chromium, backend):
    with form_of(chromium, backend, "SPARK") as pane:
        pane.press("Functions")
        assert pane.focused().startswith("SPARK")


def test_a_chain_of_transforms_is_chosen_by_boxes(chromium, backend):
    with form_of(chromium, backend, "SIGNAL_HISTORY") as pane:
        pane.check("Options")
        pane.run(lambda page: page.locator(".several summary").click())
        pane.run(lambda page: page.locator(".several input[value=yoy]").check())
        pane.run(lambda page: page.locator(".several input[value=cum]").check())
        pane.sees('=DS.SIGNAL_HISTORY(,,,"transform=yoy|cum")')
