"""`addin serve` runs until it is told to stop, and says what keeps it from running."""

import signal
import socket

import httpx
import pytest

from tests.addin.commands import addin, environment
from tests.addin.serving import address_in, started


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_it_answers_formulas_until_told_to_stop(service, tmp_path, stop):
    with started("serve", "--http", "--port", "0", environ=environment(tmp_path, service)) as process:
        url = address_in(process)
        response = httpx.post(f"{url}/functions/call", json={"calls": [["SIGNAL", "us-cpi", "slug"]]}, trust_env=False)
        assert response.json()["answers"][0]["value"] == "us-cpi"
        process.send_signal(stop)
        printed, errors = process.communicate(timeout=30)
    assert "Traceback" not in printed + errors
    if stop is signal.SIGINT:
        assert process.returncode == 0
        assert printed.endswith("Stopped.\n")


def test_a_port_that_is_taken_is_said(service, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = addin("serve", "--http", "--port", str(port), environ=environment(tmp_path, service))
    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1 port {port}" in done.stderr
    assert "--port" in done.stderr


def test_without_a_key_it_says_so_and_runs(service, tmp_path):
    environ = environment(tmp_path, service, api_key="")
    with started("serve", "--http", "--port", "0", environ=environ) as process:
        assert httpx.get(f"{address_in(process)}/health", trust_env=False).json() == {"ok": True}
        process.send_signal(signal.SIGINT)
        assert "No API key is set yet" in process.communicate(timeout=30)[1]


def test_an_address_that_would_send_the_key_in_clear_text_is_refused(tmp_path):
    done = addin("serve", "--http", environ=environment(tmp_path, url="http://api.example"))
    assert done.returncode == 1
    assert "clear text" in done.stderr
