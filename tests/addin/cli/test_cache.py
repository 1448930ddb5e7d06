"""`addin cache`: what is kept can be seen, exported, pruned and cleared, with SQLite and with Redis."""

import csv
import json
import re
import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime, time
from pathlib import Path

from dataservice.client import AsyncClient
from dataservice.server import DailySample
from dataservice.stores import SqliteStore, Store
from dataservice.stores.redis import RedisStore
from tests.addin.commands import addin, environment
from tests.dataservice.stores.stores import redis_url  # noqa: F401  found by being imported here
from tests.embedded import SAMPLE_AS_OF, EmbeddedService

SLUGS = ("survey.pmi", "us-cpi")
LATER = date(2026, 10, 20)
LOOKS = ("2026-10-20T12:00:00Z", "2026-08-31T12:00:00Z")


def file_in(folder: Path) -> Path:
    return folder / "cache" / "dataservice-addin" / "shelf-1.sqlite"


async def looked(service: EmbeddedService, store: Store, *days: date) -> None:
    """Look at two signals at noon of these days, when the service shows the data of the day."""
    for day in days:
        now = datetime.combine(day, time(12), UTC)
        DailySample(service.store, clock=lambda now=now: now).update()
        async with AsyncClient(service.url, service.key, store=store, clock=lambda now=now: now.timestamp()) as client:
            for slug in SLUGS:
                await client.signal(slug)
    await store.aclose()


