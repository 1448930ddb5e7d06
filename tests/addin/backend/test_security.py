"""The backend answers to its own names, to its own pages, and to JSON only."""

import pytest
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from addin.backend.security import Policy, content_security_policy
from addin.config.settings import Settings

JSON = {"content-type": "application/json"}


def post(policy, host="localhost:8765", scheme="https", **headers):
    policy.check(
        "POST", scheme, Headers({"host": host, **JSON, **{k.replace("_", "-"): v for k, v in headers.items()}})
    )


@pytest.mark.parametrize("host", ["localhost", "localhost:8765", "127.0.0.1:1", "[::1]:8765", "LOCALHOST:8765"])
def test_loopback_names_are_its_own(host):
    post(Policy(Settings()), host=host)


@pytest.mark.parametrize(
    "host",
    [
        *(
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:8765",
            "",
            "x@localhost.evil",
            "[",
            "a:b:c",
        ),
        *("x@localhost", "x:y@localhost:8765", "localhost:8765/x", "localhost?x", "localhost#x", "localhost:", "[::1"),
        *("localhost\t", " localhost", "localhost:999999", "localhost:8a", "[localhost]"),
    ],
)
def test_any_other_name_is_refused(host):
    with pytest.raises(HTTPException) as caught:
        post(Policy(Settings()), host=host)
    assert caught.value.status_code == 421


def test_names_of_the_settings_are_its_own():
    policy = Policy(Settings(public_url="https://sheets.firm.example/x", allowed_hosts=("Other.example",)))
    post(policy, host="sheets.firm.example")
    post(policy, host="other.example:443")
    post(policy, host="other.example", origin="https://sheets.firm.example")


@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT", "PATCH"])
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "", "http://localhost:8765", "https://localhost:1"])
def test_a_page_of_another_origin_may_change_nothing(method, origin):
    with pytest.raises(HTTPException) as caught:
        Policy(Settings()).check(method, "https", Headers({"host": "localhost:8765", "origin": origin, **JSON}))
    assert caught.value.status_code == 403


def test_its_own_page_and_those_of_the_settings_may():
    policy = Policy(Settings(allowed_origins=("https://a.example",)))
    post(policy, origin="https://localhost:8765")
    post(policy, origin="https://A.example")


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", "", "multipart/form-data"])
def test_what_a_page_elsewhere_can_send_without_asking_is_refused(media_type):
    with pytest.raises(HTTPException) as caught:
        post(Policy(Settings()), content_type=media_type)
    assert caught.value.status_code == 415


def test_json_may_name_its_charset():
    post(Policy(Settings()), content_type="application/json; charset=utf-8")


def test_pages_may_be_framed_where_the_settings_say_and_load_office_js():
    policy = content_security_policy(("https://*.office.com",))
    assert "frame-ancestors 'self' https://*.office.com" in policy
    assert "script-src 'self' https://appsforoffice.microsoft.com;" in policy


def test_every_answer_carries_the_headers_also_a_refusal(sample_backend):
    for response in (
        sample_backend.http.get("/health"),
        sample_backend.http.get("/nowhere"),
        sample_backend.http.get("/health", headers={"host": "evil.example"}),
        sample_backend.http.post("/functions/call", content=b"{"),
    ):
        assert "frame-ancestors" in response.headers["content-security-policy"]
        assert response.headers["x-content-type-options"] == "nosniff"
        assert "x-frame-options" not in response.headers
        assert "access-control-allow-origin" not in response.headers


def test_refusals_are_json_over_http_too(sample_backend):
    refused = sample_backend.http.get("/status", headers={"host": "evil.example"})
    assert refused.status_code == 421
    assert "allowed_hosts" in refused.json()["error"]
    refused = sample_backend.http.post("/refresh", json={}, headers={"origin": "https://evil.example"})
    assert refused.status_code == 403
    refused = sample_backend.http.post("/refresh", content=b"{}", headers={"content-type": "text/plain"})
    assert refused.status_code == 415
