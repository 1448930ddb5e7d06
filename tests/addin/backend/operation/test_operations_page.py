"""The page for operators: its commands are run as they stand there, and its files are what it says."""

import re
import shutil
import subprocess

import pytest

from addin.backend.sign_in.people import People
from addin.backend.sign_in.person import Person, Role
from addin.backend.sign_in.sessions import Session
from addin.config.secrets import secret_named, session_secrets
from addin.errors import SettingsError
from dataservice.ledger import SqliteLedger
from docs.generate.commands import commands
from tests.docs.pages import blocks
from tests.project.files import PROJECT, read

PAGE = "docs/operations.md"
FILES = PROJECT / "docs" / "hosting-files"
LEDGER, SECRET_FILE = "ledger-1.sqlite", "session.key"


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
    run("On a server: back up", environ | {"XDG_CONFIG_HOME": str(first)})
    await people.end_sessions(ada.id, by="admin")  # after the backup, which knows nothing of it

    run("On a server: restore", environ | {"XDG_CONFIG_HOME": str(second)})
    restored = people_in(second)
    assert await restored.key(ada) == "ds_" + "1" * 40
    assert await restored.is_over(before)
    after = Session(ada, await restored.signed_in("ada", ada))
    assert not await restored.is_over(after)
    assert oct((second / "dataservice-addin").stat().st_mode)[-3:] == "700"


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
