"""Posts that may be pending: answered within about two seconds, counted once, given up when nobody wants them."""

import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from sqlalchemy import update

from addin.protocol.pending_batches import WANTED_BYTES
from dataservice.server.db.database import usage
from tests.addin.backends import backend_of
from tests.attack.parts.firm import until

SLUGS = ["us-cpi", "us-10y", "wb.gold", "btc-usd", "sp-500", "fx.eur-usd", "cboe.vix", "eth-usd"]
HISTORIES = [*SLUGS, "eia.wti.spot", "fx.usd-jpy"]
CALLS = [["SIGNAL", slug] for slug in SLUGS]


def post(backend, calls=CALLS, path="/functions/call?pending=yes&asks=yes"):
    response = backend.http.post(path, json={"calls": calls})
    assert response.status_code == 200, response.text
    return response.json()


def loaded(backend, calls=CALLS):
    """Post until nothing is pending: the answers, and the requests told by each post."""
    found, told = {}, []
    while calls:
        reply = post(backend, calls)
        told.append(reply["requests"])
        found |= {
            call[1]: answer for call, answer in zip(calls, reply["answers"], strict=True) if "pending" not in answer
        }
        calls = [call for call in calls if call[1] not in found]
    return found, told


def test_a_post_ends_within_about_two_seconds_and_the_rest_is_posted_again(backend, service):
    service.running.latency_s = 1.3
    began = time.monotonic()
    reply = post(backend)
    assert time.monotonic() - began < 10, "the bound of a busy machine"
    pending = [call for call, answer in zip(CALLS, reply["answers"], strict=True) if answer.get("pending")]
    assert pending
    assert reply["progress"]["of"] == len(CALLS)
    assert reply["progress"]["done"] == len(CALLS) - len(pending)
    service.running.latency_s = 0
    found, _ = loaded(backend)
    assert all(found[slug]["value"] for slug in SLUGS)


def test_what_all_posts_are_told_is_what_was_spent_and_nothing_is_fetched_twice(backend, service):
    service.running.latency_s = 0.4
    _, told = loaded(backend)
    assert sum(told) == service.running.request_count == len(SLUGS)
    assert len(told) > 1


def test_a_caller_that_does_not_know_of_pending_calls_waits_for_all(backend, service):
    service.running.latency_s = 1.2
    reply = post(backend, CALLS[:2], "/functions/call")
    assert all(answer["value"] for answer in reply["answers"])
    assert {"progress", "question"}.isdisjoint(reply)


def test_two_pages_that_want_the_same_share_one_load(backend, service):
    service.running.latency_s = 0.3
    post(backend)
    found, _ = loaded(backend)
    assert found.keys() == set(SLUGS)
    assert service.running.request_count == len(SLUGS)


@pytest.mark.parametrize("way", ["drop", "disconnect"])
def test_nothing_more_is_fetched_for_what_nobody_wants(backend, service, way):
    service.running.latency_s = 2.5  # the first name is tried alone, so only one request is under way
    if way == "drop":
        post(backend)
        post(backend, path="/functions/drop")
    else:
        with pytest.raises(httpx.ReadTimeout):
            backend.http.post("/functions/call?pending=yes", json={"calls": CALLS}, timeout=0.5)
    service.running.latency_s = 0
    for slug in (SLUGS[0], SLUGS[-1]):  # the last one would be the last to be fetched
        loaded(backend, [["SIGNAL", slug]])
    assert service.running.requests == [f"/v1/signals/{slug}?history=365" for slug in (SLUGS[0], SLUGS[-1])]


def test_a_batch_whose_caller_left_while_it_waited_for_its_turn_is_not_begun(service, tmp_path):
    first, left, last = CALLS[:3]
    with backend_of(service, tmp_path, max_user_batches=1) as backend, ThreadPoolExecutor(1) as threads:
        service.running.latency_s = 2.0
        answered = threads.submit(post, backend, [first], "/functions/call")
        while not service.running.request_count:
            assert not answered.done()
        with pytest.raises(httpx.ReadTimeout):
            backend.http.post("/functions/call", json={"calls": [left]}, timeout=0.5)
        assert answered.result()["answers"][0]["value"]
        post(backend, [last], "/functions/call")
    assert service.running.requests == [f"/v1/signals/{slug}?history=365" for _, slug in (first, last)]


def test_what_a_whole_batch_spent_whose_caller_left_before_its_answer_is_told_with_the_next(service, tmp_path):
    first, last = CALLS[:2]
    with backend_of(service, tmp_path) as backend:
        service.running.latency_s = 1.0
        with pytest.raises(httpx.ReadTimeout):
            backend.http.post("/functions/call", json={"calls": [first]}, timeout=0.5)
        told = []

        def is_told():  # the batch that was left goes on meanwhile
            told.append(post(backend, [last], "/functions/call")["requests"])
            return sum(told) == 2

        until(is_told, "both requests are told")
    assert service.running.request_count == 2


