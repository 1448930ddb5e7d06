"""The backend that starts at login, from install to remove, as a user sees it."""

import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.addin.commands import addin, environment

WAIT_S = 60.0

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="this would change what starts on this machine")


@pytest.fixture
def user(service, tmp_path) -> Iterator[dict[str, str]]:
    """A user in a session without a systemd of its own; a backend that a test leaves behind ends by itself."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environ = environment(tmp_path, service, port=str(port), cache_dir=str(tmp_path / "answers"))
    environ |= {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_RUNTIME_DIR": "", "DBUS_SESSION_BUS_ADDRESS": ""}
    done = addin("key", "set", environ={**environ, "DATA_SERVICE_API_KEY": ""}, given=service.key)
    assert done.returncode == 0, done.stderr
    yield environ
    record_of(environ).unlink(missing_ok=True)
    wait(lambda: not answers(environ))


def record_of(environ) -> Path:
    return Path(environ["XDG_CONFIG_HOME"], "dataservice-addin", "autostart.json")


def log_of(environ) -> str:
    return Path(environ["XDG_STATE_HOME"], "dataservice-addin", "log", "backend.log").read_text(encoding="utf-8")


def status_of(environ):
    return httpx.get(f"http://127.0.0.1:{environ['DATA_SERVICE_PORT']}/status", trust_env=False, timeout=5).json()


def answers(environ):
    try:
        return status_of(environ)
    except (httpx.HTTPError, ValueError):
        return None


def wait(condition):
    until = time.monotonic() + WAIT_S
    while not (found := condition()):
        assert time.monotonic() < until
        threading.Event().wait(0.1)
    return found


def findings(environ, *words):
    done = addin(*words, "--json", environ=environ)
    return {each["topic"]: each for each in json.loads(done.stdout)}, done.returncode


def test_it_answers_restarts_with_new_settings_and_ends_when_it_is_removed(user, service):
    done = addin("autostart", "install", "--http", environ=user)
    assert done.returncode == 0, done.stderr
    assert f"It answers at http://localhost:{user['DATA_SERVICE_PORT']}." in done.stdout
    assert "DATA_SERVICE_URL" in done.stdout
    found, code = findings(user, "autostart", "status")
    assert code == 0
    assert {each["state"] for each in found.values()} == {"good"}
    assert "starts at login" in findings(user, "doctor")[0]["autostart"]["text"]
    began = status_of(user)
    assert began["key"]["set"]

    addin("autostart", "install", "--http", environ={**user, "DATA_SERVICE_NAMESPACE": "NEW"})
    assert (
        wait(lambda: (now := answers(user)) and now["namespace"] == "NEW" and now)["started_at"] > began["started_at"]
    )

    assert addin("autostart", "remove", environ=user).stdout.startswith("Removed: ")
    wait(lambda: not answers(user))
    assert addin("autostart", "remove", environ=user).stdout == "It was not set up.\n"
    assert findings(user, "autostart", "status")[1] == 1
    assert service.key not in log_of(user) + str(list(Path(user["HOME"]).rglob("*.desktop")))
    assert [line for line in log_of(user).splitlines() if "answering at http://localhost" in line]


def test_what_would_be_written_is_shown_for_each_system_and_nothing_is_changed(user):
    before = sorted(Path(user["HOME"]).rglob("*"))
    marks = {"windows": "CurrentVersion\\Run", "mac": "<plist", "systemd": "[Install]", "xdg": "[Desktop Entry]"}
    for form, mark in marks.items():
        done = addin("autostart", "install", "--print", "--for", form, environ=user)
        assert mark in done.stdout, done.stderr
    assert '"autostart" "run"' in addin("autostart", "install", "--print", environ=user).stdout
    assert sorted(Path(user["HOME"]).rglob("*")) == before


def test_a_backend_that_cannot_start_says_why_in_the_status(user):
    with socket.create_server(("127.0.0.1", int(user["DATA_SERVICE_PORT"]))):
        done = addin("autostart", "install", "--http", environ={**user, "DATA_SERVICE_TTL_S": "60"})
        assert "does not answer yet" in done.stdout
        found, code = findings(user, "autostart", "status")
    assert (found["backend"]["state"], code) == ("broken", 1)
    assert found["backend"]["advice"].endswith("start it again: addin autostart install")
    assert "cannot listen" in found["log"]["text"]


def test_what_was_moved_away_is_told_with_what_to_do(user, tmp_path):
    file = record_of(user)
    entry = Path(user["XDG_CONFIG_HOME"], "autostart", "org.dataservice.addin.desktop")
    addin("autostart", "install", "--http", environ=user)
    record = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**record, "command": [str(tmp_path / "gone"), *record["command"][1:]]}))
    found, code = findings(user, "autostart", "status")
    assert (found["autostart"]["state"], code) == ("broken", 1)
    assert "addin autostart install" in found["autostart"]["advice"]
    file.write_text(json.dumps(record))
    entry.unlink()
    assert findings(user, "autostart", "status")[0]["autostart"]["state"] == "broken"


def test_without_a_stored_key_or_an_address_it_says_so_before_the_next_login(user):
    addin("key", "forget", environ=user)
    done = addin("autostart", "install", "--http", environ=user)
    assert "At login it finds no API key" in done.stderr
    record_of(user).unlink()
    done = addin("autostart", "install", environ={**user, "DATA_SERVICE_URL": ""})
    assert (done.returncode, "no address" in done.stderr, record_of(user).exists()) == (1, True, False)


def test_only_an_installed_backend_can_run(user):
    done = addin("autostart", "run", environ=user)
    assert done.returncode == 1
    assert "addin autostart install" in done.stderr
    assert os.environ.get("DATA_SERVICE_PORT") is None
