"""The Helm chart: what it renders is accepted by the programs that read it, and the backend starts as it says."""

import shutil
import subprocess
import sys
from contextlib import closing

import httpx
import pytest
import yaml

from addin.config.settings import PREFIX, SECRETS, Settings
from tests.addin.commands import command, environment
from tests.attack.parts.redis_process import free_port
from tests.dataservice.stores.stores import redis_server
from tests.project.files import PROJECT

CHART = PROJECT / "docs" / "hosting-files" / "chart"
VALUES = {
    "image": {"repository": "registry.example.com/addin", "tag": "1"},
    "settings": {
        "url": "https://data.example.com",
        "public_url": "https://addin.example.com",
        "redis_url": "redis://valkey:6379/0",
        "max_users": 1_000_000,
        "allowed_hosts": "other.example.com",
    },
    "secret": {"name": "addin", "keys": ["session_secret", "metrics_token"]},
    "authorities": {"configMap": "authorities"},
    "ingress": {"host": "addin.example.com", "className": "nginx", "tlsSecret": "addin-tls"},
}
ADDRESS = "127.0.0.1"


def program(name):
    found = shutil.which(name) or shutil.which(name, path=str(PROJECT / ".venv" / "bin"))
    return found or pytest.skip(f"no {name} on this machine")


def helm(*arguments, **changed):
    given = yaml.safe_dump(VALUES | changed)
    done = subprocess.run(
        [program("helm"), *arguments, str(CHART), "--values", "-"],
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def rendered(**changed):
    code, text = helm("template", "addin", **changed)
    assert code == 0, text
    return {each["kind"]: each for each in yaml.safe_load_all(text) if each}


def container_of(objects):
    return objects["Deployment"]["spec"]["template"]["spec"]["containers"][0]


def environ_of(container):
    return {each["name"]: each.get("value") for each in container["env"]}


def test_helm_finds_nothing_to_complain_about():
    code, told = helm("lint", "--strict")
    assert (code, "[WARNING]" in told) == (0, False), told


def test_kubernetes_knows_every_field_of_the_deployment(tmp_path):
    deployment = rendered()["Deployment"]
    (tmp_path / "deployment.yaml").write_text(yaml.safe_dump(deployment))
    arguments = ["set", "image", "--local", "-f", tmp_path / "deployment.yaml", "addin=another", "-o", "json"]
    done = subprocess.run(
        [program("kubectl"), *arguments], env={"KUBECONFIG": "/dev/null"}, capture_output=True, check=True
    )
    container_of({"Deployment": deployment})["image"] = "another"
    assert missing(deployment, yaml.safe_load(done.stdout)) == []  # it drops what it does not know


def missing(given, kept, at=""):
    if isinstance(given, dict):
        return [
            found for name, each in given.items() for found in missing(each, (kept or {}).get(name), f"{at}.{name}")
        ]
    if isinstance(given, list):
        assert len(given) == len(kept or []), at
        return [
            found
            for n, (one, other) in enumerate(zip(given, kept, strict=True))
            for found in missing(one, other, f"{at}.{n}")
        ]
    return [] if given == kept or (given == "5" and kept == 5) else [at]


def test_every_setting_it_gives_is_one_as_it_was_given():
    environ = environ_of(container_of(rendered()))
    known = {f"{PREFIX}{name.upper()}" for name in Settings.__struct_fields__}
    assert {name for name in environ if name.startswith(PREFIX) and not name.endswith("_FILE")} - known - {
        f"{PREFIX}CA_FILE"
    } == set()
    assert environ[f"{PREFIX}MAX_USERS"] == "1000000"
    assert environ[f"{PREFIX}ALLOWED_HOSTS"] == "$(POD_IP),other.example.com"
    assert environ[f"{PREFIX}SESSION_SECRET_FILE"] == "/etc/addin/secrets/session_secret"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"image": {}}, "image"),
        ({"settings": {"url": "https://data.example.com", "public_url": "https://addin.example.com"}}, "redis_url"),
        ({"settings": VALUES["settings"] | {"public_url": "http://addin.example.com"}}, "public_url"),
        ({"settings": VALUES["settings"] | {"port": 80}}, "port"),
        ({"secret": {"keys": ["session_secret"]}}, "secret.name"),
        ({"secret": {"name": "addin", "keys": ["password"]}}, "keys"),
        ({"replica": 3}, "replica"),
    ],
)
def test_values_that_cannot_be_right_are_refused_by_name(changed, told):
    code, text = helm("template", "addin", **changed)
    assert (code != 0, told in text) == (True, True), text


def test_pods_may_take_longer_to_end_than_draining_and_batches_do():
    pod = rendered()["Deployment"]["spec"]["template"]["spec"]
    environ = environ_of(pod["containers"][0])
    ends_s = float(environ[f"{PREFIX}DRAIN_S"]) + float(environ[f"{PREFIX}STOP_TIMEOUT_S"])
    assert pod["terminationGracePeriodSeconds"] > ends_s > Settings().deadline_s


def test_secrets_it_knows_are_those_that_a_backend_reads():
    keys = yaml.safe_load((CHART / "values.schema.json").read_text())["properties"]["secret"]["properties"]["keys"]
    assert {*keys["items"]["enum"]} == SECRETS | {"redis_url"}


def test_a_backend_started_as_it_says_is_alive_and_ready_to_its_probes_and_scraped_by_its_address(service, tmp_path):
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    (secrets / "session_secret").write_text("s" * 40)
    (secrets / "metrics_token").write_text("t" * 32)
    port = str(free_port())
    with redis_server(tmp_path) as redis_url:
        settings = VALUES["settings"] | {"url": service.url, "redis_url": redis_url, "drain_s": 0}
        container = container_of(rendered(settings=settings, authorities={}))
        here = {"/etc/addin/secrets": str(secrets), "/home/addin": str(tmp_path), "$(POD_IP)": ADDRESS}
        here |= {"/var/cache/addin": str(tmp_path / "cache"), "8765": port, "0.0.0.0": ADDRESS}
        given = {name: text or ADDRESS for name, text in environ_of(container).items()}
        for told, instead in here.items():
            given = {name: text.replace(told, instead) for name, text in given.items()}
        assert container["args"][0] == "addin"
        arguments = command(container["args"][1:])
        with (
            subprocess.Popen(arguments, env=environment(tmp_path, None) | given, stderr=sys.stderr) as process,
            closing(
                httpx.Client(base_url=f"http://{ADDRESS}:{port}", transport=httpx.HTTPTransport(retries=0))
            ) as http,
        ):
            try:
                while not answers(http):
                    assert process.poll() is None
                for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                    asked = container[probe]["httpGet"]
                    headers = {each["name"]: each["value"] for each in asked["httpHeaders"]}
                    assert http.get(asked["path"], headers=headers).status_code == 200
                scraped = http.get("/metrics", headers={"authorization": "Bearer " + "t" * 32})
                assert (scraped.status_code, "addin_workers 1.0" in scraped.text) == (200, True)
            finally:
                process.terminate()
                process.wait(30)


def answers(http):
    try:
        return bool(http.get("/live", headers={"host": "localhost"}))
    except httpx.TransportError:
        return False
