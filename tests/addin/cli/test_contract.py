"""`addin doctor --contract`: told before, refused below a reserve, shown as a table."""

import orjson

from dataservice.server import running
from tests.addin.commands import addin, environment


def test_the_probe_says_before_what_it_asks_and_shows_what_differs(service, tmp_path):
    with running(service.store, variant={"end": "excluded", "headers": "grouped"}) as variant:
        environ = environment(tmp_path, service, url=variant.url)
        done = addin("doctor", "--contract", "--yes", environ=environ)
        assert done.returncode == 0, done.stderr
        assert f"This asks {variant.url} at most 11 requests" in done.stderr
        lines = done.stdout.splitlines()
        assert [line.split()[1] for line in lines if line.startswith("≠")] == ["quota", "end"]
        assert "11 requests; 2 not as documented." in done.stdout
        assert variant.request_count == 11


def test_the_probe_is_data_too_and_is_silent_for_a_service_as_documented(service, tmp_path):
    done = addin("doctor", "--contract", "--yes", "--json", environ=environment(tmp_path, service))
    profile = orjson.loads(done.stdout)
    assert [each for each in profile["findings"] if each["differs"]] == []
    assert profile["requests"] == 11


def test_without_a_yes_or_enough_requests_nothing_is_asked(service, tmp_path):
    environ = environment(tmp_path, service)
    done = addin("doctor", "--contract", environ=environ)
    assert (done.returncode, service.running.request_count) == (1, 0)
    assert "No terminal to ask on: pass --yes" in done.stderr
    few = environment(tmp_path / "few", service, api_key=service.store.create_key("free", cap=9))
    assert addin("eval", '=DS.INDEX("coin-heat")', environ=few).returncode == 0
    refused = addin("doctor", "--contract", "--yes", environ=few)
    assert "8 requests are left; it may take 11" in refused.stderr
    assert service.running.request_count == 1
