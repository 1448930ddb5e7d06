"""The doctor: every link from Excel to the service, and what to do about a broken one."""

import datetime as dt
import json
import os

import pytest

from addin.backend import create_app
from addin.backend.serving import listen, running
from addin.config.settings import Settings
from addin.excel.doctor import examine
from addin.findings import State
from addin.tls.certificates import Certificates
from tests.addin.commands import addin, environment
from tests.addin.half_answers import half_answers_of
from tests.attack.parts.redis_process import RedisProcess

NOW = dt.datetime.now(dt.UTC)


@pytest.fixture
def own(tmp_path):
    certificates = Certificates(tmp_path / "certificates")
    certificates.ensure(NOW)
    return certificates


@pytest.fixture
def key(service, monkeypatch):
    monkeypatch.setenv("DATA_SERVICE_API_KEY", service.key)


async def links(settings, own, now=NOW, distrust=lambda _: None):
    return {finding.topic: finding for finding in await examine(settings, own, now, distrust=distrust)}


@pytest.mark.usefixtures("key")
async def test_when_all_is_well_nothing_is_to_be_done(service, own, tmp_path):
    listener = listen("127.0.0.1", 0, own.leaf)
    port = listener.socket.getsockname()[1]
    settings = Settings(url=service.url, cache_dir=tmp_path / "cache", port=port)
    with running(create_app(settings), listener):
        found = await links(settings, own)
    assert {finding.state for finding in found.values()} == {State.GOOD}, found
    topics = ["versions", "address", "key", "cache", "certificate", "trust", "backend", "web", "service", "quota"]
    assert list(found) == topics
    assert "LocalNetworkAccessAllowedForUrls" in found["web"].text
    assert "requests left this month (pro tier)" in found["quota"].text


@pytest.mark.usefixtures("key")
async def test_a_look_costs_one_request_at_most_and_then_none(service, own, tmp_path):
    settings = Settings(url=service.url, cache_dir=tmp_path / "cache", port=1)
    await links(settings, own)
    spent = [target for target in service.running.requests if target != "/openapi.json"]
    await links(settings, own)
    assert len(spent) <= 1
    assert [target for target in service.running.requests if target != "/openapi.json"] == spent


async def test_a_redis_that_refuses_the_password_is_told_without_it(own, tmp_path):
    with RedisProcess(tmp_path, "--requirepass", "right-one") as redis:
        for password, state, told in (("right-one", State.GOOD, "127.0.0.1"), ("wrong-one", State.BROKEN, "password")):
            url = redis.url.replace("redis://", f"redis://:{password}@")
            found = (await links(Settings(redis_url=url, cache_dir=tmp_path, port=1), own))["redis"]
            assert (found.state, told in found.text, "-one" in found.text + found.advice) == (state, True, False)


async def test_a_missing_address_certificate_and_backend_are_told_with_their_commands(tmp_path):
    found = await links(Settings(port=1), Certificates(tmp_path / "none"))
    assert "DATA_SERVICE_URL" in found["address"].advice
    assert found["certificate"].advice == "make one with: addin certs install"
    assert found["backend"].advice == "start it with: addin serve"
    assert {"service", "quota"}.isdisjoint(found)


@pytest.mark.usefixtures("key")
async def test_a_backend_without_tls_is_good_for_calc_and_told_for_excel(service, own, tmp_path):
    listener = listen("127.0.0.1", 0)
    settings = Settings(url=service.url, port=int(listener.url.rpartition(":")[2]), cache_dir=tmp_path / "cache")
    with running(create_app(settings), listener):
        backend = (await links(settings, own))["backend"]
        missed = (await links(settings, Certificates(tmp_path / "none")))["certificate"]
    assert (backend.state, "Calc reaches it" in backend.text) == (State.WARNING, True)
    assert (missed.state, missed.advice) == (State.WARNING, "for Excel, make one with: addin certs install")


