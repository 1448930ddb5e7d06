"""The backend in its good and bad hours: single flight, outages, used-up quotas, tiers."""

from concurrent.futures import ThreadPoolExecutor

from tests.addin.backends import backend_of


def test_equal_calls_of_a_batch_are_one_request(backend, service):
    response = backend.batch(*[["SIGNAL", "us-cpi"]] * 50)
    assert response["requests"] == service.running.request_count == 1
    assert len({answer["value"] for answer in response["answers"]}) == 1


def test_equal_batches_at_the_same_time_are_one_request(backend, service):
    service.running.latency_s = 0.1
    with ThreadPoolExecutor(50) as threads:
        responses = list(threads.map(lambda _: backend.batch(["SIGNAL", "us-cpi"]), range(50)))
    assert service.running.request_count == 1
    assert sum(response["requests"] for response in responses) == 1
    assert len({response["answers"][0]["value"] for response in responses}) == 1


def test_answers_keep_the_order_of_their_calls(backend):
    names = [["SIGNAL", slug, "slug"] for slug in ("us-cpi", "us-10y", "sp-500", "us-cpi", "wb.gold")]
    backend.batch(names[2])
    assert backend.values(*names) == ["us-cpi", "us-10y", "sp-500", "us-cpi", "wb.gold"]


def test_an_answer_says_how_long_it_stays_fresh(service, tmp_path):
    with backend_of(service, tmp_path, ttl_s=100.0) as backend:
        (answer,) = backend.batch(["SIGNAL", "us-cpi"])["answers"]
        assert 90 < answer["fresh_s"] <= 100
        (again,) = backend.batch(["SIGNAL", "us-cpi"])["answers"]
        assert again["fresh_s"] <= answer["fresh_s"]


def test_after_its_freshness_an_answer_is_asked_again(service, tmp_path):
    with backend_of(service, tmp_path, ttl_s=0.001) as backend:
        backend.batch(["SIGNAL", "us-cpi"])
        assert backend.batch(["SIGNAL", "us-cpi"])["requests"] == 1


def test_without_the_service_the_last_known_values_stay_and_say_why(backend, service):
    batch = [["SIGNAL", "us-cpi"], ["INDEX", "risk-dial"], ["SIGNAL_HISTORY", "us-10y", "N5"]]
    before = backend.batch(*batch)["answers"]
    service.running.stop()
    backend.refresh("force")
    response = backend.http.post("/functions/call", json={"calls": [*batch, ["SIGNAL", "sp-500"]]})
    assert response.elapsed.total_seconds() < 10  # it answers in about one second; the rest is for a busy machine
    *known, unknown = response.json()["answers"]
    for old, new in zip(before, known, strict=True):
        assert {**new, "fresh_s": 0} == {**old, "fresh_s": 0, "stale": new["stale"]}
        assert new["fresh_s"] == 0
        assert new["stale"]["reason"].startswith("the service did not answer")
    assert (unknown["error"], unknown["message"][:26]) == ("#N/A", "the service did not answer")


def test_when_the_service_is_back_a_refresh_brings_fresh_values(backend, service):
    backend.batch(["SIGNAL", "us-cpi"])
    service.running.stop()
    backend.refresh("force")
    assert "stale" in backend.batch(["SIGNAL", "us-cpi"])["answers"][0]
    service.running.start()
    backend.refresh()
    (answer,) = backend.batch(["SIGNAL", "us-cpi"])["answers"]
    assert "stale" not in answer
    assert answer["fresh_s"] > 0


def test_a_refresh_is_a_new_generation(backend):
    first = backend.batch(["INDEX", "risk-dial"])["generation"]
    assert backend.batch(["INDEX", "risk-dial"])["generation"] == first
    assert backend.refresh()["generation"] == first + 1
    assert backend.batch(["INDEX", "risk-dial"])["generation"] == first + 1


