"""The service inside the calling process: counted, slowed, stopped and started again."""

import httpx
import pytest

from dataservice.server import running
from tests.embedded import EmbeddedService


def _get(service: EmbeddedService, path: str) -> httpx.Response:
    return httpx.get(service.url + path, headers={"Authorization": f"Bearer {service.key}"})


def test_it_answers_on_a_free_port_of_this_machine(service: EmbeddedService):
    assert service.url.startswith("http://127.0.0.1:")
    assert _get(service, "/v1/signals/us-cpi").json()["data"]["name"].endswith("(made up)")


def test_it_remembers_the_path_and_query_of_every_request(service: EmbeddedService):
    _get(service, "/v1/signals?limit=2&offset=1")
    _get(service, "/v1/nothing")
    assert service.running.requests == ["/v1/signals?limit=2&offset=1", "/v1/nothing"]
    assert service.running.request_count == 2
    assert service.store.usage(service.key) == 2
    service.running.forget_requests()
    assert service.running.requests == []


def test_a_stopped_service_refuses_connections_until_it_starts_again_on_the_same_port(service: EmbeddedService):
    url = service.url
    service.running.stop()
    with pytest.raises(httpx.ConnectError):
        _get(service, "/v1/signals")
    service.running.start()
    assert service.url == url
    assert _get(service, "/v1/signals").status_code == 200


def test_stopping_twice_is_harmless_and_starting_twice_is_refused(service: EmbeddedService):
    with pytest.raises(RuntimeError, match="already runs"):
        service.running.start()
    service.running.stop()
    service.running.stop()


def test_a_latency_is_waited_before_each_answer(service: EmbeddedService):
    service.running.latency_s = 0.05
    assert _get(service, "/v1/signals").elapsed.total_seconds() >= 0.05


def test_a_database_file_can_be_served_without_opening_it_first(tmp_path):
    with running(tmp_path / "new.db") as service:
        assert httpx.get(f"{service.url}/openapi.json").json()["info"]["version"] == "1.0.0"
    assert (tmp_path / "new.db").is_file()


def test_a_taken_port_is_refused_at_once(service: EmbeddedService):
    with pytest.raises(OSError, match="in use"), running(service.store, port=service.running.port):
        pass
