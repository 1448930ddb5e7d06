"""Cells that load: pending calls are posted again, shown as progress, stopped, cancelled, and asked about."""

from starlette.responses import JSONResponse

from tests.addin.excel.parts.scripted_backend import echo, fresh

PENDING = {"pending": True, "fresh_s": 0}
QUESTION = {"id": 7, "requests": 900, "left": 500, "text": "This needs 900 requests, and only 500 are left this month."}


def loading(scripted, *, at_a_time, of):
    """Answer so many calls of each post, and say how far that is."""
    done = 0

    async def reply(request):
        nonlocal done
        calls = scripted.batches[-1]
        answers = [echo(call) if place < at_a_time else PENDING for place, call in enumerate(calls)]
        done += min(at_a_time, len(calls))
        progress = {"done": done, "of": of, "left_s": 20.4}
        return JSONResponse({**scripted.replied(answers), "progress": progress})

    scripted.reply = reply


def test_pending_calls_are_posted_again_until_each_has_its_value(page, scripted):
    loading(scripted, at_a_time=4, of=10)
    values = page.evaluate("Promise.all([...Array(10).keys()].map((i) => call('SIGNAL', `s-${i}`)))")
    assert values == [{"value": [[f"s-{i}"]]} for i in range(10)]
    assert [len(batch) for batch in scripted.batches] == [10, 6, 2]


def test_values_are_there_as_soon_as_they_are_answered(page, scripted):
    loading(scripted, at_a_time=1, of=2)
    page.evaluate("""() => {
      globalThis.order = [];
      const note = (name) => order.push([name, DataServiceAddin.waiting]);
      return Promise.all(["a", "b"].map((name) => call("SIGNAL", name).then(() => note(name))));
    }""")
    assert page.evaluate("order") == [["a", 1], ["b", 0]]


def test_the_page_tells_how_far_it_is(page, scripted):
    loading(scripted, at_a_time=2, of=1234)
    page.evaluate("""() => {
      globalThis.texts = [];
      DataServiceAddin.on("loading", () => texts.push(DataServiceAddin.loading.text));
      return Promise.all([...Array(5).keys()].map((i) => call("SIGNAL", `s-${i}`)));
    }""")
    texts = page.evaluate("texts")
    assert texts[0] == "0 of 5, about 20 s"
    assert "2 of 5, about 20 s" in texts
    assert texts[-1] == ""


def test_what_each_post_was_told_to_have_spent_is_summed_up(page, scripted):
    scripted.requests_per_batch = 3
    loading(scripted, at_a_time=1, of=4)
    page.evaluate("Promise.all([...Array(4).keys()].map((i) => call('SIGNAL', `s-${i}`)))")
    assert page.evaluate("DataServiceAddin.spent.requests") == 12


def test_a_backend_that_fails_on_the_way_ends_the_rest_with_its_reason(page, scripted):
    async def reply(request):
        calls = scripted.batches[-1]
        if len(scripted.batches) > 1:
            return JSONResponse({"error": "no room"}, 503)
        return JSONResponse(scripted.replied([fresh("here"), *[PENDING] * (len(calls) - 1)]))

    scripted.reply = reply
    first, second = page.evaluate("Promise.all(['a', 'b'].map((name) => call('SIGNAL', name)))")
    assert first == {"value": [["here"]]}
    assert "no room" in second["message"]


CANCEL = """async ([stays]) => {
  const invocations = ["a", "a", "b"].map(() => ({}));
  const results = ["a", "a", "b"].map((name, i) => functions.SIGNAL(name, invocations[i]).then(
    ([[value]]) => value, (error) => error.message));
  while (DataServiceAddin.totals.batches === 0) await new Promise((go) => setTimeout(go, 5));
  invocations.forEach((invocation, i) => i !== stays && invocation.onCanceled());
  return Promise.all(results);
}"""


def test_a_cell_that_was_deleted_is_not_posted_again_and_the_backend_is_told(page, scripted):
    loading(scripted, at_a_time=0, of=2)
    asked = page.evaluate("""async () => {
      const invocation = {};
      const gone = functions.SIGNAL("gone", invocation).catch((error) => error.message);
      while (DataServiceAddin.totals.batches === 0) await new Promise((go) => setTimeout(go, 5));
      invocation.onCanceled();
      const waiting = DataServiceAddin.waiting;
      return [await gone, waiting];
    }""")
    assert asked == ["not wanted any more", 0]
    page.evaluate("new Promise((go) => setTimeout(go, 50))")
    assert ("/functions/drop", {"calls": [["SIGNAL", "gone"]]}) in scripted.requests
    posts = len(scripted.batches)
    page.evaluate("new Promise((go) => setTimeout(go, 50))")
    assert len(scripted.batches) == posts


def test_a_call_that_another_cell_still_needs_goes_on(page, scripted):
    loading(scripted, at_a_time=1, of=2)
    assert page.evaluate(CANCEL, [1]) == ["a", "a", "not wanted any more"]


def test_a_cell_that_makes_the_same_call_again_gets_its_value(page, scripted):
    scripted.reply = None
    value = page.evaluate("""async () => {
      const invocation = {};
      functions.SIGNAL("a", invocation).catch(() => undefined);
      invocation.onCanceled();
      return call("SIGNAL", "a");
    }""")
    assert value == {"value": [["a"]]}
    assert scripted.requests == []


def test_stop_ends_what_loads(page, scripted):
    loading(scripted, at_a_time=0, of=1)
    result = page.evaluate("""async () => {
      const result = call("SIGNAL", "a");
      while (DataServiceAddin.totals.batches === 0) await new Promise((go) => setTimeout(go, 5));
      DataServiceAddin.stop();
      return result;
    }""")
    assert result == {"error": "#N/A", "message": "stopped; press Refresh to load it"}


def test_a_question_is_there_until_it_is_answered(page, scripted):
    async def reply(request):
        refused = {"error": "#N/A", "message": "not loaded", "kind": "unconfirmed", "fresh_s": 0}
        return JSONResponse({**scripted.replied([refused]), "question": QUESTION})

    scripted.reply = reply
    assert page.evaluate("call('SIGNAL', 'a')")["message"] == "not loaded"
    assert page.evaluate("DataServiceAddin.loading.question") == QUESTION
    scripted.reply = None
    value = page.evaluate("""async () => {
      const answered = new Promise((go) => DataServiceAddin.on("answered", go));
      await DataServiceAddin.answerQuestion(7, true);
      await answered;
      return call("SIGNAL", "a");
    }""")
    assert value == {"value": [["a"]]}
    assert scripted.requests[0] == ("/functions/consent", {"question": 7, "load": True})


def test_a_question_that_was_answered_elsewhere_is_noticed(page, scripted):
    async def reply(request):
        return JSONResponse({**scripted.replied([fresh("old")]), "question": QUESTION})

    scripted.reply = reply
    page.evaluate("call('SIGNAL', 'a')")
    page.evaluate("new Promise((go) => DataServiceAddin.on('answered', go))")
    assert page.evaluate("DataServiceAddin.loading.question") is None
