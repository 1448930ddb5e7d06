"""The notebook in the documentation runs in a real kernel, on the embedded service, and counts its requests."""

import json
from pathlib import Path

import nbformat
import pytest

from tests.docs.notebooks import executed
from tests.docs.pages import DOCS
from tests.udfs.parts.programs import User

NOTEBOOK = nbformat.read(DOCS / "notebook.ipynb", as_version=4)
CELLS = [cell for cell in NOTEBOOK.cells if cell.cell_type == "code"]
FOUR_CELLS = CELLS[:4]
FIFTY_AT_ONCE = [CELLS[0], *(cell for cell in CELLS if "asyncio.gather" in cell.source)]


@pytest.fixture
def user(service, tmp_path) -> User:
    return User(service, tmp_path)


def test_every_cell_of_the_notebook_runs_and_shows_what_the_text_says(user):
    done = executed(NOTEBOOK, user)
    shown = {cell.source: cell.outputs for cell in done.cells if cell.cell_type == "code"}
    tables = [
        source for source, outputs in shown.items() if any("text/html" in each.get("data", {}) for each in outputs)
    ]
    assert {"client.indices()", 'client.read(SignalResource("us-cpi"))', 'history.loc["2025"]'} <= set(tables)
    assert "image/png" in shown['history.plot(title="US consumer prices");'][-1].data
    (same,) = (outputs for source, outputs in shown.items() if ".equals(" in source)
    assert same[-1].data["text/plain"] == "True"
    assert [output for outputs in shown.values() for output in outputs if output.output_type == "stream"] == []


def test_four_cells_and_fifty_calls_at_once_cost_one_request_each_and_another_kernel_none(service, user):
    costs = []
    for cells in (FOUR_CELLS, FIFTY_AT_ONCE, [*FOUR_CELLS, *FIFTY_AT_ONCE[1:]]):
        executed(nbformat.v4.new_notebook(cells=cells), user)
        costs.append(service.running.request_count)
    assert len(FIFTY_AT_ONCE) == 2
    assert costs == [1, 2, 2]


def test_the_notebook_is_kept_without_results():
    cells = json.loads(Path(DOCS / "notebook.ipynb").read_text(encoding="utf-8"))["cells"]
    assert [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []
