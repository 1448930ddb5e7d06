"""Counts of requests that arrive together: one statement for all, and each is answered only after it is committed."""

import asyncio
from asyncio import Future, Task

from starlette.concurrency import run_in_threadpool

from dataservice.server.db.counting import Account, Counted
from dataservice.server.db.keys import Keys


class GroupedCounts:
    """Counts requests in groups: what arrives while one group is being counted makes up the next one.

    So a process waits for one commit at a time, however many requests there are, and a single request waits for none.
    """

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._waiting: dict[Account, list[Future[Counted | None]]] = {}
        self._counting: Task[None] | None = None

    async def count(self, account: Account) -> Counted | None:
        """Return what `Keys.count` gives; raises what went wrong."""
        counted: Future[Counted | None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(account, []).append(counted)
        if self._counting is None:
            self._counting = asyncio.create_task(self._count_all())
        return await counted

    async def _count_all(self) -> None:
        try:
            while self._waiting:
                group, self._waiting = self._waiting, {}
                await self._count_group(group)
        finally:
            self._counting = None

    async def _count_group(self, group: dict[Account, list[Future[Counted | None]]]) -> None:
        group = {account: [each for each in futures if not each.done()] for account, futures in group.items()}
        group = {account: futures for account, futures in group.items() if futures}  # without those who have gone
        wanted = {account: len(futures) for account, futures in group.items()}
        waiting = [future for futures in group.values() for future in futures]
        try:
            counted = await run_in_threadpool(self._keys.count_together, wanted)
        except asyncio.CancelledError:  # the server ends
            for future in waiting:
                future.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, each of these requests fails with it
            for future in waiting:
                if not future.done():
                    future.set_exception(error)
            return
        for account, futures in group.items():
            for future, found in zip(futures, counted[account], strict=True):
                if not future.done():  # else the caller has gone
                    future.set_result(found)
