"""Counting many requests in one transaction, beside a model that counts one after the other."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

from dataservice.server import Store
from dataservice.server.db.counting import Account


def check(store: Store, groups: int = 60) -> None:
    """Count groups of requests of keys with small caps, and compare what each of them gets with the model."""
    choice = random.Random(1)
    keys = [store.create_key(cap=cap) for cap in (1, 2, 7, 30, 1_000)]
    accounts = [store.keys.account(store.keys.find(key)) for key in keys]
    nobody = Account("0" * 64, accounts[0].month, 10)
    used = dict.fromkeys(accounts, 0)
    for _ in range(groups):
        wanted = {account: choice.randint(1, 9) for account in choice.sample(accounts, choice.randint(1, 5))}
        counted = store.keys.count_together({nobody: 2, **wanted})
        assert counted.pop(nobody) == [None, None]
        for account, count in wanted.items():
            granted = min(count, account.cap - used[account])
            expected = [used[account] + number for number in range(1, granted + 1)] + [None] * (count - granted)
            assert [each and each.used for each in counted[account]] == expected
            used[account] += granted
    assert [store.usage(key) for key in keys] == list(used.values())


def check_side_by_side(store: Store, callers: int = 8) -> None:
    """Count the same keys from many threads, in another order each: the caps are reached exactly."""
    keys = [store.create_key(cap=cap) for cap in (50, 51, 52)]
    accounts = [store.keys.account(store.keys.find(key)) for key in keys]

    def count(number: int) -> int:
        order = accounts[number % 3 :] + accounts[: number % 3]
        counted = store.keys.count_together(dict.fromkeys(order, 1 + number % 4))
        return sum(each is not None for found in counted.values() for each in found)

    with ThreadPoolExecutor(callers) as pool:
        granted = sum(pool.map(count, range(100)))
    assert granted == 50 + 51 + 52
    assert [store.usage(key) for key in keys] == [50, 51, 52]
