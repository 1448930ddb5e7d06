"""`addin check-config`: a server's set-up is tried, and what is wrong is said with what to do."""

import json

from tests.addin.commands import addin, environment


def states(environ):
    done = addin("check-config", "--json", environ=environ)
    return done.returncode, {each["topic"]: each for each in json.loads(done.stdout)}


def test_a_good_set_up_is_good_and_costs_no_request(service, tmp_path):
    code, found = states(environment(tmp_path, service))
    assert (code, {each["state"] for each in found.values()}) == (0, {"good"})
    assert {*found} == {"variables", "service", "store", "disk"}
    assert service.store.usage(service.key) == 0


def test_everything_that_is_wrong_is_told_at_once_with_what_to_do(service, tmp_path):
    environ = environment(
        tmp_path,
        service,
        redis_url="redis://127.0.0.1:1/0",
        oidc_issuer="https://127.0.0.1:1",
        oidc_client_id="sheets",
        public_url="https://127.0.0.1:1",
        per_user_key="true",
    )
    service.running.stop()
    code, found = states(environ)
    assert code == 1
    broken = {topic for topic, each in found.items() if each["state"] == "broken"}
    assert broken == {"variables", "service", "store", "ledger", "provider", "proxy"}
    assert "did you mean DATA_SERVICE_PER_USER_KEYS" in found["variables"]["text"]
    assert found["certificate"]["state"] == found["secrets"]["state"] == "warning"
    assert all(each["advice"] for each in found.values() if each["state"] != "good")
