"""Bodies that grow side by side take what they hold, and leave nothing behind."""

import subprocess
import sys

import pytest

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
