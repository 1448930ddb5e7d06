"""The service's address and the key: checked when given, never shown."""

import logging
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataservice.client.network.credentials import ApiKey, service_url

KEY = "ds_" + "0123456789abcdef" * 2 + "01234567"


@pytest.mark.parametrize(
    ("given_url", "base_url"),
    [
        ("https://data.example", "https://data.example"),
        ("https://data.example/", "https://data.example"),
        (" https://data.example/v1/ ", "https://data.example"),
        ("https://data.example/service", "https://data.example/service"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://localhost:8000/v1", "http://localhost:8000"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("https://data.example//V1//", "https://data.example"),
        ("https://data.example/v1/signals", "https://data.example"),
        ("https://data.example/team/v1/signals/us-cpi/observations/", "https://data.example/team"),
        ("https://data.example/openapi.json", "https://data.example"),
        ("https://data.example/v1/team", "https://data.example/v1/team"),
        ("https://data.example/v1/v1", "https://data.example"),
        ("https://v1/v1", "https://v1"),
        ("https://v1", "https://v1"),
    ],
)
def test_an_address_is_taken_as_people_write_it(given_url, base_url):
    assert service_url(given_url) == base_url


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "data.example",
        "ftp://data.example",
        "https://",
        "https://data.example:port",
        "https://[::1",
        "https://user:secret@data.example",
        "https://data.example?key=secret",
        "https://data.example#secret",
        "https://data example",
    ],
)
def test_an_address_that_cannot_be_one_is_refused_without_repeating_secrets(wrong):
    with pytest.raises(ValueError) as refused:
        service_url(wrong)
    assert "secret" not in str(refused.value)


def test_a_key_does_not_travel_in_clear_text_unless_that_is_allowed():
    with pytest.raises(ValueError, match="clear text"):
        service_url("http://data.example")
    assert service_url("http://data.example", allow_plain_http=True) == "http://data.example"


def test_a_host_that_only_begins_like_this_machine_is_another_one():
    for host in ("localhost.example", "127.0.0.1.example"):
        with pytest.raises(ValueError, match="clear text"):
            service_url(f"http://{host}")


@pytest.mark.parametrize("wrong", ["", "  ", "two words", "line\nbreak", "schlüssel", "tab\tkey"])
def test_what_cannot_be_a_key_is_refused_without_repeating_it(wrong):
    with pytest.raises(ValueError) as refused:
        ApiKey(wrong)
    assert not wrong.strip() or wrong not in str(refused.value)


@pytest.mark.parametrize("around", ["{}", " {}\r\n", "\ufeff{}", '"{}"', "'{}'", "\u200b{}\u00a0"])
def test_what_a_copied_key_brings_along_is_taken_off(around):
    assert ApiKey(around.format(KEY)).reveal() == KEY


def test_a_key_does_not_show_in_text_made_of_it(caplog):
    key = ApiKey(f" {KEY}\n")
    with caplog.at_level(logging.DEBUG):
        logging.getLogger("test").info("key %s %r", key, key)
    assert KEY not in f"{key} {key!r} {[key]} {caplog.text}"
    assert key.reveal() == KEY


def test_a_key_is_taken_out_of_what_the_service_says():
    assert ApiKey(KEY).redacted(f"the key {KEY} is unknown") == "the key … is unknown"


@given(st.binary(min_size=16, max_size=64), st.binary(min_size=16, max_size=64))
def test_fingerprints_differ_by_key_service_and_salt_and_hold_nothing_of_the_key(salt, other_salt):
    mark = ApiKey(KEY).fingerprint(salt, "https://a.example")
    assert mark == ApiKey(KEY).fingerprint(salt, "https://a.example")
    assert mark != ApiKey(KEY + "0").fingerprint(salt, "https://a.example")
    assert mark != ApiKey(KEY).fingerprint(salt, "https://b.example")
    assert salt == other_salt or mark != ApiKey(KEY).fingerprint(other_salt, "https://a.example")
    assert KEY[3:] not in mark


def test_a_key_cannot_be_pickled_by_accident():
    with pytest.raises(TypeError):
        pickle.dumps(ApiKey(KEY))
