"""A history that memory holds answers at once: nobody looks for the name, nor into a store."""

from datetime import date

from dataservice.client import HistoryResource, SignalResource
from tests.udfs.parts.reader import NOW, TTL_S, MemoryReader, answered
from tests.udfs.parts.series import observations, shown
from udfs.engine import batch
from udfs.engine.run import Run
from udfs.timeseries.coverage import Window
from udfs.timeseries.loader import known_series

TODAY = date(2026, 8, 31)
SEEN = observations({"2026-08-28": 1.0, "2026-08-31": 2.0})


async def asked(reader):
    run = Run(known_series("x", Window(), TODAY))
    await batch.answer([run], reader, NOW)
    return run


async def test_a_fresh_history_in_memory_settles_the_name_without_a_look_anywhere():
    reader = MemoryReader(memory={HistoryResource("x"): answered(SEEN)})
    run = await asked(reader)
    assert (run.result.slug, shown(run.result.known.observations)) == ("x", shown(SEEN))
    assert reader.look_ups == reader.reads == []


async def test_an_old_history_in_memory_settles_nothing():
    reader = MemoryReader({HistoryResource("x"): SEEN}, memory={HistoryResource("x"): answered(SEEN, age_s=TTL_S + 1)})
    run = await asked(reader)
    assert run.error is None
    assert SignalResource("x") in reader.look_ups
    assert reader.reads == [HistoryResource("x")]
