"""The contract, tested from outside: against the embedded service, or any other at an address with a key.

pytest tests/contract --base-url https://… --api-key ds_… [--free-api-key ds_…]

The same from the environment: DATA_SERVICE_CONTRACT_URL, DATA_SERVICE_CONTRACT_KEY, DATA_SERVICE_CONTRACT_FREE_KEY.
About two hundred requests of the key's month are spent.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

OPTIONS = {
    "--base-url": ("DATA_SERVICE_CONTRACT_URL", "address of the service to test; the embedded one without it"),
    "--api-key": ("DATA_SERVICE_CONTRACT_KEY", "key of the Pro tier or higher"),
    "--free-api-key": ("DATA_SERVICE_CONTRACT_FREE_KEY", "key of the Free tier"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    for option, (variable, meaning) in OPTIONS.items():
        parser.addoption(option, default=None, help=f"contract tests: {meaning} (or {variable})")


@dataclass(frozen=True)
class Target:
    """The service under test."""

    url: str
    key: str
    free_key: str | None
    is_embedded: bool


@pytest.fixture(scope="session")
def target(request: pytest.FixtureRequest) -> Target:
    url, key, free_key = (
        request.config.getoption(option, default=None) or os.environ.get(variable)
        for option, (variable, _) in OPTIONS.items()
    )
    if url and not key:
        pytest.fail("a service to test needs a key of the Pro tier: --api-key")
    if url and key:
        return Target(url.rstrip("/"), key, free_key, is_embedded=False)
    embedded = request.getfixturevalue("sample_service")
    return Target(embedded.url, embedded.key, embedded.free_key, is_embedded=True)


class Caller:
    """Asks the service with one key, or none."""

    def __init__(self, target: Target, key: str | None) -> None:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        self.http = httpx.Client(base_url=target.url, headers=headers, timeout=30)

    def get(self, path: str, **parameters: Any) -> httpx.Response:
        return self.http.get(path, params=parameters)

    def data(self, path: str, **parameters: Any) -> Any:
        """The `data` of an answer that must succeed."""
        answer = self.get(path, **parameters)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]


@pytest.fixture(scope="session")
def pro(target: Target) -> Iterator[Caller]:
    caller = Caller(target, target.key)
    with caller.http:
        yield caller


@pytest.fixture(scope="session")
def free(target: Target) -> Iterator[Caller]:
    if target.free_key is None:
        pytest.skip("no key of the Free tier was given: --free-api-key")
    caller = Caller(target, target.free_key)
    with caller.http:
        yield caller


@pytest.fixture(scope="session")
def nobody(target: Target) -> Iterator[Caller]:
    caller = Caller(target, None)
    with caller.http:
        yield caller


@pytest.fixture(scope="session")
def signals(pro: Caller) -> list[dict[str, Any]]:
    """The first signals of the catalogue, at least one."""
    found = pro.data("/v1/signals")
    if not found:
        pytest.skip("the service lists no signal")
    return found


@pytest.fixture(scope="session")
def slug(signals: list[dict[str, Any]]) -> str:
    return signals[0]["slug"]


@pytest.fixture(scope="session")
def long_slug(pro: Caller, signals: list[dict[str, Any]]) -> str:
    """A signal with more observations than one page holds."""
    for signal in signals:
        if len(pro.data(f"/v1/signals/{signal['slug']}/observations")) == 1_000:
            return signal["slug"]
    return pytest.skip("no signal has a thousand observations")


@pytest.fixture
def embedded(target: Target) -> None:
    """Leave a test out for other services: it holds what the embedded one decided where the contract is silent."""
    if not target.is_embedded:
        pytest.skip("the contract does not say this; the embedded service decided it")
