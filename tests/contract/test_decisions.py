"""What the contract leaves open and the embedded service decided (docs/server.md lists the same)."""

import pytest

from tests.contract.shapes import ERROR, HEADERS, OBSERVATION, PAGINATION, misfits

pytestmark = pytest.mark.usefixtures("embedded")

OUT_OF_RANGE = [
    ("/v1/signals", "limit", "0"),
    ("/v1/signals", "limit", "501"),
    ("/v1/signals", "limit", "many"),
    ("/v1/signals", "limit", "1.5"),
    ("/v1/signals", "offset", "-1"),
    ("/v1/signals", "offset", "99999999999999999999"),
    ("/v1/signals/us-cpi", "history", "-1"),
    ("/v1/signals/us-cpi", "history", "366"),
    ("/v1/signals/us-cpi/observations", "start", "yesterday"),
    ("/v1/signals/us-cpi/observations", "start", "2024-02-30"),
    ("/v1/signals/us-cpi/observations", "end", "20240229"),
    ("/v1/signals/us-cpi/observations", "end", "1709164800"),
    ("/v1/signals/us-cpi/observations", "offset", "-5"),
    ("/v1/codex", "limit", "201"),
    ("/v1/codex", "since", "last week"),
    ("/v1/codex", "since", "2024-02-29T25:00:00Z"),
    ("/v1/codex", "story_type", "novel"),
    ("/v1/almanac", "story_type", ""),
    ("/v1/wire", "limit", "201"),
    ("/v1/wire", "since", "0000"),
    ("/v1/wire", "min_importance", "-1"),
    ("/v1/wire", "min_importance", "101"),
    ("/v1/wire", "kind", "rumour"),
]


def remaining(answer):
    return int(answer.headers["X-Service-RateLimit-Remaining"])


@pytest.mark.parametrize(("path", "name", "value"), OUT_OF_RANGE)
def test_a_malformed_or_out_of_range_parameter_is_refused_by_name(pro, path, name, value):
    answer = pro.get(path, **{name: value})
    assert answer.status_code == 400
    assert misfits(answer.json(), ERROR) == []
    assert answer.json()["error"].startswith(f"{name}: must be")


def test_every_refused_parameter_is_named(pro):
    error = pro.get("/v1/wire", limit=0, kind="x").json()["error"]
    assert "limit: " in error
    assert "kind: " in error


def test_a_parameter_the_contract_does_not_name_is_ignored(pro):
    assert pro.get("/v1/signals", wibble="1").json() == pro.get("/v1/signals").json()


def test_observations_come_in_the_envelope_of_the_catalogue_and_take_an_offset(pro, long_slug):
    path = f"/v1/signals/{long_slug}/observations"
    first, second = pro.get(path).json(), pro.get(path, offset=1_000).json()
    assert misfits(first["pagination"], PAGINATION) == []
    assert first["pagination"]["limit"] == 1_000
    assert second["pagination"] == {**first["pagination"], "offset": 1_000}
    assert first["data"][-1]["observed_at"] < second["data"][0]["observed_at"]
    assert len(first["data"]) + len(second["data"]) == min(2_000, first["pagination"]["total"])


def test_a_window_that_ends_before_it_starts_is_empty(pro, slug):
    answer = pro.get(f"/v1/signals/{slug}/observations", start="2024-02-01", end="2024-01-01").json()
    assert (answer["data"], answer["pagination"]["total"]) == ([], 0)


def test_an_index_carries_its_reading_as_latest(pro):
    assert [misfits(index["latest"], OBSERVATION) for index in pro.data("/v1/indices")] == [[]] * 4


def test_history_counts_observations_the_newest_ones_oldest_first(pro, long_slug):
    detail = pro.data(f"/v1/signals/{long_slug}", history=40)
    path = f"/v1/signals/{long_slug}/observations"
    total = pro.get(path).json()["pagination"]["total"]
    assert detail["history"] == pro.data(path, offset=total - 40)