def test_calls_that_fill_the_room_of_all_are_pending_until_the_last_one(service, tmp_path):
    service.running.latency_s = 1.3
    with backend_of(service, tmp_path, requests_bytes=WANTED_BYTES * len(CALLS)) as backend:
        first = post(backend)
        pending = [call for call, answer in zip(CALLS, first["answers"], strict=True) if answer.get("pending")]
        assert first["progress"]["of"] == post(backend, pending)["progress"]["of"] == len(CALLS)
        service.running.latency_s = 0
        found, _ = loaded(backend)
    assert found.keys() == set(SLUGS)


def test_a_post_is_answered_soon_however_many_of_its_key_wait(service, tmp_path):
    with backend_of(service, tmp_path, max_user_batches=1) as backend, ThreadPoolExecutor(len(SLUGS)) as pages:
        backend.batch(["SIGNALS"])
        service.running.latency_s = 60
        began = time.monotonic()
        replies = list(pages.map(lambda slug: post(backend, [["SIGNAL", slug]]), SLUGS))
        assert time.monotonic() - began < 12, "one after another they take 16 seconds"
    assert all(reply["answers"] == [{"pending": True, "fresh_s": 0}] for reply in replies)


def test_a_post_for_whose_calls_there_is_no_room_is_answered_soon_and_pending(service, tmp_path):
    with backend_of(service, tmp_path, requests_bytes=WANTED_BYTES * 4) as backend:
        backend.batch(["SIGNALS"])
        service.running.latency_s = 60
        post(backend, CALLS[:4])
        before, began = service.running.request_count, time.monotonic()
        reply = post(backend, CALLS[4:])
        assert time.monotonic() - began < 10
        assert all(answer.get("pending") for answer in reply["answers"])
        assert service.running.request_count == before


def test_a_refresh_in_between_starts_again_and_every_call_ends(backend, service):
    service.running.latency_s = 1.1
    post(backend)
    backend.refresh("force")
    service.running.latency_s = 0
    found, _ = loaded(backend)
    assert all(found[slug]["value"] for slug in SLUGS)


@pytest.mark.parametrize("calls", [CALLS, [["SIGNAL_HISTORY", slug, "MAX"] for slug in HISTORIES]])
def test_a_service_that_hangs_ends_every_call_after_the_deadline_without_progress(service, tmp_path, calls):
    with backend_of(service, tmp_path, deadline_s=1) as backend:
        backend.batch(["SIGNALS"])
        service.running.latency_s = 60
        found, posts = loaded(backend, calls)
    assert {answer["kind"] for answer in found.values()} == {"offline"}
    assert len(posts) <= 3, "what waits for others to tell how long histories are has the same deadline"


def test_more_than_ask_above_is_asked_for_before_the_first_request(service, tmp_path):
    with backend_of(service, tmp_path, ask_above=5) as backend:
        reply = post(backend)
        question = reply["question"]
        assert {answer["kind"] for answer in reply["answers"]} == {"unconfirmed"}
        assert question["requests"] == len(SLUGS)
        assert backend.http.get("/status").json()["question"] == question
        assert service.running.request_count == 0
        taken = backend.http.post("/functions/consent", json={"question": question["id"], "load": True}).json()
        assert taken == {"taken": True}
        found, told = loaded(backend)
        assert all("value" in answer for answer in found.values())
        assert sum(told) == service.running.request_count == len(SLUGS)


def test_where_the_first_of_many_histories_are_long_the_rest_is_asked_for(service, tmp_path):
    calls = [["SIGNAL_HISTORY", slug, "MAX"] for slug in HISTORIES]
    with backend_of(service, tmp_path, ask_above=12) as backend:
        backend.batch(["SIGNALS"])
        found, told = loaded(backend, calls)
        waiting = [slug for slug, answer in found.items() if answer.get("kind") == "unconfirmed"]
        question = post(backend, calls)["question"]
        assert sum(told) + 1 == service.running.request_count <= 17
        assert len(waiting) >= len(HISTORIES) - 5
        assert question["text"].startswith(f"This needs about {question['requests']} requests of the ")
        assert question["requests"] > len(waiting)
        backend.http.post("/functions/consent", json={"question": question["id"], "load": True})
        found, more = loaded(backend, calls)
        assert all("columns" in answer for answer in found.values())
        assert sum(told) + sum(more) + 1 == service.running.request_count


def test_a_no_is_told_in_the_cells_until_a_refresh(service, tmp_path):
    with backend_of(service, tmp_path, ask_above=5) as backend:
        number = post(backend)["question"]["id"]
        backend.http.post("/functions/consent", json={"question": number, "load": False})
        reply = post(backend)
        assert "were not wanted; Refresh asks again" in reply["answers"][0]["message"]
        assert "question" not in reply
        backend.refresh()
        assert post(backend)["question"]["requests"] == len(SLUGS)
        assert service.running.request_count == 0


