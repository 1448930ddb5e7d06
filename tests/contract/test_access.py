"""Keys, quota headers and error bodies (contract: Authentication, Errors, Limits)."""

import httpx
import pytest

from tests.contract.conftest import Caller
from tests.contract.shapes import ERROR, HEADERS, misfits

PATHS = (
    "/v1/signals",
    "/v1/signals/us-cpi",
    "/v1/signals/us-cpi/observations",
    "/v1/indices",
    "/v1/currents",
    "/v1/codex",
    "/v1/almanac",
    "/v1/wire",
)


@pytest.mark.parametrize("path", PATHS)
def test_without_a_key_every_endpoint_answers_401_with_the_error_body(nobody, path):
    answer = nobody.get(path)
    assert answer.status_code == 401
    assert misfits(answer.json(), ERROR) == []


@pytest.mark.parametrize(
    "authorization",
    ["Bearer", "Bearer nonsense", f"Bearer ds_{'0' * 40}", "Basic dXNlcjpwYXNz", "ds_key"],
)
def test_an_invalid_token_answers_401(target, authorization):
    answer = httpx.get(f"{target.url}/v1/signals", headers={"Authorization": authorization})
    assert answer.status_code == 401
    assert misfits(answer.json(), ERROR) == []


def test_a_key_in_the_address_does_not_count(target, nobody):
    assert nobody.get("/v1/signals", api_key=target.key).status_code == 401


@pytest.mark.parametrize("path", [*PATHS, "/v1/signals/no-such-signal", "/v1/no-such-endpoint"])
def test_every_answer_carries_tier_cap_and_remaining(pro, path):
    answer = pro.get(path)
    assert [name for name in HEADERS if name not in answer.headers] == []
    assert answer.headers["X-Service-Tier"].lower() in {"pro", "enterprise"}
    assert int(answer.headers["X-Service-RateLimit-Cap"]) >= 1
    assert 0 <= int(answer.headers["X-Service-RateLimit-Remaining"]) <= int(answer.headers["X-Service-RateLimit-Cap"])


def test_a_refused_key_is_told_with_the_three_headers_too(nobody):
    assert [name for name in HEADERS if name not in nobody.get("/v1/signals").headers] == []


def test_a_request_lowers_what_remains(pro):
    before, after = (int(pro.get("/v1/indices").headers["X-Service-RateLimit-Remaining"]) for _ in range(2))
    assert after < before


def test_a_free_key_reads_everything_but_the_wire(free):
    statuses = {path: free.get(path).status_code for path in PATHS if "us-cpi" not in path}
    assert statuses.pop("/v1/wire") == 402
    assert set(statuses.values()) == {200}


def test_answers_are_json(pro: Caller):
    for path in PATHS:
        assert pro.get(path).headers["Content-Type"].split(";")[0] == "application/json"


def test_the_api_is_read_only(pro):
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert pro.http.request(method, "/v1/signals").status_code in {404, 405}


def test_an_unknown_path_has_an_error_status(pro):
    assert pro.get("/v1/no-such-endpoint").status_code == 404


def test_the_description_has_version_1_0_0_and_the_endpoints_of_the_contract(nobody):
    document = nobody.get("/openapi.json").json()
    assert document["info"]["version"] == "1.0.0"
    for path in PATHS:
        assert path.replace("us-cpi", "{slug}") in document["paths"]


def test_the_plugin_manifest_is_json(nobody):
    assert nobody.get("/.well-known/ai-plugin.json").status_code == 200
    assert isinstance(nobody.get("/.well-known/ai-plugin.json").json(), dict)
