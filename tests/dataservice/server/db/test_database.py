"""Opening the database: what is understood, what is refused, and what is never shown."""

import os
import re
import sys
import traceback
from contextlib import closing

import pytest
import sqlalchemy as sa

from dataservice.server import DatabaseUnavailableError, Store
from dataservice.server.db.database import Database, database_url, signals


def test_a_path_names_a_sqlite_file_and_its_folders_are_made(tmp_path):
    with Store(tmp_path / "some" / "folder" / "service.db") as store:
        assert store.is_empty()
    assert (tmp_path / "some" / "folder" / "service.db").is_file()


def test_a_url_stays_as_it_is():
    assert str(database_url("postgresql+psycopg://a@b/c")) == "postgresql+psycopg://a@b/c"


def test_a_file_may_have_any_name(tmp_path):
    path = tmp_path / "what? 100% #1 & more.db"
    with Store(path) as store, Store(store.database.location) as same:
        same.create_key(label="x")
        assert [record.label for record in store.keys.records()] == ["x"]
    assert path.is_file()


def test_readers_and_writers_do_not_wait_for_each_other(tmp_path):
    database = Database(tmp_path / "service.db")
    with database.writing(), database.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("SELECT count(*) FROM signals").scalar() == 0
    database.close()


def test_an_error_inside_a_transaction_takes_everything_back(tmp_path):
    def write_and_fail(database):
        with database.writing() as connection:
            connection.exec_driver_sql("INSERT INTO signals (slug, category, record) VALUES ('a', 'b', '{}')")
            raise KeyError

    with Store(tmp_path / "service.db") as store:
        with pytest.raises(KeyError):
            write_and_fail(store.database)
        assert store.is_empty()


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        (":memory:", "in memory is not enough"),
        ("sqlite://", "in memory is not enough"),
        ("mysql+pymysql://host/x", "mysql is not supported"),
        ("http//:", "cannot be opened"),
    ],
)
def test_what_cannot_be_a_database_is_refused(tmp_path, monkeypatch, location, reason):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "http").touch()
    with pytest.raises(DatabaseUnavailableError, match=reason):
        Store(location)


@pytest.mark.parametrize(
    "location",
    [
        "postgresql+psycopg://service:s3cret@127.0.0.1:1/x",
        "postgresql+psycopg://127.0.0.1:1/x?user=service&password=s3cret",
        "postgresql+psycopg://service:s3cret@127.0.0.1:port/x",
        "postgresql+psycopg://service:a/b:s3cret@127.0.0.1:1/x",
        "postgresql psycopg://service:s3cret@127.0.0.1:1/x?password=s3cret",
    ],
)
def test_a_message_about_a_database_never_shows_its_password(location):
    with pytest.raises(DatabaseUnavailableError) as unavailable:
        Store(location)
    assert "s3cret" not in "".join(traceback.format_exception(unavailable.value))
    assert re.search("cannot be opened|neither a file nor a URL", str(unavailable.value))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other rights")
def test_only_its_owner_reads_the_file_also_one_that_was_open_to_all(tmp_path):
    path = tmp_path / "service.db"
    before = os.umask(0)
    try:
        for _ in range(2):
            with closing(Database(path)) as database, database.writing() as connection:
                connection.execute(sa.insert(signals).values(slug="a", category="b", record="{}"))
                modes = {each.name: each.stat().st_mode & 0o777 for each in tmp_path.iterdir()}
                connection.rollback()
            assert modes == dict.fromkeys(["service.db", "service.db-wal", "service.db-shm"], 0o600)
            path.chmod(0o644)
    finally:
        os.umask(before)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other rights")
def test_a_file_that_is_no_database_keeps_its_rights(tmp_path):
    program = tmp_path / "program"
    program.write_bytes(b"#!/bin/sh\necho a program, and long enough to be read as one page\n" * 99)
    program.chmod(0o755)
    with pytest.raises(DatabaseUnavailableError, match="not a database"):
        Database(program)
    assert program.stat().st_mode & 0o777 == 0o755
