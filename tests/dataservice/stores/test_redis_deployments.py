"""Redis as firms run it: by TLS, behind Sentinels, as a cluster."""

from contextlib import ExitStack
from datetime import UTC, datetime

import pytest
from redis.exceptions import ConnectionError as LostConnectionError

from addin.config.connect import open_store
from addin.config.settings import Settings
from addin.errors import SettingsError
from addin.tls.certificates import Certificates
from dataservice.stores import Entry
from dataservice.stores.redis import RedisStore
from dataservice.stores.redis_address import Address
from tests.attack.parts.redis_groups import sentinels
from tests.attack.parts.redis_process import RedisProcess


def test_an_address_of_sentinels_or_of_a_cluster_says_who_is_asked_and_how():
    address = Address.parsed("rediss+sentinel://me:p%40ss@a:1,b/firm/3?sentinel_password=s")
    assert address == Address(
        "sentinel",
        (("a", 1), ("b", 26_379)),
        is_tls=True,
        username="me",
        password="p@ss",
        service="firm",
        db=3,
        sentinel_password="s",
    )
    assert Address.parsed("redis+cluster://:p@a,b:7").nodes == (("a", 6_379), ("b", 7))
    assert Address.parsed("redis://a:1/0") is None


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("redis+sentinel://a:1", "must end with the service"),
        ("redis+sentinel://a:1/firm/x", "must end with the service"),
        ("redis+cluster://a/3", "no databases"),
        ("redis+cluster:///", "names no host"),
        ("redis+ring://a", "is unknown"),
        ("http://a", "scheme"),
        ("redis+sentinel://a/firm?pasword=x", "pasword"),
    ],
)
def test_an_address_that_cannot_be_one_is_refused_with_the_reason(tmp_path, url, why):
    with pytest.raises(SettingsError, match=f"(?s)redis_url cannot be used: .*{why}"):
        open_store(Settings(redis_url=url, cache_dir=tmp_path))


async def test_by_tls_the_authority_of_the_firm_is_trusted_and_no_other(tmp_path):
    own = Certificates(tmp_path / "own")
    pair = own.ensure(datetime.now(UTC))
    options = ["--tls-cert-file", str(pair.certificate), "--tls-key-file", str(pair.private_key)]
    options += ["--tls-ca-cert-file", str(own.authority), "--tls-auth-clients", "no"]
    with RedisProcess(tmp_path, *options, tls=True) as redis:
        trusting = RedisStore.from_url(redis.url, ca_file=own.authority)
        await trusting.put("a", Entry(b"x", 1.0))
        assert await trusting.get("a") == Entry(b"x", 1.0)
        await trusting.aclose()
        doubting = RedisStore.from_url(redis.url)
        with pytest.raises(LostConnectionError, match="certificate"):
            await doubting.get("a")
        await doubting.aclose()


async def test_sentinels_name_the_server_and_who_is_gone_of_them_is_passed_over(tmp_path):
    with ExitStack() as stack:
        url, [master, _] = stack.enter_context(sentinels(tmp_path, ready_to_fail_over=False))
        gone = RedisProcess(tmp_path).port
        for address in (url, url.replace("//", f"//127.0.0.1:{gone},")):
            store = RedisStore.from_url(address)
            await store.put("a", Entry(b"x", 1.0))
            assert await store.get("a") == Entry(b"x", 1.0)
            assert (await store.claim("a", "me", 5.0)).granted
            await store.aclose()
        direct = RedisStore.from_url(master.url)
        assert await direct.get("a") == Entry(b"x", 1.0)
        await direct.aclose()


async def test_a_cluster_divides_the_entries_and_lists_those_of_all_nodes(cluster_url, tmp_path):
    store = RedisStore.from_url(cluster_url, prefix=f"{tmp_path}:")
    for number in range(60):
        await store.put(f"scope/{number}", Entry(b"x", 1.0))
        await store.append(f"scope/{number}", b"fact", 0)
    held = []
    for url in cluster_url.removeprefix("redis+cluster://").split(","):
        node = RedisStore.from_url(f"redis://{url}/0", prefix=f"{tmp_path}:")
        held.append([key async for key in node._redis.scan_iter(match=f"{tmp_path}:entry:*")])
        await node.aclose()
    assert sum(len(keys) for keys in held) == 60
    assert min(len(keys) for keys in held) > 5
    assert len(await store.entries("scope/")) == len(await store.logs("scope/")) == 60
    assert await store.clear("scope/") == 60
    await store.aclose()
