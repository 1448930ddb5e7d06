"""The door to the service: refusals, failures and the headers they all carry."""

import logging

import httpx
import pytest
from sqlalchemy import text

from tests.embedded import EmbeddedService

HEADERS = ("X-Service-Tier", "X-Service-RateLimit-Cap", "X-Service-RateLimit-Remaining")


def get(service: EmbeddedService, path: str, key: str | None = None, **headers: str) -> httpx.Response:
    return httpx.get(service.url + path, headers={"Authorization": f"Bearer {key or service.key}", **headers})


def test_a_revoked_key_is_refused_from_the_next_request_on(service: EmbeddedService):
    assert get(service, "/v1/indices").status_code == 200
    service.store.keys.revoke(service.store.keys.find(service.key))
    assert get(service, "/v1/indices").status_code == 401


def test_a_refused_key_spends_nothing(service: EmbeddedService):
    assert get(service, "/v1/indices", key="ds_" + "0" * 40).status_code == 401
    assert [record.used for record in service.store.keys.records()] == [0, 0]


def test_401_says_which_scheme_is_wanted(service: EmbeddedService):
    assert httpx.get(f"{service.url}/v1/indices").headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("scheme", ["bearer", "BEARER"])
def test_the_scheme_is_read_in_any_case(service: EmbeddedService, scheme):
    answer = httpx.get(f"{service.url}/v1/indices", headers={"Authorization": f"{scheme} {service.key}"})
    assert answer.status_code == 200


def test_a_failure_inside_answers_500_with_the_error_body_and_the_headers(service: EmbeddedService, caplog):
    with service.store.database.writing() as connection:
        connection.execute(text("DROP TABLE indices"))
    with caplog.at_level(logging.ERROR):
        answer = get(service, "/v1/indices")
    assert answer.status_code == 500
    assert list(answer.json()) == ["error"]
    assert "indices" not in answer.json()["error"]
    assert [answer.headers[name] for name in HEADERS] == ["pro", "50000", "49999"]
    assert "GET /v1/indices failed" in caplog.text
    assert service.key not in caplog.text


def test_a_database_that_fails_at_the_door_answers_500_too(service: EmbeddedService, caplog):
    with service.store.database.writing() as connection:
        connection.execute(text("DROP TABLE usage"))
    answer = get(service, "/v1/indices")
    assert answer.status_code == 500
    assert [answer.headers[name] for name in HEADERS] == ["", "0", "0"]


def test_a_large_answer_is_compressed_for_those_who_can_read_it(service: EmbeddedService):
    path = "/v1/signals/eia.wti.spot/observations"
    packed, plain = get(service, path), get(service, path, **{"Accept-Encoding": "identity"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert packed.json() == plain.json()
    assert all(name in packed.headers for name in HEADERS)


def test_a_connection_is_kept_for_the_next_request(service: EmbeddedService):
    with httpx.Client(base_url=service.url, headers={"Authorization": f"Bearer {service.key}"}) as client:
        ports = {client.get("/v1/indices").extensions["network_stream"].get_extra_info("client_addr") for _ in range(3)}
    assert len(ports) == 1
