"""Every host keeps answers by the same rules: the page's functions, Calc's component and the Python client."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict

import httpx
import pytest

from addin.calc.component.backend import BackendError
from addin.calc.component.calls import Function
from addin.calc.component.clock import PassedTime
from addin.calc.component.engine import Engine
from addin.calc.component.response_cache import ResponseCache
from dataservice.client import AsyncClient, SignalResource
from dataservice.errors import DataServiceError
from tests.hosts.cache_rules import OF_A_BACKEND, RULES, Answers, Host, Passes, followed, wanted
from tests.project.files import PROJECT


class Time:
    """What clocks show: one that stops while the machine sleeps, and the one on the wall."""

    def __init__(self) -> None:
        self.awake, self.wall = 1_000.0, 1_000_000_000.0

    def passes(self, step: Passes) -> None:
        self.awake += 0.0 if step.is_asleep else step.seconds
        self.wall += step.seconds + step.wall_s


class InCalc:
    """Calc's component without Calc."""

    def __init__(self) -> None:
        self._time, self._manner, self._asked = Time(), Answers(), 0
        self.generation = 0
        clock = PassedTime(lambda: self._time.awake, lambda: self._time.wall)
        functions = {"SIGNAL": Function("SIGNAL", (), None, is_report=False)}
        self._engine = Engine(self, ResponseCache(clock), functions, clock)

    def passes(self, step: Passes) -> None:
        self._time.passes(step)

    def answers(self, given):
        """The rule's step, or what the engine asks its backend."""
        if isinstance(given, Answers):
            self._manner = given
            return None
        self._asked += len(given)
        if self._manner.is_away:
            raise BackendError("away", is_away=True)
        self.generation = max(self.generation, self._manner.generation)
        return [{"value": 1.0, "fresh_s": self._manner.fresh_s} for _ in given]

    def is_there(self) -> bool:
        return not self._manner.is_away

    def shows(self, calls: str) -> int:
        self._asked = 0
        if self._engine.retry_s is not None:
            self._engine.try_reconnect()
        for name in calls:
            self._engine.value(("SIGNAL", name))
        return self._asked


class InThePage:
    """The functions' page in Node.js."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def passes(self, step: Passes) -> None:
        self._does(passes=asdict(step))

    def answers(self, step: Answers) -> None:
        self._does(answers=asdict(step))

    def shows(self, calls: str) -> int:
        return self._does(shows=calls)

    def _does(self, **step: object) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(step) + "\n")
        self._process.stdin.flush()
        return int(json.loads(self._process.stdout.readline()))


class InPython:
    """The client, whose cache serves Python and stands behind every other one."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop, self._time, self._manner = loop, Time(), Answers()
        self._asked: set[str] = set()
        self._client: AsyncClient | None = None

    def passes(self, step: Passes) -> None:
        """As the system's clock, which is watched all the time."""
        self._time.passes(step)
        if self._client is not None:
            self._client.peek(SignalResource("a"))

    def answers(self, step: Answers) -> None:
        self._manner = step

    def shows(self, calls: str) -> int:
        self._asked.clear()
        self._loop.run_until_complete(self._read(calls))
        return len(self._asked)

    async def _read(self, calls: str) -> None:
        if self._client is None:
            transport, ttl_s = httpx.MockTransport(self._answer), self._manner.fresh_s
            options = {"transport": transport, "ttl_s": ttl_s, "clock": lambda: self._time.wall, "sleep": _at_once}
            self._client = AsyncClient("http://localhost", "ds_" + 40 * "0", **options)
        for name in calls:
            try:
                await self._client.read(SignalResource(name))
            except DataServiceError:
                assert self._manner.is_away

    def _answer(self, request: httpx.Request) -> httpx.Response:
        slug = request.url.path.rpartition("/")[2]
        self._asked.add(slug)
        if self._manner.is_away:
            raise httpx.ConnectError("away")
        day = {"date": "2026-08-17", "value": 1.0}
        headers = {"x-service-tier": "pro", "x-service-ratelimit-cap": "9000", "x-service-ratelimit-remaining": "8000"}
        return httpx.Response(200, json={"slug": slug, "name": slug, "history": [day]}, headers=headers)


async def _at_once(seconds: float) -> None:
    """Wait for nothing."""


@contextmanager
def page() -> Iterator[Host]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node.js here")
    program = [node, "--no-warnings", str(PROJECT / "tests/node/cache_rules.mjs")]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield InThePage(process)
        process.kill()


@contextmanager
def calc() -> Iterator[Host]:
    yield InCalc()


@contextmanager
def python() -> Iterator[Host]:
    with closing(asyncio.new_event_loop()) as loop:
        yield InPython(loop)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("opened", [page, calc, python])
def test_a_host_keeps_answers_by_the_rules(opened, rule):
    if opened is python and rule in OF_A_BACKEND:
        pytest.skip("the client has no backend that others could refresh")
    with opened() as host:
        assert followed(host, RULES[rule]) == wanted(RULES[rule])


def test_the_page_about_the_protocol_lists_the_rules():
    text = (PROJECT / "docs/protocol.md").read_text(encoding="utf-8")
    section = text.partition("{ #cache-rules }")[2].partition("\n## ")[0]
    assert [line[2:] for line in section.splitlines() if line.startswith("- ")] == list(RULES)