def test_no_history_can_be_asked_for(pro, slug):
    detail = pro.data(f"/v1/signals/{slug}", history=0)
    assert detail["history"] == []
    assert misfits(detail["latest"], OBSERVATION) == []


@pytest.mark.parametrize("path", ["/v1/codex", "/v1/almanac", "/v1/wire"])
def test_what_is_published_is_listed_newest_first(pro, path):
    times = [record["published_at"] for record in pro.data(path)]
    assert times == sorted(times, reverse=True)


@pytest.mark.parametrize("path", ["/v1/signals", "/v1/indices", "/v1/currents"])
def test_what_is_catalogued_is_listed_by_slug(pro, path):
    slugs = [record["slug"] for record in pro.data(path)]
    assert slugs == sorted(slugs)


def test_the_codex_ignores_beat_and_the_almanac_answers_like_the_codex(pro):
    assert pro.data("/v1/codex", beat="no-such-beat") == pro.data("/v1/almanac") == pro.data("/v1/codex")


def test_since_takes_a_date_and_an_offset(pro):
    assert pro.data("/v1/wire", since="2026-08-01") == pro.data("/v1/wire", since="2026-08-01T02:00:00+02:00")


def test_the_headers_are_a_lower_case_word_and_whole_numbers(pro):
    answer = pro.get("/v1/indices")
    assert answer.headers["X-Service-Tier"] == "pro"
    assert answer.headers["X-Service-RateLimit-Cap"] == "50000"
    assert answer.headers["X-Service-RateLimit-Remaining"].isdecimal()


def test_without_an_accepted_key_the_headers_are_an_empty_tier_and_zeros(nobody):
    for path in ("/v1/signals", "/no-such-path", "/openapi.json"):
        answer = nobody.get(path)
        assert [answer.headers[name] for name in HEADERS] == ["", "0", "0"]


def test_every_answer_of_an_accepted_key_spends_one(pro):
    before = remaining(pro.get("/v1/indices"))
    for path in ("/v1/signals", "/v1/signals/no-such-signal", "/v1/wire?limit=0", "/no-such-path"):
        answer = pro.get(path) if "?" not in path else pro.http.get(path)
        before -= 1
        assert remaining(answer) == before


def test_a_locked_endpoint_spends_one_too(free):
    assert remaining(free.get("/v1/wire")) == remaining(free.get("/v1/wire")) + 1


def test_a_locked_endpoint_says_so_before_it_looks_at_parameters(free):
    assert free.get("/v1/wire", limit="x").status_code == 402


def test_the_descriptions_spend_nothing(pro):
    before = remaining(pro.get("/v1/indices"))
    assert remaining(pro.get("/openapi.json")) == before
    assert remaining(pro.get("/.well-known/ai-plugin.json")) == before


def test_head_answers_like_get_without_the_body(pro):
    head, get = (pro.http.request(method, "/v1/signals/us-cpi") for method in ("HEAD", "GET"))
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Length"] == get.headers["Content-Length"]


def test_options_names_the_methods_and_other_methods_are_refused(pro):
    options, post = (pro.http.request(method, "/v1/signals") for method in ("OPTIONS", "POST"))
    assert (options.status_code, options.headers["Allow"]) == (204, "GET, HEAD, OPTIONS")
    assert (post.status_code, post.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")
    assert misfits(post.json(), ERROR) == []


def test_an_unknown_path_answers_with_the_error_body(pro):
    assert misfits(pro.get("/v1/no-such-endpoint").json(), ERROR) == []


def test_strange_characters_in_names_find_nothing_and_break_nothing(pro):
    for name in ("%00", "%F0%9F%93%88", "..", "a%20b", "%C3%28", "'%20OR%201=1--"):
        assert pro.http.get(f"/v1/signals/{name}x").status_code == 404
        assert pro.http.get(f"/v1/wire?source={name}").json() == {"data": []}
