"""Memory goes back: that of bodies that grew side by side, and that of a crowd that has gone."""

import asyncio
import subprocess
import sys
from types import SimpleNamespace

import pytest

from addin.backend.operation import memory

PROGRAM = """
from addin.backend.operation.allocator import share_arenas
from addin.backend.operation.metrics import memory_bytes

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


async def test_what_a_crowd_held_goes_back_once_it_has_gone(monkeypatch):
    mib = 2**20
    backend, given_back = SimpleNamespace(memory=SimpleNamespace(held=0), loads_bytes=0), []
    held = {"idle": (100, 0, 0), "crowd": (400, 150, 50), "gone": (380, 0, 0), "back": (110, 0, 0)}
    names = iter(held)

    def now(name):
        total, backend.memory.held, backend.loads_bytes = (each * mib for each in held[name])
        monkeypatch.setattr(memory, "memory_bytes", lambda: total)
        return name

    async def sleep(_):
        if (name := next(names, None)) is None:
            raise asyncio.CancelledError
        now(name)

    async def close_idle():
        pass

    backend.close_idle = close_idle
    monkeypatch.setattr(memory, "give_back", lambda: given_back.append(memory.memory_bytes() // mib))
    now(next(names))
    with pytest.raises(asyncio.CancelledError):
        await memory._tidy(backend, sleep)
    assert given_back == [400, 380]