def rows_in(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


async def test_the_contents_are_shown_by_key_and_no_key_is(service, tmp_path):
    await looked(service, SqliteStore(file_in(tmp_path)), SAMPLE_AS_OF, LATER)
    environ = environment(tmp_path, service)
    done = addin("cache", environ=environ)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(rf"in use, the key ends in {service.key[-4:]}\) +2, .* none +2, \d", done.stdout)
    assert service.key not in done.stdout
    [share] = json.loads(addin("cache", "--json", environ=environ).stdout)["keys"]
    assert (share["in_use"], share["answers"]["count"], share["archive"]["count"]) == (True, 2, 2)
    assert service.running.request_count == 4, "the looks, and nothing more"


async def test_the_archive_is_exported_with_every_change_that_was_seen(service, tmp_path):
    await looked(service, SqliteStore(file_in(tmp_path)), SAMPLE_AS_OF, LATER)
    environ = environment(tmp_path, service)
    done = addin("cache", "export", str(tmp_path / "all.csv"), environ=environ)
    assert (done.returncode, done.stderr) == (0, "")
    rows = rows_in(tmp_path / "all.csv")
    assert done.stdout == f"{tmp_path}/all.csv: {len(rows)} rows on 2 signals\n"
    assert len(rows) == 2 * (241 + 2) + 3
    changed = [row for row in rows if row["value_before"]]
    days = [(row["slug"], row["observed_at"][:10]) for row in changed]
    assert days == [("survey.pmi", "2026-08-01"), ("us-cpi", "2026-07-01"), ("us-cpi", "2026-08-01")]
    assert {(row["first_seen"], row["not_before"]) for row in changed} == {LOOKS}
    addin("cache", "export", str(tmp_path / "one.jsonl"), "us-cpi", environ=environ)
    lines = [json.loads(line) for line in (tmp_path / "one.jsonl").read_text(encoding="utf-8").splitlines()]
    cpi = [row for row in rows if row["slug"] == "us-cpi"]
    for name in ("observed_at", "first_seen"):
        assert [line[name] for line in lines] == [row[name] for row in cpi]
    assert [line["value"] for line in lines] == [float(row["value"]) for row in cpi]


async def test_what_a_version_before_the_archive_cached_is_counted_and_exported(service, tmp_path):
    await looked(service, SqliteStore(file_in(tmp_path)), SAMPLE_AS_OF)
    store = SqliteStore(file_in(tmp_path))
    await store.delete_logs()
    await store.aclose()
    environ, sent = environment(tmp_path, service), service.running.request_count
    shown = addin("cache", environ=environ).stdout
    assert "Beside the archive, cached answers tell what was known of 2 signals" in shown
    [share] = json.loads(addin("cache", "--json", environ=environ).stdout)["keys"]
    assert (share["archive"]["count"], share["archived_by_cached_answers"]) == (0, 2)
    addin("cache", "export", str(tmp_path / "all.csv"), environ=environ)
    rows = rows_in(tmp_path / "all.csv")
    assert {row["slug"] for row in rows} == set(SLUGS)
    assert service.running.request_count == sent
    first = addin("eval", '=DS.SIGNAL("us-cpi", , , "vintage=first")', environ=environ)
    newest = max((row for row in rows if row["slug"] == "us-cpi"), key=lambda row: row["observed_at"])
    assert float(first.stdout) == float(newest["value"])


async def test_in_redis_it_is_shown_exported_pruned_and_cleared(service, tmp_path, redis_url):  # noqa: F811
    await looked(service, RedisStore.from_url(redis_url), SAMPLE_AS_OF, LATER)
    environ = environment(tmp_path, service, redis_url=redis_url)
    assert re.search(rf"(?s)Redis at .*ends in {service.key[-4:]}\) +2, ", addin("cache", environ=environ).stdout)
    done = addin("cache", "prune", "--before", "2026-10-25", environ=environ)
    assert done.stdout.startswith("Forgot what was known before 2026-10-25: the archive had ")
    addin("cache", "export", str(tmp_path / "all.csv"), environ=environ)
    assert [row for row in rows_in(tmp_path / "all.csv") if row["value_before"]] == []
    assert addin("cache", "seal", environ=environ).stdout == "Sealed 0 entries.\n"
    done = addin("cache", "clear", "--archive", "--yes", environ=environ)
    assert done.stdout == "Deleted 3 cached entries and the archive of 2 signals.\n"


async def test_clearing_keeps_the_archive_unless_told(service, tmp_path):
    await looked(service, SqliteStore(file_in(tmp_path)), SAMPLE_AS_OF, LATER)
    environ = environment(tmp_path, service)
    done = addin("cache", "clear", "--yes", environ=environ)
    assert done.stdout == "Deleted 3 cached entries; the archive is kept.\n"
    addin("cache", "prune", "--before", "2026-10-25", environ=environ)
    addin("cache", "export", str(tmp_path / "all.csv"), environ=environ)
    rows = rows_in(tmp_path / "all.csv")
    assert len(rows) == 2 * (241 + 2)
    assert [row for row in rows if row["value_before"]] == [], "pruned: the last state of each is left"
    done = addin("cache", "clear", "--all-keys", "--archive", "--yes", environ=environ)
    assert "the archive of 2 signals" in done.stdout
    assert "It is empty." in addin("cache", environ=environ).stdout


def test_where_nothing_is_cached_that_is_said_and_no_file_is_made(service, tmp_path):
    for command in ([], ["export", "all.csv"]):
        done = addin("cache", *command, environ=environment(tmp_path, service), cwd=tmp_path)
        assert done.returncode == 1
        assert done.stderr.startswith("addin: nothing is cached yet: there is no file")
        assert done.stderr.count("\n") == 1
    assert not file_in(tmp_path).exists()


async def test_what_cannot_be_done_is_said_in_one_line(service, tmp_path):
    await looked(service, SqliteStore(file_in(tmp_path)), SAMPLE_AS_OF)
    told = {
        ("export", "all.xls"): "must end in .csv or .jsonl",
        ("export", "all.csv", "nope"): "knows nothing of nope",
        ("prune", "--before", "yesterday"): "is not a date",
        ("clear",): "pass --yes",
    }
    for command, words in told.items():
        done = addin("cache", *command, environ=environment(tmp_path, service), cwd=tmp_path)
        assert (done.returncode, words in done.stderr, "Traceback" in done.stderr) == (1, True, False), done.stderr
    keyless = environment(tmp_path, url=service.url)
    assert "no key is set" in addin("cache", "export", "all.csv", environ=keyless, cwd=tmp_path).stderr


async def test_a_damaged_file_is_moved_aside_and_that_is_said(service, tmp_path):
    await looked(service, SqliteStore(file_in(tmp_path)), SAMPLE_AS_OF)
    file_in(tmp_path).write_bytes(b"not a database" * 1_000)
    done = addin("cache", environ=environment(tmp_path, service))
    assert (done.returncode, "It is empty." in done.stdout) == (0, True)
    assert "the cache file was damaged; it was renamed to" in done.stderr


async def test_a_file_that_another_program_writes_to_is_read_but_not_cleared(service, tmp_path):
    await looked(service, SqliteStore(file_in(tmp_path)), SAMPLE_AS_OF)
    environ = environment(tmp_path, service)
    with closing(sqlite3.connect(file_in(tmp_path))) as other:
        other.execute("BEGIN IMMEDIATE")
        assert addin("cache", environ=environ).returncode == 0
        done = addin("cache", "clear", "--yes", environ=environ)
        other.rollback()
    assert (done.returncode, "is in use" in done.stderr) == (1, True)


def test_a_server_that_is_away_is_told(tmp_path):
    done = addin("cache", environ=environment(tmp_path, redis_url="redis://:secret@127.0.0.1:1/0"))
    assert done.returncode == 1
    assert "Redis at 127.0.0.1:1 cannot be used" in done.stderr
    assert "secret" not in done.stderr + done.stdout
