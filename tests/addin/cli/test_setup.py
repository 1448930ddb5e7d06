"""Setting the add-in up in one command, and taking all of it back."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.addin.commands import addin, environment


def config_of(environ) -> Path:
    return Path(environ["XDG_CONFIG_HOME"], "dataservice-addin", "config.toml")


def test_setup_keeps_address_and_key_tests_them_and_takes_everything_back(service, tmp_path):
    environ = environment(tmp_path)
    done = addin("setup", "--url", service.url, "--key", "--no-start", environ=environ, given=service.key)
    assert done.returncode == 0, done.stderr
    assert "It works: " in done.stdout
    assert tomllib.loads(config_of(environ).read_text()) == {"url": service.url}
    assert addin("eval", '=DS.SIGNAL("us-cpi","unit")', environ=environ).returncode == 0
    undone = addin("setup", "--undo", environ=environ)
    assert undone.returncode == 0, undone.stderr
    assert tomllib.loads(config_of(environ).read_text()) == {}
    assert addin("key", "show", environ={**environ, "DATA_SERVICE_URL": service.url}).returncode == 1


def test_setup_leaves_the_rest_of_a_config_file_as_its_user_wrote_it(service, tmp_path):
    environ = environment(tmp_path, service)
    config_of(environ).parent.mkdir(parents=True)
    config_of(environ).write_text('# mine\nask_above = 50  # few\nurl = "https://old.example"\n')
    done = addin("setup", "--url", service.url, "--no-key", "--no-start", environ=environ)
    assert done.returncode == 0, done.stderr
    assert config_of(environ).read_text() == f'# mine\nask_above = 50  # few\nurl = "{service.url}"\n'


def test_setup_says_what_does_not_work(service, tmp_path):
    environ = environment(tmp_path)
    bad = addin("setup", "--url", "not an address", "--no-key", "--no-start", environ=environ)
    assert (bad.returncode, config_of(environ).exists()) == (1, False)
    wrong = addin("setup", "--url", service.url, "--key", "--no-start", environ=environ, given=f"ds_{0:040}")
    assert wrong.returncode == 1
    assert "the service refused the key ending in 0000, so it is not kept. Try: addin setup" in wrong.stderr
    nobody = addin("setup", "--url", "http://127.0.0.1:9", "--key", environ=environ, given=service.key)
    assert nobody.returncode == 1
    assert re.search(r"address or key do not work yet: [^.]+\. Change them with: addin setup", nobody.stderr)
    assert "Traceback" not in bad.stderr + wrong.stderr


@pytest.mark.parametrize("command", [("setup", "--print"), ("autostart", "install", "--print", "--for", "macos")])
def test_what_would_be_done_is_printed_without_an_address(tmp_path, command):
    done = addin(*command, environ=environment(tmp_path))
    assert done.returncode == 0, done.stderr
    assert not config_of(environment(tmp_path)).exists()


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("macos", "LaunchAgents"),
        ("macOS", "LaunchAgents"),
        ("darwin", "LaunchAgents"),
        ("win", "Run"),
        ("linux", "systemd"),
    ],
)
def test_systems_have_the_names_that_people_type(tmp_path, name, what):
    done = addin("autostart", "install", "--print", "--for", name, environ=environment(tmp_path))
    assert done.returncode == 0, done.stderr
    assert what in done.stdout


def test_an_unknown_system_is_refused_with_those_there_are(tmp_path):
    done = addin("autostart", "install", "--print", "--for", "amiga", environ=environment(tmp_path))
    assert done.returncode == 2
    assert "windows" in done.stderr
    assert "macos" in done.stderr


@pytest.mark.parametrize("url", ["notaurl", "ftp://x"])
@pytest.mark.parametrize("shows", [["--print"], ["--no-key"]])
def test_an_address_that_cannot_be_used_is_refused_by_the_option_that_gave_it(tmp_path, url, shows):
    done = addin("setup", *shows, "--url", url, environ=environment(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{url!r} in --url cannot be used" in done.stderr


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("Excel", "add the add-in to Excel"),
        ("ms-excel", "add the add-in to Excel"),
        ("libreoffice", "write the extension for LibreOffice Calc"),
        ("LibreOffice  Calc", "write the extension for LibreOffice Calc"),
    ],
)
def test_programs_have_the_names_that_people_type(tmp_path, name, step):
    done = addin("setup", "--print", "--host", name, environ=environment(tmp_path))
    assert step in done.stdout


def test_an_unknown_program_is_refused_with_those_there_are(tmp_path):
    done = addin("setup", "--print", "--host", "gnumeric", environ=environment(tmp_path))
    assert done.returncode == 2
    expected = "Invalid value for '--host': 'gnumeric' is no program for formulas; there are excel, calc, both, none"
    assert expected in " ".join(done.stderr.split())


def test_choices_are_refused_in_our_words(tmp_path):
    done = addin("refresh", "book.xlsx", "--engine", "gnumeric", environ=environment(tmp_path))
    assert done.returncode == 2
    assert "Value error" not in done.stderr


def test_an_address_is_tried_without_a_key_and_nothing_is_spent(service, tmp_path):
    environ = environment(tmp_path)
    done = addin("setup", "--url", service.url, "--no-key", "--no-start", environ=environ)
    assert done.returncode == 0, done.stderr
    assert f"{service.url} answers. It needs a key: addin key set" in done.stdout
    assert service.store.usage(service.key) == 0


def test_an_address_where_nothing_answers_is_told_without_a_key(tmp_path):
    done = addin("setup", "--url", "http://127.0.0.1:9", "--no-key", "--no-start", environ=environment(tmp_path))
    assert done.returncode == 1
    assert "the address does not work yet" in done.stderr
    assert "nobody listens at its address" in done.stderr
    assert "key" not in done.stderr  # there is none that could be wrong


def test_a_key_that_the_service_refuses_does_not_take_the_place_of_one_that_works(service, tmp_path):
    environ = environment(tmp_path)
    words = ("setup", "--url", service.url, "--key", "--no-start")
    assert addin(*words, environ=environ, given=service.key).returncode == 0
    assert addin(*words, environ=environ, given=f"ds_{0:040}").returncode == 1
    assert f"ending in {service.key[-4:]}" in addin("key", "show", environ=environ).stdout


def test_an_address_in_the_environment_is_told_to_win_before_anything_is_kept(service, tmp_path):
    environ = environment(tmp_path, service)
    done = addin("setup", "--url", "https://data.example.com", "--key", environ=environ, given=service.key)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"DATA_SERVICE_URL is {service.url} in this terminal and would be used in place of" in done.stderr
    assert not config_of(environ).exists()


@pytest.mark.parametrize("behind", ["/", "/v1", "/v1/signals"])
def test_an_address_is_kept_as_the_service_has_it(service, tmp_path, behind):
    environ = environment(tmp_path)
    done = addin("setup", "--url", service.url + behind, "--key", environ=environ, given=f"\n\n{service.key}\n")
    assert done.returncode == 0, done.stderr
    assert tomllib.loads(config_of(environ).read_text()) == {"url": service.url}


def test_an_address_that_would_send_the_key_in_clear_text_is_not_kept(tmp_path):
    done = addin("setup", "--url", "http://data.example.com", "--no-key", environ=environment(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert "use https" in done.stderr
    assert not config_of(environment(tmp_path)).exists()


def test_undo_takes_the_add_in_out_of_excel_and_names_what_stays(service, tmp_path):
    environ = environment(tmp_path)
    undone = addin("setup", "--undo", environ=environ)
    assert undone.returncode == 0, undone.stderr
    assert "Remove" in undone.stdout or "Excel did not load the add-in" in undone.stdout
    assert undone.stdout.rstrip().endswith("everything is removed by: addin uninstall")
