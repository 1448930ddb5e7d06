"""No API key gets into a log, wherever in the record it stands."""

import logging
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addin.config.api_key import RedactingFormatter, redacted

KEYS = st.from_regex(r"[a-z]{1,8}_[0-9a-fA-F]{40}", fullmatch=True)


@given(KEYS, st.text(max_size=20), st.sampled_from([" ", "'", "=", "/", ":", "\n", ""]))
def test_a_key_is_blotted_out_of_any_text(key, text, gap):
    assert key not in redacted(f"{text}{gap} {key}{gap}")


def test_a_bearer_credential_is_blotted_out_whatever_it_is():
    assert redacted("Authorization: Bearer abc123, x") == "Authorization: Bearer … x"


def test_other_text_stays():
    text = "asked /v1/signals/us-cpi?history=365 in 12 ms; sha1 0123456789012345678901234567890123456789"
    assert redacted(text) == text


@pytest.mark.parametrize("place", ["message", "argument", "traceback"])
def test_a_record_is_redacted_in_every_part(place):
    key = "ds_" + "a1" * 20
    message, arguments = {"message": (f"asked with {key}", ()), "argument": ("asked with %s", (key,))}.get(
        place, ("asked", ())
    )
    try:
        raise ValueError(key if place == "traceback" else "fine")
    except ValueError:
        record = logging.LogRecord("addin", logging.ERROR, __file__, 1, message, arguments, sys.exc_info())
    line = RedactingFormatter().format(record)
    assert "asked" in line
    assert "ValueError" in line
    assert key not in line
