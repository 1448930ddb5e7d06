"""A service that answers when it is let, pages that post what they show, and what must hold in the end."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import httpx
import orjson

from addin.protocol.batch import Batches
from addin.protocol.consent import Consent
from addin.protocol.limits import BatchLimits
from addin.protocol.pending_batches import INTEREST_S, PartialReply, PendingBatches
from addin.protocol.response_cache import ResponseCache
from dataservice.client import AsyncClient
from tests.dataservice.client.parts.scripted import KEY, URL, answer, refusal, signal
from udfs.engine.session import Session

SLUGS = [f"s.{number}" for number in range(60)]
ASK_ABOVE = 25


def value_of(slug: str) -> float:
    """The latest value of a signal."""
    return float(SLUGS.index(slug) + 1)


async def turns(count: int) -> None:
    """Let all other tasks go first, so many times."""
    for _ in range(count):
        await asyncio.sleep(0)


@dataclass
class Service:
    """Answers as many requests as it was let, and fails while it is told to."""

    requests: Counter[str] = field(default_factory=Counter)
    fails: bool = False
    is_open: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        slug = request.url.path.rpartition("/")[2]
        self.requests[slug] += 1
        fails = self.fails
        await self.is_open.wait()
        if fails:
            return refusal(400)
        return answer(signal(slug, value_of(slug))) if slug in SLUGS else answer([signal(each) for each in SLUGS])

    @property
    def count(self) -> int:
        """How many requests arrived; each of them is spent."""
        return sum(self.requests.values())


@dataclass
class Page:
    """Cells on signals, which are posted again until each has its answer."""

    cells: set[str]
    shown: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def open(self) -> list[str]:
        """The signals without an answer."""
        return sorted(self.cells - self.shown.keys())


class World:
    """One key with its loads, and the pages before it; `told` sums up what posts were told as spent."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.now = 0.0
        self.service = Service()
        self.client = AsyncClient(URL, KEY, transport=httpx.MockTransport(self.service), jitter=lambda: 0.0)
        session, cache, limits = Session(self.client), ResponseCache(2**20), BatchLimits()
        self.consent = Consent(ASK_ABOVE, lambda: None, timer=lambda: self.now)
        self.batches = Batches(session, cache, deadline_s=20, limits=limits, consent=self.consent)
        self.loads = PendingBatches(
            session,
            cache,
            self.consent,
            deadline_s=20,
            late=self.batches.late,
            limits=limits,
            timer=lambda: self.now,
            early_s=0.001,
            hold_s=0.002,
        )
        self.told = 0
        self.forced = 0
        self.failures = 0
        self.pages: list[Page] = []

    async def post(self, page: Page) -> None:
        """One post of what a page still needs."""
        asked = page.open
        if not asked:
            return
        calls = [orjson.dumps(["SIGNAL", slug]) for slug in asked]
        loaded: PartialReply = await self.loads.answer(calls, "say yes")
        self.told += loaded.answers.requests
        for slug, found in zip(asked, orjson.loads(loaded.answers.text), strict=True):
            if not found.get("pending") and slug in page.cells:
                page.shown[slug] = found

    async def refresh(self, *, force: bool) -> None:
        """As `POST /refresh`; every page calculates again."""
        self.forced += force
        await self.client.refresh(force=force)
        self.batches.forget()
        self.loads.forget()
        self.consent.reset()
        for page in self.pages:
            page.shown.clear()

    def answer_question(self, *, yes: bool) -> None:
        """Answer the question, if there is one; cells that waited for that calculate again."""
        question = self.consent.question
        if question is None:
            return
        self.consent.answer(question.number, yes=yes)
        for page in self.pages:
            page.shown = {slug: found for slug, found in page.shown.items() if found.get("kind") != "unconfirmed"}

    def go_away(self, page: Page) -> None:
        """A page is closed, and time passes."""
        self.pages.remove(page)
        self.now += INTEREST_S + 1

    async def settle(self) -> None:
        """Let the service answer, and every page post until it has all its answers."""
        self.service.is_open.set()
        self.service.fails = False
        for _ in range(2_000):
            self.answer_question(yes=True)
            if any(found.get("kind") == "unconfirmed" for page in self.pages for found in page.shown.values()):
                await self.refresh(force=False)  # after a no, the next refresh asks again
            elif not any(page.open for page in self.pages):
                break
            await asyncio.gather(*(self.post(page) for page in self.pages))

    async def end(self) -> None:
        """Wait for what goes on for nobody, and learn what it has spent."""
        self.service.is_open.set()
        while self.loads.is_busy:
            await turns(1)
        self.now += INTEREST_S + 10
        last = Page({SLUGS[0]})
        self.pages.append(last)
        while last.open:
            await self.post(last)
        await self.loads.aclose()
        self.told += self.batches.late.take()
        await self.client.aclose()
