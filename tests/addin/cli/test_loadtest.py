"""`addin loadtest`: many users before a backend that is started for it, or before one that is named."""

import json
import sys

import pytest

from tests.addin.backend.sign_in.identity_provider import backend_with_sign_in, provider
from tests.addin.backends import backend_of
from tests.addin.commands import addin, environment
from tests.addin.serving import ctrl_c, started
from tests.addin.terminals import CTRL_C, answered


def test_it_starts_a_backend_and_tells_how_long_its_users_wait(tmp_path):
    arguments = ("--users", "3", "--cells", "20", "--large", "500", "--rounds", "1", "--json")
    done = addin("loadtest", *arguments, environ=environment(tmp_path, ttl_s="no number"))  # the user's are not used
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert {name: row["batches"] for name, row in told["rounds"].items()} == {
        "in the morning": 3,
        "users alone": 3,
        "beside the large one": 3,
    }
    assert [row["errors"] for row in told["rounds"].values()] == [0, 0, 0]
    assert all(0 < row["p50_s"] <= row["p99_s"] <= row["p100_s"] for row in told["rounds"].values())
    assert told["p99_ratio"] > 0


def test_it_tells_from_few_users_how_long_more_would_wait(tmp_path):
    arguments = ("--users", "4", "--cells", "20", "--rounds", "1", "--predict", "30", "--within", "5")
    done = addin("loadtest", *arguments, environ=environment(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("predicted") == 2
    assert done.stdout.count(" 30 ") == 2


def test_before_a_backend_that_is_named_all_users_share_its_key_if_none_are_given(service, tmp_path):
    with backend_of(service, tmp_path) as backend:
        done = addin("loadtest", backend.url, "--users", "2", "--cells", "30", environ=environment(tmp_path))
        assert done.returncode == 0, done.stderr
        assert "users alone" in done.stdout
        assert service.store.usage(service.key) < 12  # the signals, once


def test_a_morning_costs_each_key_its_signals_and_with_cold_again_and_the_rounds_after_it_nothing(service, tmp_path):
    keys = [service.store.create_key("pro") for _ in range(3)]
    (tmp_path / "keys.txt").write_text("\n".join(keys))
    with backend_of(service, tmp_path, key="", per_user_keys=True) as backend:
        spent = []
        for options in ([], [], ["--cold"]):
            before = [service.store.usage(key) for key in keys]
            arguments = [
                "--keys",
                str(tmp_path / "keys.txt"),
                "--users",
                "3",
                "--cells",
                "30",
                "--within",
                "0.1",
                *options,
            ]
            done = addin("loadtest", backend.url, *arguments, environ=environment(tmp_path))
            assert done.returncode == 0, done.stderr
            spent.append([service.store.usage(key) - each for key, each in zip(keys, before, strict=True)])
    assert spent[0] == [spent[0][0]] * 3
    assert (spent[0][0] >= 9, spent[1], spent[2]) == (True, [0, 0, 0], spent[0])


def test_cells_that_fail_are_told_with_their_reason(service, tmp_path):
    with backend_of(service, tmp_path, key="ds_" + "0" * 40) as backend:
        done = addin(
            "loadtest", backend.url, "--users", "2", "--cells", "9", "--rounds", "1", environ=environment(tmp_path)
        )
    assert done.returncode == 0, done.stderr
    assert "18 cells in the morning: the key was refused" in done.stdout


def test_too_few_keys_and_a_wrong_address_are_told(tmp_path):
    keys = tmp_path / "keys.txt"
    keys.write_text("ds_" + "0" * 40)
    environ = environment(tmp_path)
    few = addin("loadtest", "http://127.0.0.1:9", "--keys", str(keys), "--users", "2", environ=environ)
    assert (few.returncode, "holds 1 key, but 2 users need one each; use --users 1" in few.stderr) == (1, True)
    keys.write_text("not a key\n")
    wrong = addin("loadtest", "http://127.0.0.1:9", "--keys", str(keys), environ=environ)
    assert (wrong.returncode, "must hold one key a line" in wrong.stderr) == (1, True)
    nobody = addin("loadtest", "http://127.0.0.1:9", "--users", "2", environ=environ)
    assert (nobody.returncode, "does not answer" in nobody.stderr) == (1, True)


@pytest.mark.parametrize("address", ["", "nonsense", "ftp://host", "http://localhost:99999", "https://me:secret@host"])
def test_an_address_that_cannot_be_one_is_told_in_one_line(tmp_path, address):
    done = addin("loadtest", address, environ=environment(tmp_path))
    assert (done.returncode, len(done.stderr.splitlines()), "must look like https://" in done.stderr) == (1, 1, True)


def test_keys_do_not_travel_in_clear_text(tmp_path):
    keys = tmp_path / "keys.txt"
    keys.write_text("ds_" + "0" * 40)
    done = addin("loadtest", "http://addin.example", "--keys", str(keys), environ=environment(tmp_path))
    assert (done.returncode, "clear text" in done.stderr) == (1, True)


def test_a_backend_whose_users_sign_in_is_told(service, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with provider(sub="1") as identity, backend_with_sign_in(service, tmp_path, identity) as url:
        authority = str(tmp_path / "certificates" / "authority.pem")
        done = addin("loadtest", url, environ=environment(tmp_path, ca_file=authority))
    assert (done.returncode, "sign in, which a load test cannot" in done.stderr) == (1, True)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind")
def test_ctrl_c_on_a_terminal_which_reaches_its_workers_too_is_no_error(tmp_path):
    environ = environment(tmp_path) | {"TMPDIR": str(tmp_path)}
    words = ["loadtest", "--rounds", "1000", "--workers", "2"]
    code, shown = answered(words, [("users open their workbooks", CTRL_C)], environ=environ)
    assert (code, shown.splitlines()[-1]) == (130, "^CStopped.")
    assert not list(tmp_path.glob("addin-*"))


def test_ctrl_c_ends_it_with_one_line_and_nothing_is_left(tmp_path):
    environ = environment(tmp_path) | {"TMPDIR": str(tmp_path)}
    with started("loadtest", "--rounds", "1000", environ=environ) as process:
        assert next(process.stderr).startswith("Starting a backend")
        while not list(tmp_path.glob("addin-loadtest-*/*")):  # it is there and cared for
            assert process.poll() is None
        ctrl_c(process)
        printed, errors = process.communicate(timeout=60)
    assert (process.returncode, printed, errors) == (130, "", "Stopped.\n")
    assert not list(tmp_path.glob("addin-*"))
