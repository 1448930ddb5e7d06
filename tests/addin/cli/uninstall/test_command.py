"""`addin uninstall` removes what the commands put on a machine, and says what."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from addin.calc.configuration import Names
from addin.calc.soffice import clean_environment
from addin.cli.uninstall.installed_item import item_of_files
from addin.cli.uninstall.installed_items import completion_items
from addin.cli.uninstall.office import calc_items
from tests.addin.commands import addin, command, environment

OURS = ("dataservice", "addin")


@pytest.fixture
def user(service, tmp_path) -> dict[str, str]:
    """A user of this machine, whose folders are all in one."""
    folders = {f"XDG_{name}_HOME": str(tmp_path / name.lower()) for name in ("STATE", "DATA")}
    return environment(tmp_path, service) | folders | {"XDG_RUNTIME_DIR": "", "DBUS_SESSION_BUS_ADDRESS": ""}


def files_of(user) -> list[str]:
    home = Path(user["HOME"])
    files = (path for path in home.rglob("*") if path.is_file() and "service.db" not in path.name)
    return sorted(str(path.relative_to(home)) for path in files)


def used(user, service) -> None:
    """Everything that leaves something behind, short of what starts at login."""
    for words, given in (
        (["key", "set"], service.key),
        (["eval", '=DS.SIGNAL("us-cpi")'], ""),
        (["certs", "install"], ""),
        (["sideload"], ""),
    ):
        done = addin(*words, environ=user, given=given)
        assert done.returncode == 0, done.stderr
    config = Path(user["XDG_CONFIG_HOME"], "dataservice-addin", "config.toml")
    config.write_text("ttl_s = 60\n", encoding="utf-8")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it would remove what the user of this machine has")
def test_it_shows_all_removes_what_is_not_kept_and_then_finds_nothing(user, service):
    used(user, service)
    before = files_of(user)
    shown = addin("uninstall", "--dry-run", environ=user)
    for what in ("the API key ending in", "the cache", "the certificate", "the manifest for Excel", "settings"):
        assert what in shown.stdout
    assert files_of(user) == before
    asked = addin("uninstall", environ=user)
    assert (asked.returncode, "--yes" in asked.stderr, files_of(user)) == (1, True, before)

    kept = addin("uninstall", "--yes", "--keep-cache", "--keep-settings", environ=user)
    assert kept.returncode == 0, kept.stderr
    names = {Path(name).name for name in files_of(user)}
    assert {"config.toml", "keys.json", "shelf-1.sqlite"} <= names
    assert not {name for name in names if name.endswith(".pem") or name == "manifest.xml"}

    done = addin("uninstall", "--yes", environ=user)
    assert done.returncode == 0, done.stderr
    assert "Removed the cache." in done.stdout
    assert "The program itself: " in done.stdout
    assert [name for name in files_of(user) if any(word in name for word in OURS)] == []
    assert not Path(user["XDG_CONFIG_HOME"], "dataservice-addin").exists()
    assert addin("uninstall", environ=user).stdout == "There is nothing of the add-in on this machine.\n"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it would remove what the user of this machine has")
def test_what_cannot_be_removed_is_told_and_the_rest_is_removed(user, service):
    used(user, service)
    Path(user["XDG_CONFIG_HOME"], "dataservice-addin", "config.toml").write_text("not toml", encoding="utf-8")
    log = Path(user["XDG_STATE_HOME"], "dataservice-addin", "log", "backend.log")
    log.mkdir(parents=True)  # a folder in the place of a file is removed as well
    done = addin("uninstall", "--yes", environ=user)
    assert "Settings are ignored" in done.stderr
    assert not log.exists()
    assert done.returncode == 0


def test_a_failing_step_leaves_the_others_their_turn(tmp_path, capsys):
    from addin.cli.commands.uninstall import _remove
    from addin.cli.uninstall.installed_item import InstalledItem

    def locked():
        raise PermissionError("in use by another program")

    file = tmp_path / "file"
    file.write_text("x")
    assert _remove([InstalledItem("the log", "there", locked), *item_of_files("the cache", [file])]) is True
    printed = capsys.readouterr()
    assert "Could not remove the log (there): in use by another program" in printed.err
    assert "Removed the cache." in printed.out
    assert not file.exists()


def test_completion_goes_with_the_line_that_loads_it_and_no_other(tmp_path):
    file = tmp_path / ".bash_completions" / "addin.sh"
    file.parent.mkdir()
    file.write_text("complete addin")
    rc = tmp_path / ".bashrc"
    rc.write_text(f"alias a=b\nsource '{file}'\nsource other.sh\n", encoding="utf-8")
    (item,) = completion_items(tmp_path)
    item.remove()
    assert rc.read_text(encoding="utf-8") == "alias a=b\nsource other.sh\n"
    assert list(completion_items(tmp_path)) == []


def test_the_extension_is_found_in_the_list_of_what_libreoffice_has(tmp_path):
    listed = tmp_path / ".config/libreoffice/4/user/uno_packages/cache/uno_packages.pmap"
    listed.parent.mkdir(parents=True)
    listed.write_bytes(b"Pmp1\n\0\x18org.dataservice.addin.fin\0lu1.tmp\0our.oxt\0\x0forg.other.addin\0")
    assert [item.where for item in calc_items(tmp_path)] == [Names("FIN").identifier]
    listed.write_bytes(b"Pmp1\n")
    assert list(calc_items(tmp_path)) == []


NO_UNOPKG = sys.platform != "linux" or shutil.which("unopkg") is None or os.geteuid() == 0


@pytest.mark.skipif(NO_UNOPKG, reason="LibreOffice's unopkg is not here, or refuses the superuser")
def test_the_extension_in_libreoffice_is_removed_by_libreoffice(user):
    own, folder = clean_environment({**os.environ, **user}), user["HOME"]
    subprocess.run(command(["calc-extension", "our.oxt", "--http"]), env=user, cwd=folder, check=True)
    subprocess.run(["unopkg", "add", "our.oxt"], env=own, cwd=folder, check=True, capture_output=True, timeout=120)
    assert "the extension in LibreOffice" in addin("uninstall", "--dry-run", environ=user).stdout
    done = addin("uninstall", "--yes", environ=user)
    assert "Removed the extension in LibreOffice." in done.stdout, done.stderr
    listed = subprocess.run(["unopkg", "list"], env=own, capture_output=True, text=True, check=True, timeout=120).stdout
    assert "org.dataservice.addin" not in listed
