"""The states of the sheet and of the pane: how each comes about, in any browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from tests.addin.sheet.parts.pages import ASK_ANEW, READY, SETTLED
from tests.pictures.browsers import Window, until

Steps = Callable[[Window], None]


@dataclass(frozen=True, slots=True)
class State:
    """One picture: its name, what leads to it from the state before, and what leads back."""

    name: str
    reach: Steps
    leave: Steps = lambda _: None
    at_every_width: bool = False


CLICK = """() => {{
  const pressable = [...document.querySelectorAll("button, summary, label, [role=tab]")];
  const says = (each) => `${{each.innerText.replace(/\\s+/g, " ")}} ${{each.getAttribute("aria-label")}}`;
  const found = pressable.find((each) => each.offsetParent !== null && says(each).includes({0}));
  if (!found) throw new Error("nothing to press says " + {0});
  found.click();
}}"""
FILL = """() => {{
  const fields = [...document.querySelectorAll("input, select, textarea")];
  const field = fields.find((each) => each.offsetParent !== null && ({0}));
  field.focus();
  field.value = {1};
  for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, {{ bubbles: true }}));
}}"""
SHOW = """() => {{
  const {{ model }} = sheet.book;
  model.dispatch("ACTIVATE_SHEET", {{ sheetIdFrom: model.getters.getActiveSheetId(), sheetIdTo: {0} }});
}}"""
SELECT = """() => {{
  const {{ col, row }} = o_spreadsheet.helpers.toCartesian({0});
  sheet.book.model.selection.selectCell(col, row);
}}"""
NEW_SHEET = """() => {
  const { model } = sheet.book;
  model.dispatch("CREATE_SHEET", { sheetId: "Mine", name: "Mine", position: model.getters.getSheetIds().length });
  model.dispatch("ACTIVATE_SHEET", { sheetIdFrom: model.getters.getActiveSheetId(), sheetIdTo: "Mine" });
  const cells = {
    A1: "Entered", A2: '=SIGNAL("us-cpi")', A3: '=DS.SIGNAL("us-cpii")', A4: "=-2^2", A5: "=SUM(1,", A6: "=SUMM(1)",
    A7: '=DS.SIGNAL("us-cpi")', B9: '=DS.SIGNAL_HISTORY("us-cpi","N8")',
  };
  for (const [xc, content] of Object.entries(cells)) {
    model.dispatch("UPDATE_CELL", { sheetId: "Mine", ...o_spreadsheet.helpers.toCartesian(xc), content });
  }
}"""
BAD_FILE = """async () => {
  const before = globalThis.confirm;
  globalThis.confirm = () => true;
  await sheet.open(new File([new Uint8Array([80, 75, 3, 4, 0])], "Budget 2026.xlsx"));
  globalThis.confirm = before;
}"""
LIST = "document.querySelector('.o-autocomplete-dropdown')"
QUIET = f"{SETTLED} && document.getElementById('progress').hidden"
FRAME = "document.querySelector('#beside iframe').contentDocument?.documentElement?.dataset.ready === 'yes'"


def click(words: str) -> Steps:
    """Press what says these words."""
    return lambda window: window.evaluate(CLICK.format(json.dumps(words)))


def fill(which: str, text: str) -> Steps:
    """Enter a text in the visible field for which a condition on `each` holds."""
    return lambda window: window.evaluate(FILL.format(which, json.dumps(text)))


def sees(words: str) -> Steps:
    """Wait until the page shows these words."""
    return lambda window: until(window, f"document.body.innerText.includes({json.dumps(words)})")


def run(function: str) -> Steps:
    """Let the page do something."""
    return lambda window: window.evaluate(function)


def keys(*chords: tuple[str, ...]) -> Steps:
    """Press keys, one chord after the other."""
    return lambda window: [window.press(*chord) for chord in chords] and None


def typed(text: str) -> Steps:
    """Type a text where the focus is."""
    return lambda window: window.type(text)


def when(condition: str) -> Steps:
    """Wait for a condition in the page."""
    return lambda window: until(window, condition)


def all_of(*steps: Steps) -> Steps:
    """One after the other."""

    def go(window: Window) -> None:
        for step in steps:
            step(window)

    return go


def _tab(name: str, *, at_every_width: bool = False) -> State:
    return State(
        f"tab-{name.lower()}", all_of(run(SHOW.format(json.dumps(name))), when(QUIET)), at_every_width=at_every_width
    )


def _cell(xc: str) -> Steps:
    return run(SELECT.format(json.dumps(xc)))


ESCAPE = keys(("Escape",), ("Escape",))
TOGGLE_PANE = run("() => document.getElementById('search').click()")
TOGGLE_TEXT = run("() => document.getElementById('as-text').click()")

SHEET = (
    State("file-values", when(QUIET), at_every_width=True),
    State("dashboard", all_of(run(ASK_ANEW), when(QUIET)), at_every_width=True),
    _tab("Start", at_every_width=True),
    _tab("Compare", at_every_width=True),
    *map(_tab, ("Indices", "Currents", "Wire", "Revisions", "Catalogue")),
    State("errors", all_of(run(NEW_SHEET), when(QUIET), _cell("A2")), at_every_width=True),
    State("completing", all_of(_cell("D2"), typed("=DS")), ESCAPE),
    State("arguments", all_of(_cell("D2"), typed('=DS.SIGNAL_HISTORY("us-cpi",')), ESCAPE, at_every_width=True),
    State("beside", all_of(TOGGLE_PANE, when(FRAME)), TOGGLE_PANE, at_every_width=True),
    State("as-text", TOGGLE_TEXT, TOGGLE_TEXT, at_every_width=True),
    State("list", all_of(run(SHOW.format('"Dashboard"')), _cell("C18"), keys(("F2",)), when(LIST)), ESCAPE),
    State("bad-file", run(BAD_FILE), at_every_width=True),
)
"""Of the demo's book, one after the other."""

