"""Settings come from the environment, the config file and the defaults, in this order, and say what is wrong."""

from pathlib import Path

import msgspec
import pytest

import addin.config.settings
from addin.config.settings import Settings, load_settings
from addin.errors import SettingsError


@pytest.fixture
def config(tmp_path):
    return tmp_path / "config.toml"


def test_they_show_themselves_without_the_password_of_redis():
    settings = Settings(url="https://data.example", redis_url="redis://:hunter2@cache.example/0")
    assert repr(settings) == "Settings(url='https://data.example', redis_url=…)"


def test_without_environment_and_file_the_defaults_hold(config):
    assert load_settings({}, config) == Settings()


def test_the_config_file_sets_what_it_names(config):
    config.write_text('url = "https://api.example"\nttl_s = 60\nallowed_hosts = ["excel.example"]\n')
    settings = load_settings({}, config)
    assert (settings.url, settings.ttl_s, settings.allowed_hosts) == ("https://api.example", 60.0, ("excel.example",))


def test_the_environment_wins_over_the_config_file(config):
    config.write_text("ttl_s = 60\nport = 9000\n")
    settings = load_settings({"DATA_SERVICE_TTL_S": "30"}, config)
    assert (settings.ttl_s, settings.port) == (30.0, 9000)


def test_several_values_in_the_environment_are_separated_by_commas(config):
    settings = load_settings({"DATA_SERVICE_ALLOWED_ORIGINS": "https://a.example, https://b.example:8443"}, config)
    assert settings.allowed_origins == ("https://a.example", "https://b.example:8443")


def test_a_variable_that_is_nearly_a_setting_is_told(config, caplog):
    load_settings({"DATA_SERVICE_TTLS": "30", "DATA_SERVICE_SOFFICE": "x", "DATA_SERVICE_PORT": ""}, config)
    assert caplog.messages == ["DATA_SERVICE_TTLS is no setting; did you mean DATA_SERVICE_TTL_S?"]


def test_a_config_file_that_is_named_and_missing_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setenv("DATA_SERVICE_CONFIG", str(tmp_path / "nope.toml"))
    with pytest.raises(SettingsError, match=r"DATA_SERVICE_CONFIG names .*nope\.toml, which does not exist"):
        load_settings({})
    monkeypatch.setenv("DATA_SERVICE_CONFIG", str(tmp_path))
    with pytest.raises(SettingsError, match="cannot be read: Is a directory"):
        load_settings({})


def test_an_empty_variable_counts_as_not_set(config):
    assert load_settings({"DATA_SERVICE_TTL_S": " "}, config).ttl_s == 900.0


def test_a_path_may_begin_with_the_home_folder(config):
    assert load_settings({"DATA_SERVICE_CACHE_DIR": "~/cache"}, config).cache_dir == Path.home() / "cache"


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("tl_s = 60", "did you mean ttl_s?"),
        ("urll = 'x'", "did you mean url?"),
        ("completely_else = 1", "there are allowed_hosts"),
    ],
)
def test_an_unknown_setting_in_the_file_is_named_with_the_closest_known_one(config, line, advice):
    config.write_text(line)
    with pytest.raises(SettingsError) as caught:
        load_settings({}, config)
    assert str(config) in str(caught.value)
    assert line.split()[0] in str(caught.value)
    assert advice in str(caught.value)


@pytest.mark.parametrize(
    ("variable", "text", "reason"),
    [
        ("TTL_S", "0", "a number > 0"),
        ("TTL_S", "nan", "a number > 0"),
        ("TTL_S", "soon", "expected a number"),
        ("PORT", "65536", "a whole number <= 65535"),
        ("RESERVE", "-1", "a whole number >= 0"),
        ("PER_USER_KEYS", "maybe", "expected true or false"),
        ("NAMESPACE", "D.S", "text matching"),
        ("URL", "ftp://api.example", "not an address"),
        ("PUBLIC_URL", "api.example", "not an address"),
        ("ALLOWED_ORIGINS", "https://a.example/path", "https://host"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named_with_its_place_and_the_reason(config, variable, text, reason):
    with pytest.raises(SettingsError) as caught:
        load_settings({f"DATA_SERVICE_{variable}": text}, config)
    message = str(caught.value)
    assert f"{variable.lower()} = " in message
    assert f"DATA_SERVICE_{variable}" in message
    assert reason in message


def test_a_file_that_is_not_toml_is_named(config):
    config.write_text("ttl_s 60")
    with pytest.raises(SettingsError, match=str(config)):
        load_settings({}, config)


def test_settings_cannot_be_changed():
    with pytest.raises(AttributeError):
        Settings().ttl_s = 1


def test_a_missing_address_says_where_to_set_it():
    with pytest.raises(SettingsError, match="DATA_SERVICE_URL"):
        _ = Settings().base_url


def test_every_setting_says_what_it_is():
    source = Path(addin.config.settings.__file__).read_text(encoding="utf-8")
    for field in msgspec.structs.fields(Settings):
        after = source.split(f"\n    {field.name}: ", 1)[1].split("\n", 2)[1]
        assert after.strip().startswith('"""'), field.name
