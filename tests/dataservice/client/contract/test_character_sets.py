"""The body of an answer in the character set that its Content-Type names, or as much of it as can be read."""

import json

import pytest

from dataservice.client.contract.forms import decoded
from dataservice.client.network.transport import in_utf8

TOLD = {"name": "économie", "value": 1.5}
TEXT = json.dumps(TOLD, ensure_ascii=False)


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "windows-1252", "utf-16", "UTF-16LE"])
def test_a_character_set_that_is_told_is_read(charset):
    for kind in (f"application/json; charset={charset}", f'application/json;charset="{charset}"'):
        assert decoded(in_utf8(TEXT.encode(charset), {"content-type": kind})) == TOLD


@pytest.mark.parametrize(
    "kind", ["application/json", "application/json; charset=utf-8", "application/json; charset=x-own"]
)
def test_letters_that_cannot_be_read_are_shown_so_and_spoil_no_number(kind):
    assert decoded(in_utf8(TEXT.encode("iso-8859-1"), {"content-type": kind})) == {**TOLD, "name": "\ufffdconomie"}


@pytest.mark.parametrize("charset", ["utf-16", "utf-16-le", "utf-32"])
def test_what_tells_its_character_set_by_itself_is_left_to_the_reader(charset):
    assert decoded(in_utf8(TEXT.encode(charset), {})) == TOLD
