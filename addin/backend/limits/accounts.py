"""What requests weigh, in memory from their first byte until their answer has left, and in processor time: one account
for each.

All requests together have a budget, and whoever asks has a share of it: a key that the service accepted, or the
backend's own, a large one; callers without one, and keys that are not proven yet, together a small one, and each
address a part of that. What does not fit is refused at once (503), so that a process never grows beyond its budget.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from addin.backend.http import BusyError, address_of
from addin.backend.limits.processor import CallerTurns, Processor
from udfs.engine import TURNS

PIECE_BYTES = 64 * 2**10
"""Sent in one go: as much as the server holds for a connection before it waits for the caller."""

VALUE_BYTES = 500
"""What an argument takes while its call is worked out: text, call, answer, and their places in tables."""

UNPROVEN_PART = 8
"""Of the budget, callers whose key is not proven have one such part together."""

ADDRESS_PART = 2
"""Of that, each address has one such part: a whole office may open its books at nine."""

PAYER_PART = 2
"""Of the budget, each key has one such part, where there are several."""

KEPT_PART, LITTLE_PART = 8, 64
"""Of the budget, one such part is kept for those who hold no more than such a part each: a few cells wait behind no
bodies of megabytes."""

WAITS_S = 20.0
"""How long requests of keys that the service accepts wait for room: at nine everybody opens their books."""

SOON_S = 4.0
"""The same where the caller posts again for what is pending; and then its turns are due, however many others wait."""

UNPROVEN_WAITS_S = 2.0
"""How long those of other keys do; then the key is proven, which may cost it a request."""

WAITING_PART = 4
"""Of the budget, requests that wait for room hold at most one such part: the others would have none to end in."""

FILLED_PART = 8
"""Of the budget: beyond one such part processes without work are ended, which hold a hundred MB each."""

CROWD = 16
"""Requests under way, beyond which others begin one after another: four hundred that begin together take a second."""


class MemoryBudget:
    """At most `capacity` bytes for all requests; a request that is alone always fits, as its own limits allow.

    They share the `processor`, too.
    """

    def __init__(self, capacity: int, processor: Processor | None = None) -> None:
        self.capacity = capacity
        self.processor = processor or Processor()
        self.held = 0
        self.filled: Callable[[], object] = int
        """Called when requests have come to hold much."""
        self.left_bytes: Callable[[], int] = int
        """What requests that have ended held, and the system has not got back yet."""
        self._payers: Counter[str] = Counter()
        self._unproven = 0
        self._waiting: list[tuple[Account, int, asyncio.Future[None]]] = []
        """Accounts that wait for room, how much, and what ends their wait."""

    @contextmanager
    def account(self, address: str, asker: str = "") -> Iterator[Account]:
        """An account for a request from `address`, empty and closed at the end of the block.

        An `asker` who comes again has the place of the first request in the order.
        """
        account = Account(self, address)
        place = self.processor.take_place(asker, account.turns.number)
        account.came_before = place[0] < account.turns.number
        account.turns.number = place[0]
        account.turns.begin()
        token = TURNS.set(account.turns)
        try:
            yield account
        finally:
            TURNS.reset(token)
            account.turns.end()
            if asker and account.is_answered:
                self.processor.keep_place(asker, place)
            account.shrink(account.held)

    def change(self, account: Account, amount: int) -> None:
        """Note what an account holds more, or less."""
        was_filled = self.is_filled
        self.held += amount
        if self.is_filled and not was_filled:
            self.filled()
        self._payers[account.payer] += amount
        if not self._payers[account.payer]:
            del self._payers[account.payer]
        self._unproven += 0 if account.is_proven else amount
        if amount < 0:
            self._let_in()

    @property
    def is_filled(self) -> bool:
        """Return whether requests hold so much that what is idle gives way."""
        return self.held > self.capacity // FILLED_PART

    def held_beside(self, account: Account) -> int:
        """Return what other requests of the same payer hold."""
        return self._payers[account.payer] - account.held

    async def wait(self, account: Account, amount: int, within_s: float) -> None:
        """Let the account hold so much more once there is room; raises `HTTPException` 503 if it is not in time."""
        if sum(each.held for each, _, _ in self._waiting) + account.held > self.capacity // WAITING_PART:
            raise busy()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (account, amount, turn)
        self._waiting.append(entry)
        try:
            async with asyncio.timeout(within_s):
                await turn
        except TimeoutError:
            raise busy() from None
        finally:
            if entry in self._waiting:
                self._waiting.remove(entry)

    def _let_in(self) -> None:
        """Give those who wait what has become free, in their order; a large one lets smaller ones pass."""
        for entry in tuple(self._waiting):
            account, amount, turn = entry
            if not turn.done() and self.has_room(account, amount):
                self._waiting.remove(entry)
                account.grow(amount)
                turn.set_result(None)

    def has_room(self, account: Account, amount: int) -> bool:
        """Return whether the account may hold so much more."""
        of_payer = self._payers[account.payer] + amount
        if not account.is_proven:
            return self._unproven + amount <= self.capacity // UNPROVEN_PART and of_payer <= account.most
        kept = 0 if of_payer <= self.capacity // LITTLE_PART else self.capacity // KEPT_PART
        is_within = self.held + amount <= self.capacity - kept and of_payer <= account.most
        return is_within or self.held - self._unproven == account.held


class Account:
    """One request's part of the budget, and its turns. It begins as its address's; a proven key takes it over."""

    def __init__(self, budget: MemoryBudget, address: str) -> None:
        self._budget = budget
        self.payer = f"address {address}"
        self.turns = CallerTurns(budget.processor, self.payer)
        self.is_proven = False
        self.most = budget.capacity // UNPROVEN_PART // ADDRESS_PART
        self.held = 0
        self.patience_s = WAITS_S
        """How long it may wait for room in all."""
        self.came_before = self.is_answered = False
        """Whether this is not the first request lately of who asks, and whether it was answered: 200."""

    def hurry(self) -> None:
        """Let the request be answered soon, or refused."""
        self.patience_s = SOON_S
        self.turns.hurry(SOON_S)

    def grow(self, amount: int) -> None:
        """Hold so much more; raises `HTTPException` 503 where there is no room for it."""
        if amount > 0 and not self._budget.has_room(self, amount):
            raise busy()
        self.held += amount
        self._budget.change(self, amount)

    async def grow_in_turn(self, amount: int, within_s: float = WAITS_S) -> None:
        """Hold so much more as soon as there is room for it; raises `HTTPException` 503 if it is not in time."""
        if self.held + amount > self.most or self._budget.has_room(self, amount):
            self.grow(amount)
            return
        began = time.monotonic()
        await self._budget.wait(self, amount, min(within_s, self.patience_s))
        self.patience_s -= time.monotonic() - began

    def hold(self, amount: int) -> None:
        """Hold so much in place of what it held; raises `HTTPException` 503 where there is no room for that."""
        self.grow(amount - self.held)

    def shrink(self, amount: int) -> None:
        """Hold so much less."""
        self.held -= amount
        self._budget.change(self, -amount)

    def pay_as(self, payer: str, *, is_only: bool) -> None:
        """Let a proven key pay, within its share; `is_only` where no other key is used here."""
        held = self.held
        self.shrink(held)
        self.payer, self.is_proven = payer, True
        self.turns.pay_as(payer, is_only=is_only)
        self.most = self._budget.capacity // (1 if is_only else PAYER_PART)
        self.grow(held)


def busy() -> BusyError:
    """Return what a caller is told who finds no room."""
    return BusyError("the backend is busy with other requests; try again in a few seconds (setting requests_bytes)")


def account_of(request: Request) -> Account:
    """The account of a request."""
    account: Account = request.scope["state"]["account"]
    return account


class Accounting:
    """Opens an account for each request, closed when its answer has left or its caller is gone.

    An answer of which nothing leaves for `send_timeout_s` is broken off: else whoever does not read would hold it.
    In a crowd requests begin one after another, but those that `goes_first` names: a probe, or a user who is known.
    `asker_of` tells who asks, as far as the request itself says it; empty where it does not.
    """

    def __init__(
        self,
        app: ASGIApp,
        budget: MemoryBudget,
        *,
        send_timeout_s: float,
        goes_first: Callable[[Request], bool] = lambda _: False,
        asker_of: Callable[[Request], str] = lambda _: "",
    ) -> None:
        self._app = app
        self._budget = budget
        self._send_timeout_s = send_timeout_s
        self._goes_first = goes_first
        self._asker_of = asker_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            account.is_answered = account.is_answered or message.get("status") == HTTPStatus.OK
            for piece in _pieces(message):
                try:
                    async with asyncio.timeout(self._send_timeout_s):
                        await send(piece)
                except TimeoutError:
                    raise UnreadAnswerError from None

        request = Request(scope)
        with self._budget.account(address_of(request), self._asker_of(request)) as account:
            scope.setdefault("state", {})["account"] = account
            try:
                is_new = not (account.came_before or self._goes_first(request))
                if is_new and self._budget.processor.callers > CROWD:
                    await account.turns.next()
                await self._app(scope, receive, sending)
            except UnreadAnswerError:
                return  # the server closes the connection, because the answer is not complete


def _pieces(message: Message) -> Iterator[Message]:
    """A message in pieces: the server waits for the caller before it takes the next one, and only then."""
    body = message.get("body", b"")
    if len(body) <= PIECE_BYTES:
        yield message
        return
    for start in range(0, len(body), PIECE_BYTES):
        yield {**message, "body": body[start : start + PIECE_BYTES], "more_body": True}
    if not message.get("more_body", False):
        yield {**message, "body": b""}


class UnreadAnswerError(Exception):
    """The caller does not read its answer."""
