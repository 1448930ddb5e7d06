"""The page for operators: its commands are run as they stand there, and its files are what it says."""

import re
import shutil
import sqlite3
import subprocess
from contextlib import closing

import pytest

from addin.backend.sign_in.people import People
from addin.backend.sign_in.person import Person, Role
from addin.backend.sign_in.sessions import Session
from addin.config.secrets import secret_named, session_secrets
from addin.errors import SettingsError
from dataservice.ledger import SqliteLedger
from dataservice.ledger.redis import RedisLedger
from dataservice.stores import Entry
from dataservice.stores.redis import RedisStore
from docs.generate.commands import commands
from tests.attack.parts.redis_process import free_port
from tests.docs.pages import blocks
from tests.project.files import PROJECT, read

PAGE = "docs/operations.md"
FILES = PROJECT / "docs" / "hosting-files"
LEDGER, ARCHIVE = "ledger-1.sqlite", "archive-1.sqlite"


def block(title):
    return next(each.code for each in blocks("sh") if each.page == PAGE and each.title == title)


def run(title, environ):
    done = subprocess.run(
        ["bash", "-euo", "pipefail"], input=block(title), env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


async def test_restored_on_an_empty_machine_by_the_page_keys_are_there_and_nobody_stopped_is_let_in(
    tmp_path, monkeypatch
):
    first, second = tmp_path / "first", tmp_path / "second"
    backup = str(tmp_path / "backup")
    monkeypatch.delenv("DATA_SERVICE_SESSION_SECRET", raising=False)
    environ = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path), "BACKUP": backup}

    def people_in(machine):
        monkeypatch.setenv("XDG_CONFIG_HOME", str(machine))
        return People(SqliteLedger(machine / "dataservice-addin" / LEDGER), *session_secrets())

    people = people_in(first)
    ada = Person("ada", "Ada", Role.USER, await people.id_of("ada"))
    before = Session(ada, await people.signed_in("ada", ada))
    await people.keep_key(ada.id, "ds_" + "1" * 40)
    (tmp_path / "old data" / "dataservice-addin").mkdir(parents=True)
    with closing(sqlite3.connect(tmp_path / "old data" / "dataservice-addin" / ARCHIVE)) as archive:
        archive.execute("CREATE TABLE known (at)")
        archive.commit()
    run(
        "On a server: back up",
        environ | {"XDG_CONFIG_HOME": str(first), "XDG_DATA_HOME": str(tmp_path / "old data")},
    )
    await people.end_sessions(ada.id, by="admin")  # after the backup, which knows nothing of it

    run("On a server: restore", environ | {"XDG_CONFIG_HOME": str(second), "XDG_DATA_HOME": str(tmp_path / "new data")})
    with closing(sqlite3.connect(tmp_path / "new data" / "dataservice-addin" / ARCHIVE)) as archive:
        assert archive.execute("SELECT name FROM sqlite_master").fetchall() == [("known",)]
    restored = people_in(second)
    assert await restored.key(ada) == "ds_" + "1" * 40
    assert await restored.is_over(before)
    after = Session(ada, await restored.signed_in("ada", ada))
    assert not await restored.is_over(after)
    assert oct((second / "dataservice-addin").stat().st_mode)[-3:] == "700"


def systemctl(what, environ):
    subprocess.run(["systemctl", what], env=environ, check=True, capture_output=True)


@pytest.fixture
def redis_of_a_machine(tmp_path):
    """Return a function that makes a Redis with its settings and folder, and what the page's commands are run with."""
    started = []
    server = shutil.which("redis-server") or shutil.which("valkey-server")
    client = shutil.which("redis-cli") or shutil.which("valkey-cli")
    if server is None or client is None:
        pytest.skip("no Redis and no Valkey on this machine")

    def machine(name):
        folder, port = tmp_path / name, free_port()
        (folder / "bin").mkdir(parents=True)
        settings = folder / "redis.conf"
        settings.write_text(f"port {port}\nbind 127.0.0.1\ndir {folder}\ndaemonize yes\nappendonly yes\n")
        service_manager = (
            f"#!/bin/sh\ncase $1 in start) {server} {settings} ;; stop) {client} -p {port} shutdown nosave ;; esac\n"
            f"while [ $1 = start ] && ! {client} -p {port} ping | grep -q PONG; do :; done\n"
        )
        for command, text in (
            ("systemctl", service_manager),
            ("redis-cli", f'#!/bin/sh\nexec {client} -p {port} "$@"\n'),
        ):
            (folder / "bin" / command).write_text(text)
            (folder / "bin" / command).chmod(0o755)
        environ = {
            "PATH": f"{folder / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "BACKUP": str(tmp_path / "backup"),
            "REDIS_FOLDER": str(folder),
            "REDIS_SETTINGS": str(settings),
        }
        systemctl("start", environ)
        started.append(environ)
        return f"redis://127.0.0.1:{port}/0", environ

    yield machine
    for environ in started:
        systemctl("stop", environ)


