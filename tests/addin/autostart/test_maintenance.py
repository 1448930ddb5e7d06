"""A backend that runs for weeks: it renews its certificate, notices updates and its removal, and fills no disk."""

import datetime as dt
import logging
import os
import ssl
import sys
import threading

import pytest
import uvicorn
from starlette.applications import Starlette

from addin.autostart.log_file import log_into
from addin.autostart.maintenance import LOOK_FOR_UPDATES_EVERY, RENEW_EVERY, Ending, Maintenance
from addin.autostart.new_version import NewVersion, can_be_started, code_now
from addin.autostart.record import Record, kept_variables, read_record, write_record
from addin.autostart.watching import maintained, renewals
from addin.backend import serving
from addin.errors import AddinError
from addin.tls.certificates import Certificates

NOW = dt.datetime(2026, 8, 31, tzinfo=dt.UTC)
KEY = "ds_" + "0123456789" * 4


class Clock:
    def __init__(self):
        self.now = NOW

    def __call__(self):
        return self.now


def maintenance(record=None, *, renew=None, has_update=lambda: False, clock=None):
    return Maintenance(record=record, renew=renew, has_update=has_update, now=clock or Clock())


def test_it_goes_on_until_the_record_changes_or_is_gone(tmp_path):
    file = tmp_path / "autostart.json"
    write_record(file, Record("xdg", ("python",)))
    running = maintenance(file)
    assert running.goes_on()
    write_record(file, Record("xdg", ("python",), {"DATA_SERVICE_PORT": "8766"}))
    assert (running.goes_on(), running.ending) == (False, Ending.CHANGED)
    file.unlink()
    assert (running.goes_on(), running.ending) == (False, Ending.REMOVED)


def test_it_looks_for_an_update_now_and_then_and_ends_for_it():
    clock, looks = Clock(), []
    running = maintenance(has_update=lambda: bool(looks.append(None)) or len(looks) == 2, clock=clock)
    assert [running.goes_on() for _ in range(5)] == [True] * 5
    assert looks == []
    for wanted in (True, False):
        clock.now += LOOK_FOR_UPDATES_EVERY
        assert running.goes_on() is wanted
    assert running.ending is Ending.UPDATED


@pytest.mark.parametrize(
    "step", [RENEW_EVERY, -RENEW_EVERY, dt.timedelta(days=30)], ids=["later", "set back", "asleep"]
)
def test_the_certificate_is_looked_at_every_hour_also_after_sleep_and_a_changed_clock(step):
    clock, renewed = Clock(), []
    running = maintenance(renew=renewed.append, clock=clock)
    assert running.goes_on()
    clock.now += step
    assert running.goes_on()
    assert renewed == [clock.now]


def test_a_certificate_that_cannot_be_written_does_not_end_the_backend(caplog):
    def full(now):
        raise OSError("no space left on device")

    clock = Clock()
    running = maintenance(renew=full, clock=clock)
    clock.now += RENEW_EVERY
    assert running.goes_on()
    assert "no space left" in caplog.text


def test_new_connections_get_a_renewed_certificate_without_a_restart(tmp_path):
    own = Certificates(tmp_path / "certificates")
    own.ensure(NOW)
    listener = serving.listen("127.0.0.1", 0, own.leaf)
    server = serving.BackendServer(Starlette(), listener)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener.socket]}, daemon=True)
    with maintained(server, own.leaf, lambda: True, every_s=0.01):
        thread.start()
        server.ready.wait()
        address = listener.socket.getsockname()
        before = ssl.get_server_certificate(address)
        own.ensure(NOW + dt.timedelta(days=380))
        assert any(ssl.get_server_certificate(address) != before for _ in range(1000))
        assert ssl.get_server_certificate(address).strip() == own.leaf.certificate.read_text().strip()
        server.should_exit = True
        thread.join()


