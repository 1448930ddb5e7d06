"""Workers are stopped, one after another, while a page loads: every call still ends with its value.

python -m tests.attack.hosted.stopping --signals 2000
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from tests.addin.backend.workers.workers import PATIENCE_S, Workers, workers_of
from tests.attack.parts.many_signals import service_of, slug_of, value_of
from tests.attack.parts.told import Told, conclude

RETRIES = 200
A_LOAD = 400
"""Signals that are loaded while one worker is stopped."""

AT_MOST = 1.2
"""Requests for each that is needed: what a stopped worker was just asking for is asked again."""


def as_pages_ask(url: str, calls: Sequence[Sequence[Any]]) -> dict[int, dict[str, Any]]:
    """The answers by place, asked for as pages do it: what is pending again, and all of it after "restarting"."""
    found: dict[int, dict[str, Any]] = {}
    for _ in range(RETRIES):
        waiting = [place for place in range(len(calls)) if place not in found]
        if not waiting:
            break
        try:
            content = {"calls": [calls[place] for place in waiting]}
            reply = httpx.post(f"{url}/functions/call?pending=yes", json=content, timeout=60, trust_env=False)
        except httpx.TransportError:
            continue
        if reply.status_code == 200:
            answers = zip(waiting, reply.json()["answers"], strict=True)
            found |= {place: answer for place, answer in answers if not answer.get("pending")}
        elif (reply.status_code, reply.json().get("kind")) != (503, "restarting"):
            raise AssertionError(f"{reply.status_code}: {reply.text}")
    return found


def attack(signals: int, seed: int) -> Told:
    """What became of so many signals, loaded in parts, during each of which a worker is stopped."""
    chance, wrong, hung = random.Random(seed), 0, 0
    with (
        tempfile.TemporaryDirectory() as folder,
        service_of(Path(folder), signals) as service,
        workers_of(service, Path(folder), 2, ask_above="1000000") as workers,
        ThreadPoolExecutor(1) as threads,
    ):
        for first in range(0, signals, A_LOAD):
            part = range(first, min(signals, first + A_LOAD))
            before = service.running.request_count
            asking = threads.submit(as_pages_ask, workers.url, [["SIGNAL", slug_of(number)] for number in part])
            while service.running.request_count < before + min(20, len(part)) and not asking.done():
                pass
            _stop_one(workers, chance)
            found = asking.result(PATIENCE_S)
            hung += len(part) - len(found)
            wrong += sum(answer.get("value") != value_of(part[place]) for place, answer in found.items())
        over = max(0, service.store.usage(service.key) - int(AT_MOST * signals) - 20)
    return Told(signals, hung=hung, wrong=wrong, over=over)


def _stop_one(workers: Workers, chance: random.Random) -> None:
    os.kill(chance.choice(workers.pids), signal.SIGTERM)


def main() -> None:
    """Run it from the command line; the exit code is 1 where a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--signals", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    conclude(attack(given.signals, given.seed))


if __name__ == "__main__":
    main()
