"""The wheel that one command builds holds everything, and runs where nothing of the checkout is."""

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.project.files import PROJECT, project_files
from tests.project.test_versions import PINS, PYPROJECT

PACKAGES = {"addin", "dataservice", "udfs"}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """The folder with the source archive, and the wheel that is built from that and not from the checkout."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(PROJECT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built) -> zipfile.ZipFile:
    (path,) = built.glob("*.whl")
    with zipfile.ZipFile(path) as opened:
        yield opened


def test_the_wheel_holds_every_file_of_the_packages_and_no_test(wheel):
    own = {path.as_posix() for path in project_files() if path.parts[0] in PACKAGES}
    names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    signpost = {"addin/calc/dataservice_addin_libreoffice.pth"}
    assert own - names == signpost  # it stands at the top, where Python looks for it
    fetched = {name for name in names if name.startswith("addin/sheet/component/")}
    assert names - own - fetched == {
        "dataservice_addin_libreoffice.pth",
        "addin/workbook/template/workbook_template.xlsx",
    }


def test_the_wheel_lists_what_it_runs_on_with_the_pinned_versions(wheel):
    (name,) = [name for name in wheel.namelist() if "/sboms/" in name]
    listed = json.loads(wheel.read(name))
    pins = {f"pkg:pypi/{name}@{version}" for name, version in (pin.split("==") for pin in PINS)}
    parts = {part["bom-ref"] for part in listed["components"]}
    assert (listed["bomFormat"], parts - pins) == ("CycloneDX", set())
    own = {canonicalize_name(Requirement(line).name) for line in PYPROJECT["project"]["dependencies"]}
    assert own <= {part["name"] for part in listed["components"]}
    assert not {"pytest", "ruff", "playwright"} & {part["name"] for part in listed["components"]}
    (direct,) = [each["dependsOn"] for each in listed["dependencies"] if each["ref"] not in parts]
    assert {*direct} <= parts


def test_the_source_archive_holds_the_change_log_and_the_licence(built):
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert {"CHANGELOG.md", "LICENSE", "README.md", "pyproject.toml"} <= names


def test_the_wheel_runs_in_an_environment_without_the_checkout(wheel, tmp_path):
    """The packages it needs are those of this environment; `tests.attack.installed` downloads them."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    python = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    own = Path(subprocess.run([str(python), "-c", ask], capture_output=True, text=True, check=True).stdout.strip())
    wheel.extractall(own)
    # Added at the end, and without its .pth files: one of them leads to the checkout.
    (own / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    where = "import addin, udfs, dataservice; print(addin.__file__, udfs.__file__, dataservice.__file__)"
    for command in (["-c", where], ["-m", "addin", "template", "-o", "first.xlsx"]):
        done = subprocess.run([str(python), *command], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert str(PROJECT) not in done.stdout
    assert (tmp_path / "first.xlsx").stat().st_size > 10_000