def test_a_refresh_of_what_is_fresh_costs_nothing_and_a_forced_one_asks_again(backend, service):
    backend.batch(["INDEX", "risk-dial"])
    backend.refresh()
    assert backend.batch(["INDEX", "risk-dial"])["requests"] == 0
    backend.refresh("force")
    assert backend.batch(["INDEX", "risk-dial"])["requests"] == 1
    assert service.running.request_count == 2


def test_a_free_key_is_told_that_the_wire_needs_another_tier(service, tmp_path):
    with backend_of(service, tmp_path, key=service.free_key) as backend:
        (answer,) = backend.batch(["WIRE"])["answers"]
        assert answer["error"] == "#N/A"
        assert answer["message"].startswith("WIRE needs the Pro tier")
        backend.batch(["WIRE"], ["WIRE", None, "filing"])
        assert service.running.request_count == 1


def test_a_free_key_sees_nothing_that_a_pro_key_left_in_the_cache(service, tmp_path):
    with backend_of(service, tmp_path) as pro:
        assert pro.batch(["WIRE"])["answers"][0]["rows"] > 0
    with backend_of(service, tmp_path, key=service.free_key) as free:
        (answer,) = free.batch(["WIRE"])["answers"]
        assert "columns" not in answer
        assert answer["message"].startswith("WIRE needs the Pro tier")


def test_with_three_requests_left_three_values_come_and_the_others_say_why(service, tmp_path):
    key = service.store.create_key("free", cap=3)
    slugs = ["us-cpi", "us-10y", "sp-500", "wb.gold", "cboe.vix"]
    with backend_of(service, tmp_path, key=key) as backend:
        response = backend.batch(*[["SIGNAL", slug] for slug in slugs])
        values = [answer for answer in response["answers"] if "value" in answer]
        errors = [answer for answer in response["answers"] if "error" in answer]
        assert (len(values), len(errors)) == (3, 2)
        assert {error["error"] for error in errors} == {"#N/A"}
        assert all("used up" in error["message"] for error in errors)
        assert response["quota"]["remaining"] == 0
        asked = service.running.request_count
        backend.batch(*[["SIGNAL", slug] for slug in slugs])
        assert service.running.request_count == asked


def test_a_batch_beyond_the_quota_is_reported_beforehand(service, tmp_path):
    key = service.store.create_key("free", cap=4)
    with backend_of(service, tmp_path, key=key, reserve=1) as backend:
        backend.batch(["SIGNAL", "us-cpi"])
        calls = [["SIGNAL", slug] for slug in ("us-cpi", "us-10y", "sp-500", "wb.gold")]
        preview = backend.http.post("/functions/cost", json={"calls": calls}).json()
    assert (preview["requests"], preview["fresh_calls"], preview["allowed"]) == (3, 1, False)
    assert preview["reason"] == "at least 3 requests needed, 2 left this month (1 more are held in reserve)"


def test_a_service_that_hangs_ends_in_time_with_an_error(service, tmp_path):
    service.running.latency_s = 5.0
    with backend_of(service, tmp_path, deadline_s=0.2) as backend:
        response = backend.http.post("/functions/call", json={"calls": [["SIGNAL", "us-cpi"], ["SIGNAL", "CPI"]]})
        assert response.elapsed.total_seconds() < 4.5
        for answer in response.json()["answers"]:
            assert answer["error"] == "#N/A"
            assert answer["message"].startswith("the service did not answer")


def test_a_formula_that_a_host_cannot_read_is_advised_on_at_no_request(backend, service):
    for formula, advice in (
        ('=SIGNAL("us-cpi")', "SIGNAL lacks the prefix DS: =DS.SIGNAL(…)"),
        ('=DS.SIGNAL("us-cpi";"unit")', "arguments are separated by commas, not by semicolons"),
        ("=SUMM(A1)", None),
    ):
        assert backend.http.post("/functions/advice", json={"formula": formula}).json() == {"advice": advice}
    assert service.running.request_count == 0
