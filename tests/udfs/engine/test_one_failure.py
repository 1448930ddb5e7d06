"""Whatever one cell, follower, gate or look-up raises, all others get their answers."""

import asyncio

import pytest

from addin.protocol.encoding import encode, encode_error
from dataservice.client import CatalogueCheck, CatalogueResource, SignalResource
from tests.udfs.parts.reader import NOW, MemoryReader, answered
from udfs.engine.batch import Batch
from udfs.engine.effects import check_catalogue_first, gather, need
from udfs.engine.following import Reporter
from udfs.engine.outcome import Outcome
from udfs.engine.run import Run
from udfs.errors import CellError, ErrorCode, error_cell

NAMES = [SignalResource(name) for name in "abcdef"]
CATALOGUE = CatalogueResource()


class Mute(Exception):  # noqa: N818 - what it is called is not the point
    """One that fails when it is put into words."""

    def __str__(self):
        raise RuntimeError("no words")


RAISED = [
    ValueError("odd"),
    Mute(),
    RecursionError(),
    MemoryError(),
    StopAsyncIteration(),
    asyncio.CancelledError(),
    GeneratorExit(),
    BaseException("bare"),
    ExceptionGroup("several", [ValueError("odd")]),
    BaseExceptionGroup("several", [BaseException("bare")]),
]


async def value_of(resource):
    return (await need(resource)).value


async def raising(error):
    await need(NAMES[0])
    raise error


class Listener:
    """Notes what it is told; raises where `fails` says so."""

    def __init__(self, *fails):
        self.places = asyncio.Semaphore(8)
        self.told = {}
        self._fails = fails

    def wants(self, place):
        if ("wants", place) in self._fails:
            raise ValueError("odd")
        return True

    def answered(self, place, outcome):
        if ("answered", place) in self._fails:
            raise ValueError("odd")
        self.told[place] = outcome.result

    def given_up(self, place):
        raise AssertionError(place)


def outcome_of(_, run):
    return Outcome(error_cell(run.error, "TEST") if run.error else run.result, 0.0, requests=run.requests)


async def followed(askings, listener, reader=None, gate=None):
    batch = Batch(reader or MemoryReader({name: name.slug for name in NAMES}), NOW, gate=gate)
    reporter = batch.follower = Reporter(listener, range(len(askings)), outcome_of)
    for place, asking in enumerate(askings):
        run = Run(asking)
        batch.begin(run)
        reporter.begun(place, run)
    await batch.end()
    return listener.told


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
async def test_whatever_a_cell_raises_becomes_its_own_error(error):
    told = await followed([value_of(NAMES[0]), raising(error), value_of(NAMES[1])], Listener())
    assert (told[0], told[2]) == ("a", "b")
    assert isinstance(told[1], CellError)
    assert "TEST failed" in told[1].message


def test_the_users_interrupt_is_not_a_cells_error():
    batch = Batch(MemoryReader(memory={NAMES[0]: answered("a")}), NOW)
    with pytest.raises(KeyboardInterrupt):
        batch.begin(Run(raising(KeyboardInterrupt())))


async def test_a_listener_that_fails_for_one_call_hears_of_all_others():
    told = await followed([value_of(name) for name in NAMES], Listener(("wants", 1), ("answered", 2)))
    assert told == {0: "a", 1: "b", 3: "d", 4: "e", 5: "f"}


async def test_where_the_gate_fails_what_is_at_hand_is_shown_and_the_rest_says_why():
    async def gate(_):
        raise ValueError("odd")

    reader = MemoryReader({name: name.slug for name in NAMES}, memory={NAMES[0]: answered("at hand")})
    told = await followed([value_of(NAMES[0]), value_of(NAMES[1])], Listener(), reader, gate)
    assert (told[0], reader.reads) == ("at hand", [])
    assert told[1].message == "TEST failed (ValueError); please report this"


class Doubtful(MemoryReader):
    """A reader that cannot say how names are to be tried."""

    async def catalogue_check(self, names):
        raise ValueError("odd")


async def named(name):
    await check_catalogue_first(CATALOGUE, name, max_age_s=60.0)
    return await value_of(name)


async def test_names_in_doubt_are_asked_for_where_the_doubt_cannot_be_told():
    told = await followed([named(name) for name in NAMES], Listener(), Doubtful({n: n.slug for n in NAMES}))
    assert list(told.values()) == list("abcdef")


async def test_a_name_that_was_read_in_this_round_is_not_read_again():
    async def later(name):
        await need(NAMES[5])
        return await value_of(name)

    reader = MemoryReader({name: name.slug for name in NAMES}, check=CatalogueCheck.PROBE)
    told = await followed(
        [later(NAMES[3]), named(NAMES[0]), gather([named(name) for name in NAMES[1:5]])], Listener(), reader
    )
    assert told == {0: "d", 1: "a", 2: ["b", "c", "d", "e"]}
    assert len(reader.reads) == len(set(reader.reads))


@pytest.mark.parametrize(
    "result", [[1, 2], [[object()]], object(), "\ud800", CellError(ErrorCode.NA, "\udfff"), {1: 2}]
)
def test_an_odd_result_can_always_be_sent(result):
    assert encode(Outcome(result, 0.0), "TEST").endswith(b'"fresh_s":')


def test_an_error_that_quotes_half_a_character_can_be_sent():
    assert b"no signal '?'" in encode_error(CellError(ErrorCode.NA, "no signal '\ud800'"))
