"""The command `dataservice`, as one types it."""

import os
import re
import signal
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from dataservice.cli.main import app
from dataservice.server import Store
from tests.forking import Forked, forked, run_forked

PROGRAM = "dataservice.cli.main:main"
ENVIRONMENT = {**os.environ, "PYTHONUNBUFFERED": "1"}
COMMANDS = ("serve", "import", "sample", "key create", "key list", "key revoke")


@pytest.fixture
def run(tmp_path):
    """Run the command on a database of its own; give its exit code, what it printed and what it complained of."""

    def run(*arguments: str) -> tuple[int, str, str]:
        environment = {"DATA_SERVICE_DB": str(tmp_path / "service.db"), "COLUMNS": "120"}
        done = CliRunner().invoke(app, arguments, env=environment, prog_name="dataservice")
        return done.exit_code, done.stdout, done.stderr

    return run


def started(database: Path, *options: str) -> AbstractContextManager[Forked]:
    """`dataservice serve` inside the block."""
    return forked(PROGRAM, ["serve", "--port", "0", "--db", str(database), *options], environ=ENVIRONMENT)


def started_anew(database: Path, *options: str) -> subprocess.Popen[str]:
    """The same as the program that is installed, in an interpreter of its own."""
    command = [Path(sys.executable).with_name("dataservice"), "serve", "--port", "0", "--db", database, *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_help_shows_the_commands_and_the_first_steps(run):
    code, out, _ = run("--help")
    assert code == 0
    for word in ("serve", "import", "sample", "key", "dataservice sample made-up"):
        assert word in out


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_has_an_example(run, command):
    code, out, _ = run(*command.split(), "--help")
    assert code == 0
    assert re.search(rf"Examples?:\n +.*dataservice {command}", out)


def test_help_loads_no_part_of_the_server():
    look = (
        "import sys, dataservice.cli.main; print([m for m in ('fastapi', 'sqlalchemy', 'uvicorn') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_switches_of_variants_are_listed_and_a_wrong_one_is_refused(run):
    code, out, _ = run("serve", "--list-variants")
    assert code == 0
    assert "included, excluded, midnight" in out
    code, _, complaint = run("serve", "--variant", "end=never")
    assert code == 2
    assert "included or excluded or midnight" in " ".join(complaint.replace("│", " ").split())


def test_a_sample_is_written_imported_and_replaced(run, tmp_path):
    folder = str(tmp_path / "made-up")
    assert run("sample", folder, "--as-of", "2026-08-31")[0] == 0
    for _ in range(2):
        code, _, told = run("import", folder)
        assert (code, told.strip()) == (
            0, "Imported 15 signals, 19,985 observations, 4 indices, 6 currents, 12 posts, 152 wire items.",
        )  # fmt: skip


def test_a_created_key_is_all_that_is_printed(run):
    code, out, complaint = run("key", "create", "--tier", "pro")
    assert (code, complaint) == (0, "")
    assert re.fullmatch(r"ds_[0-9a-f]{40}\n", out)


def test_keys_are_listed_by_id_and_revoked_by_it(run, tmp_path):
    _, key, _ = run("key", "create", "--tier", "enterprise", "--cap", "2000000", "--label", "Anna")
    _, table, _ = run("key", "list")
    assert key.strip() not in table
    assert re.search(r"enterprise +0 +2,000,000 .* active +Anna", table)
    key_id = table.splitlines()[1].split()[0]
    assert run("key", "revoke", key_id[:6])[0] == 0
    assert "revoked" in run("key", "list")[1]
    with Store(tmp_path / "service.db") as store:
        assert store.keys.find(key.strip()) is None


def test_an_empty_list_of_keys_says_how_to_create_one(run):
    assert "dataservice key create" in run("key", "list")[1]


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["key", "create", "--tier", "gold"], 2, "must be free, pro or enterprise, not 'gold'"),
        (["key", "create", "--cap", "0"], 2, "--cap"),
        (["key", "create", "--label", "of ds_" + "0" * 40], 2, "--label: holds a key"),
        (["ds_" + "0" * 40], 2, "No such command 'ds_…'. A key does not belong on the command line"),
        (["key", "revoke", "abc"], 1, "no keys have an id that begins with 'abc'"),
        (["key", "revoke", ""], 1, "no keys have an id"),
        (["import", "nowhere"], 1, "nowhere: is not a directory"),
        (["sample", "x", "--as-of", "someday"], 2, "must be a calendar date"),
        (["sample", "/dev/null/x"], 1, "cannot be written"),
        (["serve", "--port", "70000"], 2, "--port"),
        (["serve", "--as-of", "2026-08-31"], 2, "belongs to --sample"),
        (["serve", "--sample", "--as-of", "yesterday"], 2, "must be a calendar date"),
        (["serve", "--sample", "--as-of", "2021-12-31"], 2, "must be 2022-01-01 or later"),
        (["serve", "--sample", "--data", "."], 2, "leave out --data"),
        (["serve", "--host", "192.0.2.1"], 1, "cannot listen on 192.0.2.1"),
        (["key", "list", "--db", "mysql://host/x"], 1, "mysql is not supported"),
        (["key", "list", "--db", ":memory:"], 1, "a database in memory is not enough"),
        (["key", "list", "--db", "://"], 1, "is neither a file nor a URL"),
        (["key", "list", "--db", sys.executable], 1, "cannot be opened: file is not a database"),
        (["key", "list", "--db", "/dev/null/x.db"], 1, "cannot be opened"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence_with_an_exit_code(run, arguments, code, complaint):
    got, out, told = run(*arguments)
    assert (got, out) == (code, "")
    assert complaint in re.sub(r"\s+", " ", told)
    assert "Traceback" not in told


def test_a_bad_row_ends_an_import_with_its_file_and_line(run, tmp_path):
    (tmp_path / "signals.csv").write_text("slug,name,category,signal_type,source,is_premium\na,b\n")
    code, _, told = run("import", str(tmp_path))
    assert code == 1
    assert f"{tmp_path}/signals.csv:2: has 2 values" in told


def test_a_port_in_use_is_said(tmp_path):
    with started(tmp_path / "one.db") as one:
        port = one.stdout.readline().split(":")[2].split(",")[0]
        command = ["serve", "--port", port, "--db", str(tmp_path / "two.db")]
        other = run_forked(PROGRAM, command, environ=ENVIRONMENT)
        one.terminate()
    assert other.returncode == 1
    assert f"cannot listen on 127.0.0.1 port {port}: Address already in use" in other.stderr


def test_serve_answers_with_the_made_up_data_of_a_day(tmp_path):
    database = tmp_path / "service.db"
    shown = []
    for day in ("2026-08-31", "2026-09-30"):
        with started(database, "--sample", "--as-of", day) as service:
            address = service.stdout.readline().split()[3].rstrip(",")
            with Store(database) as store:
                headers = {"Authorization": f"Bearer {store.create_key()}"}
            answer = httpx.get(f"{address}/v1/signals/us-cpi?history=2", headers=headers, timeout=60).json()["data"]
            shown.append({each["observed_at"]: each["value"] for each in answer["history"]})
            service.send_signal(signal.SIGINT)
            assert service.communicate(timeout=60)[1] == ""
    assert list(shown[0]) == ["2026-07-01T00:00:00Z", "2026-08-01T00:00:00Z"]
    assert list(shown[1]) == ["2026-08-01T00:00:00Z", "2026-09-01T00:00:00Z"]
    assert shown[0]["2026-08-01T00:00:00Z"] != shown[1]["2026-08-01T00:00:00Z"]


def test_the_sample_does_not_replace_other_data(run, tmp_path):
    (tmp_path / "signals.csv").write_text(
        "slug,name,category,signal_type,source,is_premium\nown,Own,macro,index,Us,false\n", encoding="utf-8"
    )
    assert run("import", str(tmp_path))[0] == 0
    code, _, told = run("serve", "--sample", "--port", "0")
    assert (code, "holds data that are not made up" in told) == (1, True)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_serve_imports_once_says_where_it_is_answers_and_ends_with_ctrl_c(sample_data, tmp_path, workers):
    database = tmp_path / "service.db"
    start = started_anew if workers == "1" else started
    with start(database, "--data", str(sample_data), "--workers", workers) as service:
        address = service.stdout.readline().split()[3].rstrip(",")
        assert f"dataservice key create --tier pro --db {database}" in service.stdout.readline()
        with Store(database) as store:
            key = store.create_key()
        answer = httpx.get(f"{address}/v1/signals/us-cpi", headers={"Authorization": f"Bearer {key}"}, timeout=60)
        assert answer.json()["data"]["slug"] == "us-cpi"
        service.send_signal(signal.SIGINT)
        out, told = service.communicate(timeout=60)
    assert (service.returncode, out.splitlines()[-1]) == (0, "Stopped.")
    assert told.startswith("Imported 15 signals")
    assert "Traceback" not in told
    with started(database, "--data", str(sample_data)) as again:
        again.stdout.readline()
        again.send_signal(signal.SIGINT)
        assert "has data already" in again.communicate(timeout=60)[1]
