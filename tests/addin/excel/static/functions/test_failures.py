"""Whatever happens to a batch, every cell of it ends in time, with a reason, and the next call works again."""

import asyncio

import pytest
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

DEADLINE_MS = 1_000


async def internal_error(_):
    return JSONResponse({"error": "the backend failed (KeyError); please report this"}, 500)


async def too_large(_):
    return JSONResponse({"error": "10,001 calls are more than 10,000 in one batch (setting max_calls)"}, 413)


async def a_page(_):
    return HTMLResponse("<!doctype html><h1>Sign in</h1>")


async def an_error_page(_):
    return HTMLResponse("<!doctype html><h1>Bad gateway</h1>", 502)


async def half_an_answer(_):
    return Response('{"answers":[{"value":1,"fresh_s":9', media_type="application/json")


async def an_empty_answer(_):
    return Response("")


async def too_few_answers(_):
    return JSONResponse({"answers": [{"value": 1, "fresh_s": 9}], "requests": 0, "quota": None, "generation": 1})


async def no_answers(_):
    return JSONResponse({"error": "nothing"})


async def null(_):
    return JSONResponse(None)


async def a_connection_that_breaks(_):
    async def body():
        yield b'{"answers":['
        raise ConnectionResetError

    return StreamingResponse(body(), media_type="application/json", headers={"content-length": "1000"})


async def never(_):
    await asyncio.Event().wait()


async def never_the_rest(_):
    async def body():
        yield b'{"answers":['
        await asyncio.Event().wait()

    return StreamingResponse(body(), media_type="application/json")


REASONS = {
    internal_error: "refused (500: the backend failed (KeyError)",
    too_large: "(413: 10,001 calls are more than 10,000 in one batch",
    an_error_page: "refused (502)",
    a_page: "gave no whole answer",
    half_an_answer: "gave no whole answer",
    an_empty_answer: "gave no whole answer",
    too_few_answers: "returned 1 answers for 2 calls",
    no_answers: "returned 0 answers for 2 calls",
    null: "returned 0 answers for 2 calls",
    a_connection_that_breaks: "gave no whole answer",
    never: "did not answer within 1 s",
    never_the_rest: "did not answer within 1 s",
}


@pytest.fixture
def page(page):
    page.evaluate("(ms) => { DataServiceAddin.backend.deadlineMs = ms; }", DEADLINE_MS)
    return page


@pytest.mark.parametrize("reply", REASONS, ids=lambda reply: reply.__name__)
def test_every_cell_of_a_failed_batch_ends_with_the_reason(page, scripted, reply):
    scripted.reply = reply
    told = page.evaluate("Promise.all([call('SIGNAL', 'x'), call('SIGNAL', 'y'), call('SIGNAL', 'x')])")
    assert [cell["error"] for cell in told] == ["#N/A"] * 3
    assert {REASONS[reply] in cell["message"] for cell in told} == {True}, told
    assert page.evaluate("DataServiceAddin.waiting") == 0

    scripted.reply = None
    assert page.evaluate("call('SIGNAL', 'x')") == {"value": [["x"]]}


def test_a_backend_that_is_gone_is_told_with_the_command_that_starts_it(page):
    page.evaluate("() => { globalThis.fetch = () => Promise.reject(new TypeError('Failed to fetch')); }")
    page.evaluate("() => { DataServiceAddin.backend.deadlineMs = 20_000; }")
    told = page.evaluate("call('SIGNAL', 'x')")
    assert told["message"] == "the add-in's backend is not there (Failed to fetch); start it with: addin serve"


def test_a_call_whose_connection_breaks_is_answered_by_the_next_worker(page, scripted):
    async def once(request):
        scripted.reply = None
        return await a_connection_that_breaks(request)

    scripted.reply = once
    assert page.evaluate("call('SIGNAL', 'x')") == {"value": [["x"]]}
    assert len(scripted.batches) == 2


@pytest.mark.parametrize(("status", "kind"), [(503, "restarting"), (503, "busy"), (429, "busy")])
def test_a_call_that_a_restart_or_a_crowd_has_refused_is_made_again(page, scripted, status, kind):
    async def once(_):
        scripted.reply = None
        return JSONResponse({"error": "not now", "kind": kind}, status)

    scripted.reply = once
    assert page.evaluate("call('SIGNAL', 'x')") == {"value": [["x"]]}
    assert len(scripted.batches) == 2


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_call_that_a_proxy_cannot_pass_on_is_made_again(page, scripted, status):
    async def once(_):
        scripted.reply = None
        return HTMLResponse("<!doctype html><h1>No backend</h1>", status)

    scripted.reply = once
    assert page.evaluate("call('SIGNAL', 'x')") == {"value": [["x"]]}
    assert len(scripted.batches) == 2


def test_a_backend_that_has_answered_and_breaks_off_is_given_time_to_restart(page):
    page.evaluate("() => { DataServiceAddin.backend.deadlineMs = 20_000; }")
    assert page.evaluate("call('SIGNAL', 'x')") == {"value": [["x"]]}
    page.evaluate("""() => {
      const send = globalThis.fetch;
      let failures = 3;  // more than are tried where nobody has answered yet
      const broken = () => Promise.reject(new TypeError("Failed to fetch"));
      globalThis.fetch = (...sent) => (failures-- > 0 ? broken() : send(...sent));
    }""")
    assert page.evaluate("call('SIGNAL', 'y')") == {"value": [["y"]]}


def test_a_fetch_that_ignores_its_signal_does_not_hold_a_cell(page):
    page.evaluate("() => { globalThis.fetch = () => new Promise(() => {}); }")
    assert "did not answer within 1 s" in page.evaluate("call('SIGNAL', 'x')")["message"]


def test_a_failure_is_not_remembered(page, scripted):
    scripted.reply = internal_error
    page.evaluate("call('SIGNAL', 'x')")
    page.evaluate("call('SIGNAL', 'x')")
    assert len(scripted.batches) == 2


def test_a_fault_in_the_task_pane_costs_no_cell_its_value(page):
    page.evaluate("() => { DataServiceAddin.on('reply', () => { throw new Error('pane'); }); }")
    assert page.evaluate("call('SIGNAL', 'x')") == {"value": [["x"]]}


def test_listeners_hear_of_replies_until_they_leave(page):
    page.evaluate(
        "() => { globalThis.heard = []; globalThis.leave = DataServiceAddin.on('reply', (r) => heard.push(r)); }"
    )
    page.evaluate("call('SIGNAL', 'x')")
    page.evaluate("(leave(), call('SIGNAL', 'y'))")
    assert page.evaluate("heard.map((reply) => reply.generation)") == [1]
