"""The engine's process: whatever happens to it, it ends in one error and harms nothing else."""

import time
from pathlib import Path

import pytest

from addin.workbook.calculation.engine.process import DYNAMIC, PLAIN, VALUE, EngineFailedError, EngineProcess, Kind

EACH = pytest.mark.parametrize("kind", list(Kind))


@EACH
def test_an_engine_that_takes_too_long_is_ended(kind: Kind):
    with EngineProcess(kind, now=0) as engine:
        engine.load(["S"], [])
        engine._time_limit_s = 0.01
        begun = time.monotonic()
        with pytest.raises(EngineFailedError, match="took longer"):
            engine.load(["S"], [("S", row, 1, PLAIN, f"=SUM(B$1:B{row})") for row in range(1, 20_000)])
        assert time.monotonic() - begun < 30
        assert engine._process is not None
        assert engine._process.wait(30) != 0


@EACH
def test_an_engine_that_died_is_told_and_the_next_one_works(kind: Kind):
    with EngineProcess(kind, now=0) as engine:
        engine.load(["S"], [])
        assert engine._process is not None
        engine._process.kill()
        engine._process.wait()
        with pytest.raises(EngineFailedError, match="stopped"):
            engine.load(["S"], [])
    with EngineProcess(kind, now=0) as engine:
        engine.load(["S"], [("S", 1, 1, PLAIN, "=1+1")])
        engine.evaluate()
        assert engine.values([("S", (1, 1))]) == [2.0]


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the system shows nobody's environment")
@EACH
def test_an_engine_gets_no_key(kind: Kind, monkeypatch):
    monkeypatch.setenv("DATA_SERVICE_API_KEY", "ds_" + 40 * "0")
    with EngineProcess(kind, now=0) as waiting, EngineProcess(kind, now=0) as engine:
        ids = waiting.process_id, engine.process_id  # the first of them may have been started before
    assert b"API_KEY" not in Path(f"/proc/{ids[1]}/environ").read_bytes()


@EACH
def test_a_formula_that_cannot_be_read_harms_no_other(kind: Kind):
    with EngineProcess(kind, now=0) as engine:
        engine.load(["S"], [("S", 1, 1, PLAIN, "=1+"), ("S", 2, 1, PLAIN, "=2")])
        engine.evaluate()
        unread, other = engine.values([("S", (1, 1)), ("S", (2, 1))])
        assert unread in (None, {"error": "#NAME?"})
        assert other == 2.0


@EACH
def test_each_book_begins_with_an_empty_engine(kind: Kind):
    for _ in range(2):
        with EngineProcess(kind, now=0) as engine:
            engine.load(["S"], [])
            assert engine.values([("S", (1, 1))]) == [None]
            engine.load(["S"], [("S", 1, 1, VALUE, 5.0)])
            assert engine.values([("S", (1, 1))]) == [5.0]


def test_arrays_spill_and_stand_again_where_they_have_room():
    with EngineProcess(Kind.FORMULON, now=0) as engine:
        engine.load(
            ["S"], [("S", 1, 1, VALUE, 2.0), ("S", 1, 3, DYNAMIC, "=SEQUENCE(A1)"), ("S", 4, 1, PLAIN, "=SUM(C1#)")]
        )
        found = []
        for value, third in ((2.0, None), (3.0, None), (3.0, 7.0), (1.0, 7.0)):
            engine.set([("S", 1, 1, VALUE, value), ("S", 3, 3, VALUE, third)])
            engine.evaluate()
            found.append((engine.extents([("S", (1, 3))]), engine.values([("S", (1, 3)), ("S", (4, 1))])))
        blocked = {"error": "#SPILL!"}
        assert found == [
            ([[2, 1]], [1.0, 3.0]),
            ([[3, 1]], [1.0, 6.0]),
            ([None], [blocked, {"error": "#REF!"}]),
            ([[1, 1]], [1.0, 1.0]),
        ]


def test_formulas_beside_a_book_see_the_formulas_of_every_sheet_also_where_many_are_wide():
    with EngineProcess(Kind.FORMULON, now=0) as engine:
        engine.load(["S", "T"], [("S", 1, 1, PLAIN, "=T!A1*2"), ("T", 1, 1, PLAIN, "=1+2")])
        engine.evaluate()
        wide = ("S", 1, 2, "=SEQUENCE(1,40)*A1")
        texts = [("S", 2, 2, f"=A1+{number}") for number in range(300)]
        found = engine.arrays([wide, *texts, ("S", 3, 2, "=1+"), wide, wide])
        row = [[6.0 * number for number in range(1, 41)]]
        assert found == [row, *([[6.0 + number]] for number in range(300)), None, row, row]
        assert engine.values([("S", (1, 1)), ("T", (1, 1))]) == [6.0, 3.0]


def test_an_ordinary_formula_takes_the_cell_beside_it():
    cells = [("S", row, 1, VALUE, float(row)) for row in range(1, 4)]
    with EngineProcess(Kind.FORMULON, now=0) as engine:
        engine.load(["S"], [*cells, ("S", 2, 3, PLAIN, "=A1:A3*2"), ("S", 2, 4, PLAIN, "=SUM(A1:A3)")])
        engine.evaluate()
        assert engine.values([("S", (2, 3)), ("S", (2, 4))]) == [4.0, 6.0]
        assert engine.intersecting([("S", (2, 3)), ("S", (2, 4))]) == [True, False]
