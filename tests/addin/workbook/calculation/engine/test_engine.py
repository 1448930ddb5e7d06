"""The engine's process: whatever happens to it, it ends in one error and harms nothing else."""

import time

import pytest

from addin.workbook.calculation.engine.engine import EngineFailedError, FormualizerEngine


def test_an_engine_that_takes_too_long_is_ended():
    with FormualizerEngine(now=0) as engine:
        engine._time_limit_s = 0.01
        begun = time.monotonic()
        with pytest.raises(EngineFailedError, match="took longer"):
            engine.load(["S"], [("S", row, 1, True, f"=SUM(B$1:B{row})") for row in range(1, 20_000)])
        assert time.monotonic() - begun < 30
        assert engine._process.wait(30) != 0


def test_an_engine_that_died_is_told_and_the_next_one_works():
    with FormualizerEngine(now=0) as engine:
        engine._process.kill()
        engine._process.wait()
        with pytest.raises(EngineFailedError, match="stopped"):
            engine.load(["S"], [])
    with FormualizerEngine(now=0) as engine:
        engine.load(["S"], [("S", 1, 1, True, "=1+1")])
        engine.evaluate({})
        assert engine.values([("S", (1, 1))]) == [2.0]


def test_a_formula_that_cannot_be_read_harms_no_other():
    with FormualizerEngine(now=0) as engine:
        failed = engine.load(["S"], [("S", 1, 1, True, "=1+"), ("S", 2, 1, True, "=2")])
        engine.evaluate({})
        assert [each[:3] for each in failed] == [["S", 1, 1]]
        assert engine.values([("S", (2, 1))]) == [2.0]


def test_each_book_begins_with_an_empty_engine():
    for _ in range(2):
        with FormualizerEngine(now=0) as engine:
            assert engine.values([("S", (1, 1))]) == [None]
            engine.load(["S"], [("S", 1, 1, False, 5.0)])
            assert engine.values([("S", (1, 1))]) == [5.0]
