"""Redis as firms run it: by TLS, behind Sentinels, as a cluster."""

from contextlib import ExitStack
from datetime import UTC, datetime

import pytest
from redis.exceptions import ConnectionError as LostConnectionError

from addin.config.connect import open_store
from addin.config.settings import Settings
from addin.errors import SettingsError
from addin.tls.certificates import Certificates
from dataservice.stores import Entry, StoreAwayError
from dataservice.stores.redis import RedisStore
from dataservice.stores.redis_address import Address, client_for
from tests.attack.parts.redis_groups import sentinels
from tests.attack.parts.redis_process import RedisProcess


def test_an_address_shows_itself_without_its_passwords():
    shown = repr(Address.parsed("rediss+sentinel://me:hunter2@a/firm?sentinel_password=hunter3"))
    assert "username='me'" in shown
    assert "hunter" not in shown


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
        ("redis://:12/34@a/0", "in a password write"),
        ("redis+cluster://:pa/ss@a,b", "in a password write"),
    ],
)
def test_an_address_that_cannot_be_one_is_refused_with_the_reason(tmp_path, url, why):
    with pytest.raises(SettingsError, match=f"(?s)redis_url cannot be used: .*{why}"):
        open_store(Settings(redis_url=url, cache_dir=tmp_path))


@pytest.mark.parametrize("sign", "/?#:@")
@pytest.mark.parametrize("kind", ["redis", "rediss", "redis+cluster", "redis+sentinel"])
def test_no_part_of_a_password_is_told_with_an_address_that_is_refused(tmp_path, kind, sign):
    for password in (f"secret{sign}word", f"{sign}secret", f"12{sign}secret"):
        with pytest.raises(SettingsError) as refused:
            open_store(Settings(redis_url=f"{kind}://:{password}@a:70000x/mymaster/0", cache_dir=tmp_path))
        assert "secret" not in str(refused.value)
        assert "12" not in str(refused.value)


def test_all_connections_by_tls_share_one_context():
    one = client_for("rediss://a:1/0").connection_pool
    watched = client_for("rediss+sentinel://a:1/firm").connection_pool
    [node] = client_for("rediss+cluster://a:1").startup_nodes
    for made in (one.make_connection, watched.make_connection, node.acquire_connection):
        assert len({id(made().ssl_context) for _ in range(5)}) == 1


@pytest.mark.parametrize(("address", "why"), [("redis://:{}@", "password in redis_url"), ("redis://", "or wants one")])
async def test_a_wrong_password_is_one_clear_sentence_without_it(tmp_path, caplog, address, why):
    with RedisProcess(tmp_path, "--requirepass", "right-one") as redis:
        url = redis.url.replace("redis://", address.format("wrong-one"))
        store = open_store(Settings(redis_url=url, cache_dir=tmp_path))
        with pytest.raises(StoreAwayError, match=why):
            await store.add("a", 1)
        assert why in caplog.text
        assert "-one" not in caplog.text
        await store.aclose()


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
