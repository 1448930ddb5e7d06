"""No post holds up the others, whatever book it describes: it is refused at once, or worked on in turns."""

import asyncio
import gc
import time

import msgspec
import pytest

from addin.backend.open_books import MOST_CELL_VALUES, MOST_MEMBERS
from addin.formulas.open_book import OpenFormulas
from addin.protocol.messages import OpenBook
from tests.addin.backends import backend_of

LONGEST_S = 0.8
"""Processor time between two looks of the loop, several times what the longest takes: beyond it others would notice."""

SHEET = '{"name":"S","rows":9,"formulas":{%s},"others":{},"cells":[%s]}'
EMPTY = SHEET % ("", "")


def joined(form, count):
    return ",".join(form.format(n=n) for n in range(count))


def book(*sheets, names=""):
    return f'{{"sheets":[{",".join(sheets)}],"names":{{{names}}}}}'


def cells(rows, columns):
    values, formulas = (",".join([f"[{','.join([each] * columns)}]"] * rows) for each in ("1", "null"))
    return f'{{"top":0,"left":0,"values":[{values}],"formulas":[{formulas}],"spilled":false}}'


LARGEST = {
    "sheets": book(*[EMPTY] * (MOST_MEMBERS // 6)),
    "formulas": book(SHEET % (joined('"{n}":"=A1+A{n}"', MOST_MEMBERS - 10), "")),
    "names": book(EMPTY, names=joined('"N{n}":"=N1"', MOST_MEMBERS - 10)),
    "a long column": book(SHEET % ("", cells(MOST_CELL_VALUES // 3, 1))),
    "long rows": book(SHEET % ("", cells(MOST_CELL_VALUES // 2 // 16_384, 16_384))),
    "many cells": book(SHEET % ("", ",".join([cells(1, 1)] * (MOST_MEMBERS // 6)))),
}
"""Books as large as they may be, each of something else."""


async def longest_hold_s(work):
    """For how long the work does not let anybody else look, in processor time."""
    holds, before, ended = [], time.thread_time(), False

    async def look():
        nonlocal before
        while not ended:
            now = time.thread_time()
            holds.append(now - before)
            before = now
            await asyncio.sleep(0)

    gc.freeze()  # what the other tests have left is no work of a backend's
    looking = asyncio.ensure_future(look())
    await asyncio.sleep(0)
    await work()
    await asyncio.sleep(0)
    ended = True
    await looking
    gc.unfreeze()
    return max(holds)


@pytest.mark.parametrize("of", LARGEST)
async def test_the_largest_books_of_every_kind_are_worked_on_in_turns(of):
    given = msgspec.json.decode(LARGEST[of], type=OpenBook)

    async def work():
        formulas = OpenFormulas(given, "DS")
        await formulas.read()
        await formulas.wanted()
        await formulas.planned()
        await formulas.expected()

    assert await longest_hold_s(work) < LONGEST_S


TOO_LARGE = {
    "sheets": book(*[EMPTY] * (MOST_MEMBERS // 4)),
    "formulas": book(SHEET % (joined('"{n}":""', MOST_MEMBERS + 1), "")),
    "cells": book(SHEET % ("", cells(MOST_CELL_VALUES // 2 + 1, 1))),
    "a row longer than any": book(SHEET % ("", cells(1, 16_385))),
}


@pytest.mark.parametrize("path", ["functions/book", "functions/book/cost"])
@pytest.mark.parametrize("of", TOO_LARGE)
def test_what_is_larger_is_refused(of, path, backend):
    response = backend.http.post(f"/{path}", content=TOO_LARGE[of], headers={"content-type": "application/json"})
    assert response.status_code in (400, 413)


@pytest.mark.parametrize("path", ["functions/book", "functions/book/cost", "functions/book/parts"])
def test_what_is_nested_deeply_is_no_book(path, backend):
    body = '{"parts":' + "[" * 10_000
    response = backend.http.post(f"/{path}", content=body, headers={"content-type": "application/json"})
    assert response.status_code == 400


def test_the_parts_of_a_book_are_compared_with_a_hundred_tables_and_the_rest_is_kept(service, tmp_path):
    filled = {"sheet": "S", "formula": "=DS.STATUS()", "top": 0, "bottom": 5_000, "left": 0, "right": 0}
    others = [filled | {"sheet": f"S{n}"} for n in range(10_000)]
    numbers = {str(16_384 * row): "" for row in range(5_000)}
    part = {"name": "", "sheet": "S", "address": "S!A1:A5000", "numbers": numbers}
    with backend_of(service, tmp_path) as backend:
        began = time.process_time()
        told = [
            backend.http.post("/functions/book/parts", json={"parts": [part], "filled": each}).json()
            for each in ([filled, *others], [*others, filled])
        ]
        assert time.process_time() - began < 20 * LONGEST_S
    assert told == [{"ours": [True]}, {"ours": [False]}]