DRAFT = State(
    "draft",
    all_of(when(READY), when("!document.getElementById('draft').hidden"), when(QUIET)),
    click("Discard"),
    at_every_width=True,
)


def _pane_tab(name: str) -> Steps:
    return run(f"() => document.getElementById('tab-{name}').click()")


CHART = "document.querySelector('svg.chart-picture')"
SEARCH = "each.type === 'search'"
PANE = (
    State("search-cold", sees("Load the catalogue")),
    State("search", all_of(click("Load the catalogue"), sees("15 signals"))),
    State("search-synonym", all_of(fill(SEARCH, "inflaton"), sees("inflation"))),
    State("search-nothing", fill(SEARCH, "zzzz")),
    State("card", all_of(fill(SEARCH, "wti"), click("WTI crude oil"), when(CHART))),
    State("insert", all_of(_pane_tab("insert"), sees("SIGNAL_HISTORY"))),
    State(
        "form",
        all_of(
            click("SIGNAL_HISTORY"),
            fill("each.closest('label, .field')?.innerText.startsWith('slug') || each.id.endsWith('slug')", "us-cpi"),
            fill("each.closest('label, .field')?.innerText.startsWith('start') || each.id.endsWith('start')", "N60"),
            click("Options"),
            sees("Preview ("),
            click("Preview ("),
            sees("First 12 of"),
        ),
    ),
    State("refresh", all_of(_pane_tab("refresh"), sees("left this month"))),
    State("account", all_of(_pane_tab("account"), sees("Forget key"))),
    State("dialog", click("Forget key"), keys(("Escape",))),
)
"""With a key and a service, one after the other; every one at every width."""

NO_KEY = (State("no-key", when("document.documentElement.dataset.ready")),)
SPENT = (
    State("spent", sees("used up")),
    State("spent-refresh", all_of(_pane_tab("refresh"), sees("left this month"))),
)
AWAY = (
    State("service-away", all_of(sees("15 signals"), click("US consumer price"), sees("Last known value"))),
    State("service-away-refresh", all_of(_pane_tab("refresh"), sees("The service does not answer"))),
)
