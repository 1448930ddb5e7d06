"""Before anybody uses a backend, its administrator is told what is open; what guards it cannot be misspelt."""

import pytest

from addin.backend.operation.set_up import concerns, refuse_unknown, unknown_variables
from addin.config.settings import Settings
from addin.errors import SettingsError
from tests.addin.commands import addin, environment


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, []),
        ({"public_url": "https://a.example", "oidc_issuer": "https://login.example"}, []),
        ({"public_url": "https://a.example"}, ["spends its key", "/metrics"]),
        ({"host": "0.0.0.0", "per_user_keys": True, "serve_sheet": True}, ["kept on this server", "sheet", "/metrics"]),
        ({"public_url": "http://a.example", "oidc_issuer": "https://login.example"}, ["no https address"]),
    ],
    ids=str,
)
def test_what_is_open_is_told(settings, words):
    told = concerns(Settings(**settings), has_key=True)
    assert len(told) == len(words)
    assert all(word in sentence for word, sentence in zip(words, told, strict=True))


def test_metrics_that_need_a_token_are_open_to_nobody():
    public = Settings(public_url="https://a.example")
    (told,) = set(concerns(public, has_key=False)) - set(concerns(public, has_key=False, has_metrics_token=True))
    assert "DATA_SERVICE_METRICS_TOKEN" in told


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("DATA_SERVICE_OIDC_ISSUR", "DATA_SERVICE_OIDC_ISSUER"),
        ("DATA_SERVICE_PER_USER_KEY", "DATA_SERVICE_PER_USER_KEYS"),
        ("DATA_SERVICE_SESSION_SECRETS", "DATA_SERVICE_SESSION_SECRET"),
        ("DATA_SERVICE_METRIC_TOKEN", "DATA_SERVICE_METRICS_TOKEN"),
        ("DATA_SERVICE_XYZZY", ""),
    ],
)
def test_a_variable_that_is_no_setting_keeps_it_from_starting_and_what_was_meant_is_told(variable, meant):
    assert unknown_variables({variable: "x"}) == [(variable, meant)]
    with pytest.raises(SettingsError, match=f"{variable} is no setting.*{meant}"):
        refuse_unknown({variable: "x"})


def test_what_others_set_is_no_mistake():
    kubernetes = ("DATA_SERVICE_SERVICE_HOST", "DATA_SERVICE_SERVICE_PORT_HTTP", "DATA_SERVICE_PORT_8765_TCP_ADDR")
    ours = ("DATA_SERVICE_URL", "DATA_SERVICE_API_KEY", "DATA_SERVICE_CONFIG", "DATA_SERVICE_METRICS_TOKEN")
    refuse_unknown(dict.fromkeys((*kubernetes, *ours), "x") | {"DATA_SERVICE_EMPTY": ""})


def test_a_server_that_is_misspelt_does_not_start(tmp_path):
    environ = environment(tmp_path, url="https://data.example", per_user_key="true")
    ended = addin("serve", "--http", "--port", "0", environ=environ)
    assert (ended.returncode, "did you mean DATA_SERVICE_PER_USER_KEYS" in ended.stderr) == (1, True)