async def test_a_redis_restored_by_the_page_on_an_empty_machine_has_everything_and_lets_nobody_in_who_was_stopped(
    redis_of_a_machine,
):
    secret = b"a secret of the firm's own, long enough"
    first, environ = redis_of_a_machine("first")
    people, answers = People(RedisLedger.from_url(first), secret), RedisStore.from_url(first)
    ada = Person("ada", "Ada", Role.USER, await people.id_of("ada"))
    before = Session(ada, await people.signed_in("ada", ada))
    await people.keep_key(ada.id, "ds_" + "1" * 40)
    await answers.put("key/answer", Entry(b"an answer", 1.0))
    await answers.append("key/log", b"what was known when", 0)
    run("On a server: back up Redis", environ)
    await people.end_sessions(ada.id, by="admin")
    await people.aclose()
    await answers.aclose()

    second, environ = redis_of_a_machine("second")
    run("On a server: restore Redis", environ)
    for what in ("stop", "start"):
        systemctl(what, environ)
    restored, answers = People(RedisLedger.from_url(second), secret), RedisStore.from_url(second)
    assert await restored.key(ada) == "ds_" + "1" * 40
    assert await restored.is_over(before)
    assert not await restored.is_over(Session(ada, await restored.signed_in("ada", ada)))
    assert (await answers.get("key/answer")) == Entry(b"an answer", 1.0)
    assert [part.payload for part in (await answers.parts("key/log")).parts] == [b"what was known when"]
    await restored.aclose()
    await answers.aclose()


def test_every_command_of_the_page_exists():
    known = {words[1:] for words, _ in commands() if words[0] == "addin"}
    shown = re.findall(r"`addin ([a-z][a-z -]*)|^addin ([a-z][a-z -]*)", read(PAGE), re.MULTILINE)
    named = {tuple(words.split()) for pair in shown for words in pair if words}
    assert len(named) > 5
    assert {words for words in named if words[:1] not in known or (len(words) > 1 and words[:2] not in known)} <= {
        words for words in named if words[1:2] and words[1].startswith("-")
    }


def test_a_secret_is_read_from_its_variable_its_file_and_systemds_credentials(tmp_path, monkeypatch):
    for name in ("DATA_SERVICE_METRICS_TOKEN", "CREDENTIALS_DIRECTORY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert secret_named("metrics_token") == ""
    (tmp_path / "metrics_token").write_text("of systemd\n", encoding="utf-8")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    assert secret_named("metrics_token") == "of systemd"
    (tmp_path / "file").write_text("of a file\n", encoding="utf-8")
    monkeypatch.setenv("DATA_SERVICE_METRICS_TOKEN_FILE", str(tmp_path / "file"))
    assert secret_named("metrics_token") == "of a file"
    monkeypatch.setenv("DATA_SERVICE_METRICS_TOKEN", "of the variable")
    assert secret_named("metrics_token") == "of the variable"
    monkeypatch.delenv("DATA_SERVICE_METRICS_TOKEN")
    monkeypatch.setenv("DATA_SERVICE_METRICS_TOKEN_FILE", str(tmp_path / "nowhere"))
    with pytest.raises(SettingsError, match=r"METRICS_TOKEN_FILE names .*nowhere"):
        secret_named("metrics_token")


def test_haproxy_accepts_the_set_up(tmp_path):
    haproxy = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin")
    if haproxy is None:
        pytest.skip("no haproxy on this machine")
    text = (FILES / "haproxy.cfg").read_text(encoding="utf-8").replace(" ssl crt /etc/ssl/addin-with-key.pem", "")
    (tmp_path / "haproxy.cfg").write_text(text.replace(":443", "127.0.0.1:8443"), encoding="utf-8")
    done = subprocess.run(
        [haproxy, "-c", "-f", str(tmp_path / "haproxy.cfg")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
