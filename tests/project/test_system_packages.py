"""The script that installs Debian packages finds the machine's own source in both forms that apt knows."""

import shutil
import subprocess

import pytest

from tests.project.files import PROJECT

SCRIPT = PROJECT / ".ci" / "install-debian-packages"
pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")


@pytest.fixture
def apt_etc(tmp_path):
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "os-release").write_text("ID=debian\nVERSION_CODENAME=bookworm\n")
    return tmp_path


def backports(apt_etc) -> dict[str, str]:
    """Run the script's step that adds backports, and return the files it wrote."""
    before = set(apt_etc.rglob("*"))
    command = f'source "{SCRIPT}"; as_root() {{ "$@"; }}; add_backports'
    environment = {"APT_ETC": str(apt_etc), "OS_RELEASE": str(apt_etc / "os-release"), "PATH": "/usr/bin:/bin"}
    subprocess.run(["bash", "-c", command], env=environment, check=True, capture_output=True)
    return {path.name: path.read_text().strip() for path in set(apt_etc.rglob("*")) - before}


def test_a_paragraph_is_copied_with_the_suite_replaced(apt_etc):
    (apt_etc / "sources.list.d" / "security.sources").write_text(
        "Types: deb\nURIs: http://mirror.example/security\nSuites: bookworm-security\nComponents: main"
    )
    (apt_etc / "sources.list.d" / "system.sources").write_text(
        "# the release\nTypes: deb\nURIs: http://mirror.example/release\n"
        "Suites: bookworm bookworm-updates\nComponents: main\nSigned-By: /usr/share/keyrings/k.gpg\n"
    )
    assert backports(apt_etc) == {
        "tests-backports.sources": "Types: deb\nURIs: http://mirror.example/release\n"
        "Suites: bookworm-backports\nComponents: main\nSigned-By: /usr/share/keyrings/k.gpg"
    }


def test_a_disabled_paragraph_is_not_copied(apt_etc):
    (apt_etc / "sources.list.d" / "a.sources").write_text(
        "Enabled: no\nTypes: deb\nURIs: http://off.example\nSuites: bookworm\nComponents: main\n\n"
        "Types: deb\nURIs: http://on.example\nSuites: bookworm\nComponents: main\n"
    )
    assert "http://on.example" in backports(apt_etc)["tests-backports.sources"]


def test_a_classic_line_is_copied_with_the_suite_replaced(apt_etc):
    (apt_etc / "sources.list").write_text(
        "# deb http://old.example bookworm main\n"
        "deb http://mirror.example/security bookworm-security main\n"
        "deb [signed-by=/usr/share/keyrings/k.gpg] http://mirror.example/release bookworm main\n"
    )
    assert backports(apt_etc) == {
        "tests-backports.list": "deb [signed-by=/usr/share/keyrings/k.gpg] http://mirror.example/release "
        "bookworm-backports main"
    }


def test_nothing_is_written_where_no_source_serves_the_release(apt_etc):
    (apt_etc / "sources.list").write_text("deb http://mirror.example/other trixie main\n")
    with pytest.raises(subprocess.CalledProcessError):
        backports(apt_etc)
    assert list((apt_etc / "sources.list.d").iterdir()) == []
