"""Behind a firm's proxy: the way to the service leads through it, and the firm's own authority can be trusted."""

import pytest

from addin.config.authorities import trusted
from addin.config.settings import Settings
from addin.errors import SettingsError
from addin.excel.doctor import examine
from addin.findings import State
from addin.tls.certificates import Certificates
from tests.addin.backends import backend_of
from tests.addin.commands import addin, environment
from tests.addin.config.proxies import https_service, proxy
from tests.addin.tls.test_certificates import NOW

FORMULA = '=DS.SIGNAL("us-cpi", "shortcode")'


@pytest.mark.parametrize("trusting", ["ca_file", "SSL_CERT_FILE"])
def test_a_command_reaches_the_service_through_the_proxy_with_the_firms_authority(service, tmp_path, trusting):
    with https_service(service, tmp_path / "firm") as (url, authority), proxy() as between:
        environ = environment(tmp_path, url=url, api_key=service.key)
        name = "DATA_SERVICE_CA_FILE" if trusting == "ca_file" else trusting
        done = addin(
            "eval", FORMULA, environ={**environ, "HTTPS_PROXY": between.url, "NO_PROXY": "", name: str(authority)}
        )
        assert done.stdout.strip() == "CPI", done.stderr
        assert between.asked == [f"CONNECT {url.removeprefix('https://')}"]
        assert service.key.encode() not in between.passed


def test_without_the_authority_the_cell_says_that_the_certificate_is_not_trusted(service, tmp_path):
    with https_service(service, tmp_path / "firm") as (url, _):
        done = addin("eval", FORMULA, environ=environment(tmp_path, url=url, api_key=service.key))
    assert "its certificate is not trusted" in done.stderr


def test_the_backend_too_goes_through_the_proxy_with_the_firms_authority(service, tmp_path, monkeypatch):
    with https_service(service, tmp_path / "firm") as (url, authority), proxy() as between:
        monkeypatch.setenv("HTTPS_PROXY", between.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")  # of the test's own way to the backend
        with backend_of(service, tmp_path, url=url, ca_file=authority) as backend:
            assert backend.values(["SIGNAL", "us-cpi", "shortcode"]) == ["CPI"]
        assert len(between.asked) == 1


async def test_the_doctor_goes_the_same_way_and_reaches_this_machine_without_the_proxy(service, tmp_path, monkeypatch):
    own = Certificates(tmp_path / "own")
    own.ensure(NOW)
    with https_service(service, tmp_path / "firm") as (url, authority), proxy() as between:
        monkeypatch.setenv("HTTPS_PROXY", between.url.replace("//", "//me:a-password@"))
        monkeypatch.setenv("DATA_SERVICE_API_KEY", service.key)
        settings = Settings(url=url, cache_dir=tmp_path / "cache", port=1, ca_file=authority)
        found = {each.topic: each for each in await examine(settings, own, NOW, distrust=lambda _: None)}
        assert (found["service"].state, found["quota"].state) == (State.GOOD, State.GOOD)
        assert set(between.asked) == {f"CONNECT {url.removeprefix('https://')}"}
        settings = Settings(url=url, cache_dir=tmp_path / "cache", port=1)
        untrusted = {each.topic: each for each in await examine(settings, own, NOW, distrust=lambda _: None)}["service"]
        gone = Settings(url="https://localhost:1", cache_dir=tmp_path / "cache", port=1)
        unreached = {each.topic: each for each in await examine(gone, own, NOW, distrust=lambda _: None)}["service"]
    assert "ca_file" in untrusted.advice
    assert f"https: {between.url.removeprefix('http://')}" in unreached.advice
    assert "a-password" not in unreached.advice


@pytest.mark.parametrize(("content", "why"), [(None, "No such file"), ("x", "holds no certificate in PEM form")])
def test_a_file_of_authorities_that_cannot_be_used_is_told(tmp_path, content, why):
    file = tmp_path / "firm.pem"
    if content is not None:
        file.write_text(content)
    with pytest.raises(SettingsError, match=f"ca_file cannot be used: .*firm.pem {why}"):
        trusted(file)


@pytest.mark.parametrize("address", ["socks5://me:a-password@127.0.0.1:1", "ftp://me:a-password@proxy.example"])
def test_a_proxy_of_a_kind_that_cannot_be_used_is_named_without_its_password(tmp_path, address):
    environ = environment(tmp_path, url="https://data.example", api_key="ds_" + "0" * 40)
    done = addin("eval", FORMULA, environ={**environ, "HTTPS_PROXY": address, "NO_PROXY": ""})
    assert "the proxy in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY cannot be used" in done.stderr
    assert "a-password" not in done.stderr + done.stdout
