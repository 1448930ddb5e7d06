"""Before anybody uses a backend, its administrator is told what is open; what guards it cannot be misspelt."""

import pytest

from addin.backend.operation.set_up import concerns, refuse_misspelt
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


def test_a_misspelt_setting_that_guards_the_backend_keeps_it_from_starting(tmp_path):
    refuse_misspelt({"DATA_SERVICE_TTL": "5", "DATA_SERVICE_OIDC_ISSUER": "https://login.example"})
    with pytest.raises(SettingsError, match="OIDC_ISSUR is no setting; it looks like oidc_issuer"):
        refuse_misspelt({"DATA_SERVICE_OIDC_ISSUR": "https://login.example"})
    environ = environment(tmp_path, url="https://data.example", per_user_key="true")
    ended = addin("serve", "--http", "--port", "0", environ=environ)
    assert (ended.returncode, "looks like per_user_keys" in ended.stderr) == (1, True)
