"""The API key is where its owner put it, and nowhere else: no log, no answer, no cache, no error holds it."""

import httpx

from tests.addin.backends import backend_of
from tests.addin.commands import addin, environment
from tests.addin.serving import address_in, started


def test_no_file_beside_the_kept_key_holds_it(service, tmp_path):
    with backend_of(service, tmp_path) as backend:
        backend.batch(["SIGNAL", "us-cpi"], ["WIRE"], ["STATUS"], ["SIGNAL", "nope"], ["EXPLAIN", "us-10y"])
        backend.http.post("/key", json={"key": service.key})
        backend.batch(["SIGNAL", "us-cpi"])
        service.running.stop()
        backend.refresh("force")
        backend.batch(["SIGNAL", "us-cpi"], ["SIGNAL", "sp-500"])
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "service.db"]
    assert len(files) >= 2
    assert [path.name for path in files if service.key.encode() in path.read_bytes()] == ["keys.json"]


def test_no_answer_of_the_backend_holds_it(backend, service):
    asked = [
        backend.http.post("/functions/call", json={"calls": [["STATUS"], ["QUOTA"], ["SIGNAL", "us-cpi"]]}),
        backend.http.get("/status"),
        backend.http.post("/key", json={"key": service.key}),
        backend.http.post("/key/test", json={"key": service.key}),
        backend.http.post("/key/test", json={"key": None}),
        backend.http.get("/registry.json"),
        backend.http.delete("/key"),
    ]
    for response in asked:
        assert response.status_code == 200
        assert service.key not in response.text + str(response.headers)
        assert service.key[-12:] not in response.text


def test_a_key_typed_into_a_formula_is_not_logged(service, tmp_path):
    environ = environment(tmp_path, service)
    with started("--verbose", "serve", "--http", "--port", "0", environ=environ) as process:
        url = address_in(process)
        for calls in ([["SIGNAL", service.key]], [["SIGNAL", "us-cpi"], ["WIRE"]]):
            httpx.post(f"{url}/functions/call", json={"calls": calls}, trust_env=False).raise_for_status()
        service.running.stop()
        httpx.post(f"{url}/refresh", json={"mode": "force"}, trust_env=False)
        httpx.post(f"{url}/functions/call", json={"calls": [["SIGNAL", "us-cpi"]]}, trust_env=False)
        process.terminate()
        logged = "".join(process.communicate(timeout=30))
    assert service.key not in logged


def test_a_failing_command_does_not_show_it(service, tmp_path):
    service.running.stop()
    done = addin("--verbose", "eval", '=DS.SIGNAL("us-cpi")', environ=environment(tmp_path, service))
    assert done.returncode == 1
    assert service.key not in done.stdout + done.stderr
