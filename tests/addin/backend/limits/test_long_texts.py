"""No call holds up the others, whatever texts it is given: each is refused at once, or is soon worked out."""

import itertools
import json
import time

import pytest

from addin.backend.state import BackendState
from addin.config.api_key import ConfiguredKey, KeySource, KeyStore, no_keychain
from addin.config.settings import Settings
from addin.protocol.limits import CELL_CHARACTERS
from udfs import REGISTRY

LONGEST_S = 0.4
"""Processor time of one call, several times what any takes on a slow machine: beyond it others would notice."""

UNITS = ["a", "oil ", "w{n} ", ",", "=,", "o{n}=1;", "vale{n},", "us-cpx{n},", "2020-", "1Y", "ß", "(", "\ud83d\ude00"]
OPTIONS = [
    "transform=" + "|".join(["zscore(200)"] * 16),
    "transform=" + "ma(3)|" * 5_000,
    "freq=M;" * 4_000,
    "text=" + " ".join(map(str, range(6_000))),
    "limit=" + "9" * 30_000,
    "asof=" + "1" * 30_000,
]
WARM = [["SIGNAL", "us-cpi"], ["SIGNALS"], ["SIGNAL_HISTORY", "us-cpi", "MAX", None, "transform=ma(2)"], ["WIRE"]]


def longest(unit):
    text = "".join(unit.format(n=n) for n in range(-(-CELL_CHARACTERS // len(unit)))) if "{" in unit else unit * 32_767
    return text[:CELL_CHARACTERS]


def calls_of(function):
    places = range(len(function.parameters))
    for place, text in itertools.product(places, [*map(longest, UNITS), *OPTIONS]):
        yield [function.id, *["us-cpi" if n == 0 else None for n in range(place)], text]


@pytest.fixture(scope="module")
def warm_backend(sample_service, tmp_path_factory):
    folder = tmp_path_factory.mktemp("long-texts")
    settings = Settings(url=sample_service.url, cache_dir=folder)
    keys = KeyStore(settings.url, open_keychain=no_keychain, file=folder / "keys.json")
    return lambda: BackendState(settings, keys, ConfiguredKey(sample_service.key, KeySource.CONFIG))


async def test_no_function_takes_long_over_the_longest_texts_that_a_cell_can_hold(warm_backend):
    backend, slow = warm_backend(), []
    async with backend.tenant() as tenant:
        await tenant.batches.answer([json.dumps(call).encode() for call in WARM])
        for call in itertools.chain.from_iterable(map(calls_of, REGISTRY.values())):
            began = time.process_time()
            answers = await tenant.batches.answer([json.dumps(call).encode()])
            took_s = time.process_time() - began
            assert len(answers.text) < 2**20
            if took_s > LONGEST_S:
                slow.append((round(took_s, 2), call[0], len(call), call[-1][:20]))
    await backend.aclose()
    assert slow == []
