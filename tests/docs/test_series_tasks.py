"""The tasks of series: each formula of the page runs on the made-up data, in one formula, and shows values."""

import re
from datetime import UTC, datetime

import orjson
import pytest

from addin.formulas import call_text
from tests.docs.pages import pages
from tests.udfs.parts.asking import session_on
from udfs import Call
from udfs.cells import CellError, Grid, cells_of

NOON = datetime(2026, 8, 31, 12, tzinfo=UTC).timestamp()
ROW = re.compile(r"^\| (?!task)(?P<task>[^|]+) \| (?:[^|]|\\\|)+ \| `(?P<formula>=.+)` \|$", re.MULTILINE)


def tasks() -> dict[str, str]:
    """The formula of each task."""
    return {row["task"]: row["formula"].replace("\\|", "|") for row in ROW.finditer(pages()["docs/series-tasks.md"])}


def test_forty_tasks_are_told_and_at_least_thirty_take_one_call():
    formulas = tasks().values()
    assert len(formulas) >= 40
    assert sum(formula.count("DS.") == 1 for formula in formulas) >= 30


@pytest.mark.parametrize("task", [name for name, formula in tasks().items() if formula.count("DS.") == 1])
async def test_each_task_shows_values(sample_service, task):
    async with session_on(sample_service, clock=lambda: NOON) as session:
        function_id, *arguments = orjson.loads(call_text(tasks()[task]))
        (outcome,) = await session.answer([Call(function_id, tuple(arguments))])
    shown = cells_of(outcome.result)
    assert not isinstance(shown, CellError), shown
    values = [value for row in shown.rows() for value in row] if isinstance(shown, Grid) else [shown]
    assert not any(isinstance(value, CellError) for value in values)
    last = list(shown.rows())[-1][-1] if isinstance(shown, Grid) else shown
    assert last is not None