async def test_a_certificate_that_the_system_does_not_trust_is_told(own):
    trust = (await links(Settings(port=1), own, distrust=lambda _: "certutil ended with 255"))["trust"]
    assert (trust.state, "certutil ended with 255" in trust.text) == (State.WARNING, True)
    assert "addin certs install --trust" in trust.advice


async def test_where_users_reach_the_backend_elsewhere_no_certificate_of_this_machine_is_missed(tmp_path):
    settings = Settings(port=1, public_url="https://localhost:1")
    assert {"certificate", "trust"}.isdisjoint(await links(settings, Certificates(tmp_path / "none")))


async def test_a_certificate_that_has_ended_is_told(own):
    found = await links(Settings(port=1), own, NOW + dt.timedelta(days=500))
    assert (found["certificate"].state, found["certificate"].advice) == (State.BROKEN, "restart: addin serve")


@pytest.mark.skipif(os.name != "posix", reason="other systems have other rights")
async def test_a_private_key_that_others_can_read_is_told(own):
    own.leaf.private_key.chmod(0o644)
    assert (await links(Settings(port=1), own))["private key"].state is State.BROKEN


async def test_a_port_that_something_else_holds_is_told(service, own, tmp_path):
    port = int(service.url.rpartition(":")[2])
    found = await links(Settings(port=port, cache_dir=tmp_path), own)
    assert "something else" in found["backend"].text


@pytest.mark.usefixtures("key")
async def test_a_service_that_is_down_is_told(service, own, tmp_path):
    service.running.stop()
    found = await links(Settings(url=service.url, cache_dir=tmp_path / "cache", port=1), own)
    assert found["service"].state is State.BROKEN
    assert "quota" not in found


async def test_a_key_that_is_refused_is_told(service, own, tmp_path, monkeypatch):
    monkeypatch.setenv("DATA_SERVICE_API_KEY", "ds_" + "0" * 40)
    found = await links(Settings(url=service.url, cache_dir=tmp_path / "cache", port=1), own)
    assert found["quota"].text.startswith("the key was refused")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may write everywhere")
async def test_a_cache_that_cannot_be_written_is_told(own, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    found = await links(Settings(port=1, cache_dir=tmp_path / "locked/cache"), own)
    assert found["cache"].state is State.BROKEN


def test_the_command_shows_one_screen_and_ends_with_1_when_a_link_is_broken(service, tmp_path):
    done = addin("doctor", environ=environment(tmp_path, service, port="1"))
    assert done.returncode == 1
    assert "✗" in done.stdout
    assert "addin certs install" in done.stdout
    assert len(done.stdout.splitlines()) <= 24


def test_the_command_gives_json_and_no_key(service, tmp_path):
    done = addin("doctor", "--json", environ=environment(tmp_path, service, port="1"))
    told = {finding["topic"]: finding for finding in json.loads(done.stdout)}
    assert told["address"]["state"] == "good"
    assert told["backend"]["advice"] == "start it with: addin serve"
    assert service.key not in done.stdout


@pytest.mark.usefixtures("key")
async def test_a_sign_in_page_in_the_services_place_is_told_and_no_request_is_spent(service, own, tmp_path):
    with half_answers_of(service.url) as between:
        between.fault = "html"
        found = await links(Settings(url=between.url, cache_dir=tmp_path / "cache", port=1), own)
    assert (found["service"].state, "a web page or a redirect (200)" in found["service"].text) == (State.BROKEN, True)
    assert "sign in to the network" in found["service"].advice
    assert "quota" not in found


async def test_a_proxy_of_a_kind_that_cannot_be_used_is_told_without_its_password(own, tmp_path, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "socks5://me:a-password@127.0.0.1:1")
    found = await links(Settings(url="https://data.example", cache_dir=tmp_path / "cache", port=1), own)
    assert (found["service"].state, found["service"].text) == (
        State.BROKEN,
        "its proxy cannot be used (https: 127.0.0.1:1)",
    )
