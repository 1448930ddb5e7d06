"""What the access log says of requests."""

import logging

import pytest

from dataservice.server.http.access_log import LOG_CONFIG, HideKeys

SECRET = "0123456789abcdef" * 2 + "01234567"


@pytest.mark.parametrize("target", [f"/v1/indices?api_key=ds_{SECRET}&x=1", f"/v1/signals/ds%5F{SECRET.upper()}"])
def test_a_key_in_the_address_is_hidden(target):
    args = ("127.0.0.1:1", "GET", target, "1.1", 401)
    record = logging.LogRecord("uvicorn.access", logging.INFO, "", 0, '%s - "%s %s HTTP/%s" %d', args, None)
    assert HideKeys().filter(record)
    assert SECRET not in record.getMessage().lower()
    assert "GET /v1/" in record.getMessage()


def test_the_log_of_uvicorn_uses_it():
    assert LOG_CONFIG["handlers"]["access"]["filters"] == ["hide_keys"]
    assert LOG_CONFIG["filters"]["hide_keys"]["()"] is HideKeys
