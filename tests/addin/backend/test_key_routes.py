"""The key through the backend: set, tried, forgotten, never shown; and in a shared deployment one for each user."""

import httpx
import pytest

from addin.config.api_key import KeySource
from tests.addin.backends import backend_of

WRONG = "ds_" + "0" * 40


def test_the_status_tells_of_the_key_without_showing_it(backend, service):
    key = backend.http.get("/status").json()["key"]
    assert key == {"set": True, "source": "config", "id": service.key[-4:]}


def test_a_key_that_is_set_is_used_at_once_and_kept(service, tmp_path):
    with backend_of(service, tmp_path, key="") as backend:
        (answer,) = backend.batch(["SIGNAL", "us-cpi"])["answers"]
        assert (answer["error"], answer["message"][:10]) == ("#N/A", "no API key")
        response = backend.http.post("/key", json={"key": service.key})
        assert response.json()["key"] == {"set": True, "source": "file", "id": service.key[-4:]}
        assert "value" in backend.batch(["SIGNAL", "us-cpi"])["answers"][0]
        assert backend.keys.load().source is KeySource.FILE


def test_a_new_key_is_a_new_generation_and_sees_nothing_of_the_old(backend, service):
    before = backend.batch(["WIRE"])
    assert before["answers"][0]["rows"] > 0
    generation = backend.http.post("/key", json={"key": service.free_key}).json()["generation"]
    after = backend.batch(["WIRE"])
    assert after["generation"] == generation > before["generation"]
    assert after["answers"][0]["message"].startswith("WIRE needs the Pro tier")


def test_a_forgotten_key_is_used_no_more(backend):
    backend.http.delete("/key")
    assert backend.http.get("/status").json()["key"] == {"set": False, "source": "none", "id": None}
    assert backend.batch(["SIGNAL", "us-cpi"])["answers"][0]["message"].startswith("no API key")


def test_trying_a_key_costs_one_request_and_tells_its_tier(backend, service):
    tried = backend.http.post("/key/test", json={"key": service.free_key}).json()
    assert (tried["ok"], tried["tier"]) == (True, "free")
    assert service.running.request_count == 1
    assert backend.http.post("/key/test", json={"key": None}).json()["tier"] == "pro"
    assert backend.http.get("/status").json()["key"]["id"] == service.key[-4:]


def test_trying_a_wrong_key_says_what_to_do(backend):
    tried = backend.http.post("/key/test", json={"key": WRONG}).json()
    assert tried["ok"] is False
    assert tried["message"].startswith("the key was refused")
    assert tried["kind"] == "key_refused"


def test_errors_are_told_with_their_kind(backend):
    backend.http.delete("/key")
    assert backend.batch(["SIGNAL", "us-cpi"])["answers"][0]["kind"] == "key_missing"
    resources = backend.http.get("/status").json()["resources"]
    assert [each["last_error_kind"] for each in resources] == ["key_missing"]


@pytest.mark.parametrize("content", [{}, {"key": 7}, {"key": ""}, {"key": "ds_short"}, {"key": None}])
def test_what_is_no_key_is_refused(backend, content):
    response = backend.http.post("/key", json=content)
    assert response.status_code == 400
    assert response.json()["error"]


def test_a_key_with_a_request_is_refused_where_it_is_not_allowed(backend, service):
    response = backend.http.post(
        "/functions/call", json={"calls": []}, headers={"X-Data-Service-Key": service.free_key}
    )
    assert response.status_code == 403
    assert "per_user_keys" in response.json()["error"]


def test_a_key_with_a_request_is_taken_over_https_only(service, tmp_path):
    with backend_of(service, tmp_path, per_user_keys=True) as backend:
        headers = {"X-Data-Service-Key": service.free_key}
        assert backend.http.post("/functions/call", json={"calls": []}, headers=headers).status_code == 403
        headers["X-Forwarded-Proto"] = "https"  # as a reverse proxy on this machine says
        assert backend.http.post("/functions/call", json={"calls": []}, headers=headers).status_code == 200


def test_each_user_of_a_shared_deployment_sees_by_their_own_key(service, tmp_path):
    with backend_of(service, tmp_path, key="", per_user_keys=True, max_users=1) as backend:
        for _ in range(2):
            assert _as_user(backend, service.key)["answers"][0]["rows"] > 0
            assert _as_user(backend, service.free_key)["answers"][0]["message"].startswith("WIRE needs the Pro")
        assert backend.batch(["WIRE"])["answers"][0]["message"].startswith("no API key")
    assert service.store.usage(service.key) == 1


def test_a_shared_deployment_keeps_no_key(service, tmp_path):
    with backend_of(service, tmp_path, key="", per_user_keys=True) as backend:
        assert backend.http.post("/key", json={"key": service.key}).status_code == 403
        assert backend.http.delete("/key").status_code == 403
        assert backend.http.post("/key/test", json={"key": service.key}).status_code == 403


def test_something_else_in_place_of_a_users_key_is_refused(service, tmp_path):
    with backend_of(service, tmp_path, per_user_keys=True) as backend:
        headers = {"X-Data-Service-Key": "x", "X-Forwarded-Proto": "https"}
        response: httpx.Response = backend.http.post("/functions/call", json={"calls": []}, headers=headers)
    assert response.status_code == 400


def _as_user(backend, key):
    return backend.batch(["WIRE"], **{"X-Data-Service-Key": key, "X-Forwarded-Proto": "https"})
