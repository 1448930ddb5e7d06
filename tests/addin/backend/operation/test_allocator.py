"""Memory goes back: that of bodies that grew side by side, and that of a crowd that has gone."""

import subprocess
import sys

import pytest

PROGRAM = """
from addin.backend.operation.allocator import share_arenas
from addin.backend.operation.allocator import memory_bytes

share_arenas()
first = bytearray(24 * 2**20)
del first
before, most = memory_bytes(), 0
for turn in range(3):
    bodies = [bytearray() for _ in range(4)]
    for _ in range(320):
        for body in bodies:
            body += bytes(2**16)
        most = max(most, memory_bytes())
    bodies.pop(1)
    kept = bytes(2**16)
    del bodies, body
print((most - before) // 2**20, (memory_bytes() - before) // 2**20)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="what is told to glibc")
def test_bodies_that_grow_side_by_side_take_what_they_hold_and_leave_nothing():
    told = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout
    most, afterwards = map(int, told.split())
    assert most < 4 * 20 * 1.4, "each has 20 MiB, and some room to grow"
    assert afterwards < 8


CROWD = """
import asyncio
from types import SimpleNamespace

from addin.backend.operation import memory
from addin.backend.operation.allocator import share_arenas
from addin.backend.operation.allocator import memory_bytes


async def close_idle():
    pass


async def main():
    before, ticks, told = memory_bytes(), asyncio.Queue(), asyncio.Queue()

    async def sleep(seconds):
        told.put_nowait(None)
        await ticks.get()

    async def looked():
        ticks.put_nowait(None)
        await told.get()
        return (memory_bytes() - before) // 2**20

    backend = SimpleNamespace(close_idle=close_idle, closed_users=0, memory=SimpleNamespace())
    async with memory.tidying(backend, sleep=sleep):
        await told.get()
        for _ in range(2):
            crowd = [bytes(600 + number % 3_000) for number in range(40_000)]
            rows = [(number,) for number in range(700_000)]
            there = await looked()
            del crowd[::2]
            await looked()
            kept = crowd[::200]
            del crowd, rows
            print(there, await looked())


share_arenas()
asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="what is told to glibc")
def test_what_a_crowd_held_goes_back_once_it_has_gone_whenever_it_was_looked_at_before():
    told = subprocess.run([sys.executable, "-c", CROWD], capture_output=True, text=True, check=True).stdout
    for there, gone in (map(int, line.split()) for line in told.splitlines()):
        assert (there > 60, gone < 10) == (True, True), told
