"""Errors name the argument at fault, so that no program reads sentences; and sentences say what was probably meant."""

import json

from addin.protocol.encoding import encode, ending
from tests.udfs.parts.asking import session_on
from udfs.engine.session import Call

CALLS = [
    (["SIGNAL", "us-cpi", "date"], "field", "did you mean observed_at?"),
    (["SIGNAL", "us-cpi", "price"], "field", "did you mean value?"),
    (["WIRE", None, None, None, None, 5, None, None, "title"], "fields", "did you mean headline?"),
    (["SIGNAL", "us-cpi", None, "yesterday-ish"], "at", "is not a date"),
    (["SIGNAL", "us-cpi", None, -5.0], "at", "for 5 days back"),
    (["SIGNAL", None], "slug", "slug is missing"),
    (["SIGNAL", "no-such-signal"], "slug", "no signal 'no-such-signal'"),
    (["INDEX", "no-such-index"], "slug", "no index 'no-such-index'"),
    (["SIGNALS", None, "no-such-category"], "category", "no category"),
    (["SIGNAL_HISTORY", "us-cpi", "5Y"], "start", "did you mean -5Y?"),
    (["SIGNAL_HISTORY", "us-cpi", "2020"], "start", "did you mean 2020-01-01?"),
    (["SIGNAL_HISTORY", "us-cpi", "31.12.2025"], "start", "did you mean 2025-12-31?"),
    (["SIGNAL_HISTORY", "us-cpi", "12/31/2025"], "start", "did you mean 2025-12-31?"),
    (["SIGNAL_HISTORY", "us-cpi", "3/4/2025"], "start", "did you mean 2025-03-04 or 2025-04-03?"),
    (["SIGNAL_HISTORY", "us-cpi", "4/4/2025"], "start", "did you mean 2025-04-04?"),
    (["SIGNAL_HISTORY", "us-cpi", "30.2.2025"], "start", "'30.2.2025' is not a date; it takes"),
    (["SIGNAL_HISTORY", "us-cpi", "2020-06"], "start", "did you mean 2020-06-01?"),
    (["SIGNAL_HISTORY", "us-cpi", "2020Q2"], "start", "did you mean 2020-04-01?"),
    (["SIGNAL_HISTORY", "us-cpi", "2020-q2"], "start", "did you mean 2020-04-01?"),
    (["SIGNAL_HISTORY", "us-cpi", "-1Y", "2020Q2"], "end", "did you mean 2020-06-30?"),
    (["SIGNAL_HISTORY", "us-cpi", "-1Y", "2020-02"], "end", "did you mean 2020-02-29?"),
    (["SIGNAL_HISTORY", "us-cpi", "-1Y", "2020"], "end", "did you mean 2020-12-31?"),
    (["SIGNAL_HISTORY", "us-cpi", "-1Y", "2025-06-31"], "end", "there is no such day, did you mean 2025-06-30?"),
    (["SIGNAL_HISTORY", "us-cpi", "2023-02-29"], "start", "there is no such day, did you mean 2023-02-28?"),
    (["SIGNAL_HISTORY", "us-cpi", "-1Y", "freq=Q"], "end", "options are the last argument, so leave end empty"),
    (["SIGNAL_HISTORY", "us-cpi", None, None, "freq=Q, fill=prev"], "options", "separated by semicolons"),
    (["SIGNAL_HISTORY", "us-cpi", None, None, "freq=X"], "option freq", "is not one of"),
    (["SIGNAL_HISTORY", "us-cpi", None, None, "frequency=M"], "options", "there is no option 'frequency'"),
]


async def test_an_error_names_its_argument_and_what_was_meant(sample_service):
    async with session_on(sample_service) as session:
        outcomes = await session.answer([Call(function, args) for (function, *args), _, _ in CALLS])
    found = [(outcome.result.argument, outcome.result.message) for outcome in outcomes]
    wrong = [
        (call, *told)
        for (call, argument, said), told in zip(CALLS, found, strict=True)
        if told[0] != argument or said not in told[1]
    ]
    assert wrong == []


async def test_programs_are_told_the_kind_and_the_argument_beside_the_sentence(sample_service):
    async with session_on(sample_service) as session:
        (outcome,) = await session.answer([Call("SIGNAL_HISTORY", ["us-cpi", "5Y"])])
    told = json.loads(encode(outcome, "SIGNAL_HISTORY") + ending(0))
    assert (told["error"], told["kind"], told["argument"]) == ("#VALUE!", "argument", "start")
