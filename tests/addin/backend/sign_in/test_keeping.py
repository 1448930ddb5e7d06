"""What is kept of people is looked after in parts that do not keep each other from being done."""

import asyncio
from types import SimpleNamespace

from addin.backend.sign_in.keeping import keeping_people


class Broken:
    """A part that fails for as long as it is told to."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.tried = 0

    async def keep_up(self) -> None:
        await self.round()

    async def round(self) -> None:
        self.tried += 1
        if self.tried <= self.failures:
            raise OSError("away")


async def test_a_part_that_fails_is_told_once_and_keeps_no_other_from_being_done(caplog):
    people, rechecking, rounds, done = Broken(2), Broken(0), 0, asyncio.Event()

    async def sleep(_: float) -> None:
        nonlocal rounds
        rounds += 1
        if rounds == 4:
            done.set()
            await asyncio.Event().wait()

    backend = SimpleNamespace(people=people, store=None, session_secrets=[b"0" * 32], rechecking=rechecking)
    async with keeping_people(backend, sleep=sleep):
        await done.wait()
    assert people.tried == rechecking.tried == 4
    told = [record.getMessage() for record in caplog.records]
    assert [line.partition(",")[0] for line in told] == [
        "people of an earlier version could not be looked for",
        "what is known of people could not be stored",
    ]
