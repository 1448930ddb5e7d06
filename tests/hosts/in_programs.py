"""The calls in programs: desktop Excel through xlwings, xlwings Server, the command line, Python."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd

from addin.cli.output import cells_in
from addin.config.settings import Settings
from addin.desktop.functions import async_functions, error_code
from addin.desktop.sync_session import SyncSession
from dataservice.client import AsyncClient
from tests.addin.commands import addin, environment
from tests.addin.windows import on_windows
from tests.embedded import EmbeddedService
from tests.hosts.books import formula_alone
from tests.hosts.calls import Call as Asked
from tests.hosts.calls import Case, Error
from tests.hosts.shown import Failure, Shown, Told, Value, of_rows
from udfs import REGISTRY, Session, use
from udfs.arguments.kinds import CELL_ERRORS
from udfs.cells import serial
from udfs.engine.session import Call
from udfs.errors import CellError, ErrorCode, UdfError

COM_ERRORS = {"#N/A": -2146826246, "#DIV/0!": -2146826281, "#VALUE!": -2146826273}
"""The numbers by which Excel hands errors to xlwings."""

ON_WINDOWS = """
import datetime as dt
import pywintypes
import addin.desktop.vba

def given(argument):
    if argument is None:
        return MISSING
    if isinstance(argument, list):
        return tuple(tuple(None if cell is None else given(cell) for cell in row) for row in argument)
    if isinstance(argument, dict):
        return pywintypes.TimeType.fromisoformat(argument["day"])
    return argument

def plain(cell):
    return {"time": cell.isoformat()} if isinstance(cell, dt.datetime) else cell

answer = []
for name, *args in json.loads(CALLS):
    args += [None] * (COUNTS[name] - len(args))
    rows = call("addin.desktop.vba", "DS_" + name, *map(given, args))
    answer.append([[plain(cell) for cell in row] for row in rows])
"""


def of_library(asked: Sequence[Asked], service: EmbeddedService) -> list[Any]:
    """The results of the functions themselves, before any host shows them."""

    async def ask() -> list[Any]:
        async with AsyncClient(service.url, service.key) as client:
            calls = [Call(function, [_plain_argument(each) for each in args]) for function, args in asked]
            return [outcome.result for outcome in await Session(client).answer(calls)]

    return asyncio.run(ask())


def on_desktop(cases: Sequence[Case], folder: Path, service: EmbeddedService) -> list[Shown]:
    """What xlwings' own dispatcher hands to classic desktop Excel."""
    calls = json.dumps([[case.function, *map(_com_argument, case.args)] for case in cases])
    counts = {name: len(function.parameters) for name, function in REGISTRY.items()}
    answers = on_windows(f"CALLS = {calls!r}\nCOUNTS = {counts!r}\n{ON_WINDOWS}", environment(folder, service))
    return [of_rows([[_desktop_value(cell) for cell in row] for row in rows]) for rows in answers]


def _com_argument(argument: Any) -> Any:
    if isinstance(argument, tuple):
        return [[_com_argument(cell) for cell in row] for row in argument]
    if isinstance(argument, date):
        return {"day": argument.isoformat()}
    code = argument.code if isinstance(argument, Error) else argument
    return COM_ERRORS.get(code, code)


def _desktop_value(cell: Any) -> Value:
    if isinstance(cell, dict):
        return of_rows([[pd.Timestamp(cell["time"]).tz_localize(None).to_pydatetime()]])  # type: ignore[return-value]
    if isinstance(cell, str) and cell.startswith(CELL_ERRORS):
        return Told(cell.partition(" ")[0])
    return cell  # type: ignore[no-any-return]


def on_xlwings_server(cases: Sequence[Case], service: EmbeddedService) -> list[Shown]:
    """What our functions hand to xlwings Server, which makes an error value of an error's code."""

    @asynccontextmanager
    async def connect(settings: Settings) -> Any:
        async with AsyncClient(settings.url, service.key) as client:
            yield Session(client)

    async def ask() -> list[Any]:
        session = SyncSession(connect, settings=lambda: Settings(url=service.url))
        found = async_functions(session.answer_meanwhile, show_error=error_code)
        try:
            return [await found[case.function](*_server_arguments(case)) for case in cases]
        finally:
            session.close()

    return [of_rows([[_server_value(c) for c in row] for row in _rows(result)]) for result in asyncio.run(ask())]


def _server_arguments(case: Case) -> list[Any]:
    """The arguments as xlwings Server converts them: always rows, errors as their codes, dates as numbers."""
    given = [_plain_argument(each, dates=False) for each in case.args]
    missing = [None] * (len(REGISTRY[case.function].parameters) - len(given))
    return [each if isinstance(each, list) or each is None else [[each]] for each in [*given, *missing]]


def _rows(result: Any) -> list[list[Any]]:
    return result if isinstance(result, list) else [[result]]


def _server_value(cell: Any) -> Any:
    return Failure(cell) if isinstance(cell, str) and cell in CELL_ERRORS else cell


def by_eval(cases: Sequence[Case], folder: Path, service: EmbeddedService) -> list[Shown]:
    """What `addin eval` answers."""
    done = addin("eval", "--json", *map(formula_alone, cases), environ=environment(folder, service))
    shown = [cells_in(answer) for answer in json.loads(done.stdout)]
    return [of_rows([*([cells.header] if cells.header else []), *cells.rows]) for cells in shown]


def in_python(cases: Sequence[Case], service: EmbeddedService) -> list[Shown]:
    """What Python gets by awaiting the functions; errors are raised."""

    async def ask(case: Case) -> Shown:
        function = getattr(__import__("udfs"), case.function)
        try:
            result = await function(*map(_plain_argument, case.args))
        except UdfError as error:
            return Failure(str(error.code))
        return of_rows(_python_rows(result, next((each for each in case.args if isinstance(each, tuple)), ())))

    async def ask_all() -> list[Shown]:
        async with AsyncClient(service.url, service.key) as client:
            use(Session(client))
            return [await ask(case) for case in cases]

    return asyncio.run(ask_all())


def _python_rows(result: Any, given: Sequence[Any]) -> list[list[Any]]:
    """The rows of a result; a frame's header, and its index of dates, stand where cells have them.

    The values for a range that was `given` lie as its cells do; in Python its cells label them.
    """
    if isinstance(result, pd.Series):
        values = _rows_of(result.to_frame())
        return [[value for (value,) in values]] if len(given) == 1 else values
    if not isinstance(result, pd.DataFrame):
        return _rows(result)
    if result.index.name == "slug":
        return _rows_of(result)
    rows = _rows_of(result.reset_index(names="date") if isinstance(result.index, pd.DatetimeIndex) else result)
    return (
        [[*(["date"] if isinstance(result.index, pd.DatetimeIndex) else []), *result.columns], *rows]
        if result.attrs.get("header", True)
        else rows
    )


def _rows_of(frame: pd.DataFrame) -> list[list[Any]]:
    return [[None if cell is pd.NaT or cell != cell else cell for cell in row] for row in frame.to_numpy(object)]


def _plain_argument(argument: Any, *, dates: bool = True) -> Any:
    """An argument as Python gives it."""
    if isinstance(argument, tuple):
        return [[_plain_argument(cell, dates=dates) for cell in row] for row in argument]
    if isinstance(argument, Error):
        return argument.code if argument.code not in set(ErrorCode) else CellError(ErrorCode(argument.code), "")
    return serial(argument) if isinstance(argument, date) and not dates else argument
