"""The report for support: what it tells, and what it never holds."""

import datetime as dt

from addin.cli.support_report import report
from addin.config.settings import Settings
from addin.findings import Finding, State
from tests.addin.commands import addin, environment

NOW = dt.datetime(2026, 8, 31, 12, tzinfo=dt.UTC)
KEY = "ds_" + "5" * 40


def test_it_tells_findings_settings_environment_and_packages():
    settings = Settings(url="https://api.example", ttl_s=60.0)
    environ = {"DATA_SERVICE_TTL_S": "60", "HTTPS_PROXY": "http://proxy.example:3128", "SHELL": "/bin/sh"}
    text = report([Finding("cache", State.BROKEN, "cannot be written", "choose another")], settings, environ, NOW)
    assert "- broken · cache · cannot be written · choose another\n" in text
    assert "- ttl_s · 60.0\n" in text
    assert "- DATA_SERVICE_TTL_S · is set\n" in text
    assert "- HTTPS_PROXY · http://proxy.example:3128\n" in text
    assert "\n- httpx · 0." in text
    assert "SHELL" not in text
    assert "reserve" not in text


def test_a_password_with_signs_that_an_address_should_not_hold_is_left_out_whole():
    environ = {"HTTPS_PROXY": "http://me:hun@t/er2@proxy.example:3128"}
    text = report([], Settings(), environ, NOW)
    assert "- HTTPS_PROXY · http://…@proxy.example:3128\n" in text


def test_it_holds_no_key_no_password_and_no_folder_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    settings = Settings(redis_url="redis://me:hunter2@cache.example/0", cache_dir=tmp_path / "cache")
    environ = {"DATA_SERVICE_API_KEY": KEY, "HTTPS_PROXY": f"http://me:hunter2@proxy.example/{KEY}"}
    text = report([Finding("key", State.GOOD, f"{KEY} in {tmp_path}/x")], settings, environ, NOW)
    assert KEY not in text
    assert "hunter2" not in text
    assert str(tmp_path) not in text
    assert '- redis_url · "redis://…@cache.example/0"\n' in text
    assert '- cache_dir · "~/cache"\n' in text


def test_the_passwords_of_servers_and_of_their_sentinels_are_not_in_it(tmp_path):
    url = "redis+sentinel://me:hunter2@one:1,two:2/firm/0?sentinel_password=hunter2"
    text = report([], Settings(redis_url=url), {}, NOW)
    assert "hunter2" not in text
    assert "redis+sentinel://…@one:1,two:2/firm/0?sentinel_password=…" in text


def test_the_command_writes_it_and_says_where(service, tmp_path):
    environ = environment(tmp_path, service)
    done = addin("doctor", "--report", str(tmp_path / "report.md"), environ=environ)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "the report is in" in done.stderr
    assert service.url in text
    assert service.key not in text
    refused = addin("doctor", "--report", str(tmp_path / "no" / "report.md"), environ=environ)
    assert "name another file" in refused.stderr
    assert "Traceback" not in refused.stderr
