"""The files for hosting: what they set exists, and the programs that read them accept them."""

import re
import shutil
import subprocess
import sys

import pytest
import yaml

from addin.config.settings import PREFIX, Settings
from tests.project.files import PROJECT, read

FILES = PROJECT / "docs" / "hosting-files"


def settings_named_in(text: str) -> set[str]:
    return {name.lower() for name in re.findall(rf"\b{PREFIX}([A-Z_]+)\b", text)}


@pytest.mark.parametrize("name", ["Containerfile", "compose.yaml", "addin.service", "addin@.service"])
def test_every_setting_in_the_files_is_one(name):
    named = settings_named_in((FILES / name).read_text(encoding="utf-8"))
    assert named
    assert named <= {*Settings.__struct_fields__}


def test_the_compose_file_builds_the_container_and_waits_for_its_store():
    services = yaml.safe_load((FILES / "compose.yaml").read_text(encoding="utf-8"))["services"]
    build = services["addin"]["build"]
    assert (FILES / build["context"] / build["dockerfile"]).resolve() == FILES / "Containerfile"
    assert services["addin"]["depends_on"] == {"valkey": {"condition": "service_healthy"}}
    assert services["addin"]["environment"]["DATA_SERVICE_REDIS_URL"].startswith("redis://valkey:")


@pytest.mark.parametrize(("name", "instance"), [("addin.service",) * 2, ("addin@.service", "addin@8765.service")])
def test_systemd_accepts_the_unit(tmp_path, name, instance):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze on this machine")
    unit = tmp_path / instance
    text = (FILES / name).read_text(encoding="utf-8").replace("User=addin", "User=daemon")
    unit.write_text(text.replace("/opt/addin/bin/addin", sys.executable), encoding="utf-8")
    checked = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False
    )
    assert (checked.returncode, [line for line in checked.stderr.splitlines() if str(unit) in line]) == (0, [])


def test_commands_on_the_server_run_as_the_service_does():
    unit = (FILES / "addin@.service").read_text(encoding="utf-8")
    command = (FILES / "addin-on-server").read_text(encoding="utf-8")
    of_unit = set(re.findall(r"^((?:User|UMask|LoadCredential|EnvironmentFile)=.*)", unit, re.MULTILINE))
    of_command = set(re.findall(r"--property=((?:User|UMask|LoadCredential|EnvironmentFile)=\S+)", command))
    assert of_command == {line.replace("=-/", "=/") for line in of_unit}
    folders = re.findall(r"[A-Z_]+=/[\w/]+", command.partition("Environment=")[2])
    assert len(folders) == 2
    assert all(folder in unit for folder in folders)


def test_batches_may_take_longer_to_end_than_the_backend_grants_them():
    text = (FILES / "addin.service").read_text(encoding="utf-8")
    granted = float(re.search(r"STOP_TIMEOUT_S=(\d+)", text)[1])
    assert float(re.search(r"TimeoutStopSec=(\d+)", text)[1]) > granted > Settings().deadline_s
    assert "docs/hosting-files/Containerfile" in read(FILES.relative_to(PROJECT) / "compose.yaml")
