"""The messages between hosts and the backend: what one side writes, every host reads."""

import msgspec
import pytest
from msgspec import UNSET

from addin.calc.component import protocol as in_calc
from addin.calc.component.backend import is_pending
from addin.calc.component.values import value_of
from addin.protocol.messages import (
    Answer,
    Column,
    Progress,
    Question,
    Quota,
    Refreshed,
    Reply,
    Stale,
    encode,
    encode_around,
)


class Noticed(dict):
    """An answer that notes which of its members are read."""

    def __init__(self, members):
        super().__init__(members)
        self.read = set()

    def __getitem__(self, name):
        self.read.add(name)
        return super().__getitem__(name)

    def get(self, name, default=None):
        self.read.add(name)
        return super().get(name, default)


QUOTA = Quota("free", 1_000, 700, 12)
LOADING = Reply([], 3, QUOTA, 7, Progress(1, 10, None, "the service allows 2 a second"), Question(4, 9_500, None, "?"))
DONE = Reply([], 0, None, 7)


@pytest.mark.parametrize("reply", [LOADING, DONE])
def test_the_answers_go_between_the_two_parts_of_a_reply(reply):
    head, tail = encode_around(reply)
    answers = [b'{"value":1.5,"fresh_s":9.0}', b'{"pending":true,"fresh_s":0.0}']
    read = msgspec.json.decode(head + b",".join(answers) + tail, type=Reply)
    assert read.answers == [Answer(9.0, value=1.5), Answer(0.0, pending=True)]
    assert msgspec.structs.replace(read, answers=[]) == reply


@pytest.mark.parametrize("reply", [LOADING, DONE])
def test_calc_reads_every_member_of_a_reply(reply):
    sent = msgspec.json.decode(encode(reply))
    read = in_calc.read(in_calc.Reply, sent)
    assert read._asdict().keys() == {each.name for each in msgspec.structs.fields(Reply)}
    assert (read.generation, read.requests) == (reply.generation, reply.requests)
    if reply is LOADING:
        assert read.progress == in_calc.Progress(1, 10, None, "the service allows 2 a second")
        assert (read.question.id, read.question.requests) == (4, 9_500)
        assert read.quota.remaining == 700


def test_calc_reads_every_member_of_an_answer_but_what_it_has_no_place_for():
    error = Answer(60.0, error="#N/A", message="no", kind="no_data", argument="at", instead="=DS.SIGNALS()")
    table = Answer(9.0, rows=1, header=["a"], columns=[Column("number", [1.5])])
    told = [Answer(9.0, value=1, type="date", stale=Stale(900.0, "late")), error, table, Answer(0.0, pending=True)]
    read = set()
    for answer in told:
        noticed = Noticed(msgspec.to_builtins(answer))
        if not is_pending(noticed):
            value_of(noticed)
            value_of(noticed, days_later=1)  # which counts dates, by their type
        read |= noticed.read
    members = {each.name for each in msgspec.structs.fields(Answer)}
    assert members == set().union(*map(msgspec.to_builtins, told)), "each member is told by one of these answers"
    assert members - read == {"rows", "kind", "argument", "instead"}


def test_calc_reads_what_a_later_backend_adds():
    sent = msgspec.to_builtins(Refreshed(8, QUOTA)) | {"colour": "blue"}
    assert in_calc.read(in_calc.Refreshed, sent).generation == 8


@pytest.mark.parametrize("members", [{}, {"answers": []}, {"error": "no"}])
def test_calc_refuses_what_is_no_reply(members):
    with pytest.raises(ValueError, match="not a Reply of the backend's protocol"):
        in_calc.read(in_calc.Reply, members)


def test_what_is_absent_is_not_sent():
    assert b"progress" not in encode(DONE)
    assert msgspec.json.decode(encode(DONE), type=Reply).progress is UNSET


def test_an_answer_with_a_member_that_is_not_in_the_protocol_is_refused():
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"fresh_s":1,"colour":"blue"}', type=Answer)