def test_no_connection_fails_while_the_certificate_is_renewed(tmp_path):
    own = Certificates(tmp_path / "certificates")
    pairs = []
    for days in (0, 380):
        own.ensure(NOW + dt.timedelta(days=days))
        pairs.append((own.leaf.certificate.read_bytes(), own.leaf.private_key.read_bytes()))
    listener = serving.listen("127.0.0.1", 0, own.leaf)
    server = serving.BackendServer(Starlette(), listener)
    take_up = renewals(server.config, own.leaf)
    ended, failed, seen = threading.Event(), [], set()

    def connect():
        while not ended.is_set():
            try:
                seen.add(ssl.get_server_certificate(listener.socket.getsockname()))
            except OSError as error:
                failed.append(error)

    threads = [threading.Thread(target=server.run, kwargs={"sockets": [listener.socket]}, daemon=True)]
    threads[0].start()
    server.ready.wait()
    threads.append(threading.Thread(target=connect))
    threads[1].start()
    for turn in range(200):
        certificate, key = pairs[turn % 2]
        own.leaf.certificate.write_bytes(certificate)
        own.leaf.private_key.write_bytes(key)
        os.utime(own.leaf.certificate, ns=(turn, turn))
        take_up()
    while len(seen) < 2 and not failed:
        take_up()
    ended.set()
    threads[1].join()  # before the server stops, which may break off what is under way
    server.should_exit = True
    threads[0].join()
    assert failed == []


def test_a_look_that_fails_is_logged_and_the_backend_goes_on(caplog):
    looks = []

    def goes_on():
        looks.append(None)
        if len(looks) == 1:
            raise RuntimeError("odd")
        return False

    server = uvicorn.Server(uvicorn.Config(Starlette()))
    with maintained(server, None, goes_on, every_s=0.001):
        while not server.should_exit:
            pass
    assert "RuntimeError: odd" in caplog.text


def test_an_update_counts_when_it_is_over_and_can_be_started():
    code = iter(["old", "old", "half", "new", "new"])
    watch = NewVersion(lambda: next(code), lambda: True)
    assert [watch.is_here() for _ in range(4)] == [False, False, False, True]


def test_a_version_that_cannot_be_started_is_tried_once_and_the_next_one_again(caplog):
    code, tried = iter(["old", "bad", "bad", "bad", "bad", "good", "good"]), []
    watch = NewVersion(lambda: next(code), lambda: bool(tried.append(None)) or len(tried) > 1)
    assert [watch.is_here() for _ in range(6)] == [False] * 5 + [True]
    assert len(tried) == 2
    assert "cannot be started; the old version goes on" in caplog.text


def test_a_changed_a_new_and_a_deleted_file_are_another_version(tmp_path):
    file = tmp_path / "addin" / "a.py"
    file.parent.mkdir()
    seen = [code_now(tmp_path)]
    for change in (lambda: file.write_text("x"), lambda: file.write_text("longer"), file.unlink):
        change()
        seen.append(code_now(tmp_path))
    assert seen[0] == seen[-1]
    assert len(set(seen)) == 3


def test_the_program_that_runs_here_can_be_started():
    assert can_be_started()


def test_the_record_keeps_settings_proxy_and_certificates_and_never_the_key(tmp_path):
    environ = {"DATA_SERVICE_URL": "https://é.example", "DATA_SERVICE_API_KEY": KEY, "https_proxy": "http://p:1",
               "SSL_CERT_FILE": "/etc/firm.pem", "PATH": "/bin", "XDG_CACHE_HOME": "/c"}  # fmt: skip
    file = tmp_path / "autostart.json"
    write_record(file, Record("mac", ("python", "-m"), kept_variables(environ), http=True))
    found = read_record(file)
    assert found == Record("mac", ("python", "-m"), found.environ, http=True)
    assert set(found.environ) == {"DATA_SERVICE_URL", "https_proxy", "SSL_CERT_FILE", "XDG_CACHE_HOME"}
    assert KEY not in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"form": "xdg", "command": 3}', '{"command": [], "other": 1}'])
def test_a_damaged_record_says_how_to_write_it_again(tmp_path, content):
    (tmp_path / "autostart.json").write_text(content)
    with pytest.raises(AddinError, match="addin autostart install"):
        read_record(tmp_path / "autostart.json")


def test_the_log_rotates_and_holds_no_key(tmp_path, monkeypatch):
    for name in ("stdout", "stderr"):  # given back to pytest afterwards
        monkeypatch.setattr(sys, name, getattr(sys, name))
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    handler = log_into(tmp_path / "log" / "backend.log", max_bytes=2_000)
    try:
        for _ in range(300):
            sys.stdout.write(f"asked with {KEY}\n")
        logging.getLogger("addin").warning("Bearer %s", KEY)
    finally:
        handler.close()
        root.handlers[:] = handlers
        root.setLevel(level)
    files = sorted((tmp_path / "log").iterdir())
    assert [file.name for file in files] == ["backend.log", "backend.log.1", "backend.log.2", "backend.log.3"]
    assert sum(file.stat().st_size for file in files) <= 8_000
    assert not any(KEY in file.read_text() for file in files)