def test_values_that_were_known_stay_while_the_question_is_open(service, tmp_path):
    with backend_of(service, tmp_path, ask_above=8) as backend:
        found, _ = loaded(backend)
    with backend_of(service, tmp_path, ask_above=5, ttl_s=0.001) as backend:
        reply = post(backend)
        assert [answer["value"] for answer in reply["answers"]] == [found[slug]["value"] for slug in SLUGS]
        assert "not loaded" in reply["answers"][0]["stale"]["reason"]
        assert service.running.request_count == len(SLUGS)


def spent(service, key, used):
    with service.store.database.writing() as connection:
        connection.execute(
            update(usage).where(usage.c.key_hash == service.store.keys.find(key).key_hash).values(used=used)
        )


@pytest.mark.parametrize(("path", "asks"), [("/functions/call?pending=yes&asks=yes", True), ("/functions/call", False)])
def test_after_a_start_one_call_finds_out_whether_more_is_left_by_now(service, tmp_path, path, asks):
    key = service.store.create_key("pro", cap=1_000)
    with backend_of(service, tmp_path, key=key) as backend:
        assert "value" in post(backend, CALLS[:1], path)["answers"][0]
        spent(service, key, 996)
        assert "value" in post(backend, CALLS[1:2], path)["answers"][0]
        few = post(backend, CALLS[2:6], path)
        assert [answer["kind"] for answer in few["answers"]] == ["unconfirmed"] * 4
    with backend_of(service, tmp_path, key=key) as backend:
        for _ in range(2):
            reply = post(backend, CALLS[2:7], path)
            assert sum("value" in answer for answer in reply["answers"]) == 1, "it may be otherwise, and is not"
        assert ("question" in reply) == asks
        assert service.store.usage(key) == 998
    spent(service, key, 10)
    with backend_of(service, tmp_path, key=key) as backend:
        found = post(backend, CALLS, path)["answers"]
        assert all("value" in answer for answer in found), found
    assert service.store.usage(key) == 10 + len(CALLS) - 3


def test_a_host_without_a_pane_is_told_where_to_say_yes(service, tmp_path):
    with backend_of(service, tmp_path, ask_above=5) as backend:
        for path in ("/functions/call", "/functions/call?pending=yes"):
            message = post(backend, CALLS, path)["answers"][0]["message"]
            assert f"say yes at {backend.url}/taskpane.html and refresh; ask_above (5) sets" in message
        assert service.running.request_count == 0


@pytest.mark.parametrize("body", [{}, {"question": "1", "load": True}, {"question": 1}, {"question": 1, "load": "yes"}])
def test_what_is_no_answer_is_refused(backend, body):
    assert backend.http.post("/functions/consent", json=body).status_code == 400


def test_what_a_lost_answer_spent_is_told_once_with_the_repeat(backend, service):
    path = "/functions/call?asks=yes&post="  # which waits for all
    assert post(backend, path=f"{path}one")["requests"] == len(SLUGS)  # this answer is lost
    assert post(backend, path=f"{path}one")["requests"] == len(SLUGS)  # and so is this one
    told = [post(backend, CALLS[:1], path=f"{path}{name}&lost=one")["requests"] for name in ("two", "three")]
    assert told == [len(SLUGS), 0]
    assert service.running.request_count == len(SLUGS)


def test_what_a_post_under_way_spends_is_told_when_it_is_named_and_never_again(backend, service):
    service.running.latency_s = 0.4
    path = "/functions/call?pending=yes&post="
    with ThreadPoolExecutor(1) as threads:
        lost = threads.submit(post, backend, CALLS[:1], path=f"{path}lost")
        while service.running.request_count == 0:
            assert not lost.done()
        assert post(backend, [], path=f"{path}later&lost=lost")["requests"] == 1
    assert post(backend, [], path=f"{path}again&lost=lost")["requests"] == 0
    assert backend.http.get("/status").json()["requests_total"] == 1


@pytest.mark.parametrize("name", ["", "&post=left"])
def test_what_was_spent_for_a_page_that_left_is_told_with_the_next_post(backend, service, name):
    service.running.latency_s = 0.8
    with pytest.raises(httpx.ReadTimeout):
        backend.http.post(f"/functions/call?pending=yes{name}", json={"calls": CALLS[:1]}, timeout=0.3)
    _, told = loaded(backend, CALLS[:1])
    deadline = time.monotonic() + 20
    while sum(told) < 1 and time.monotonic() < deadline:
        told.append(post(backend, CALLS[:1], path="/functions/call?pending=yes&post=next&lost=left")["requests"])
    assert sum(told) == service.running.request_count == 1
