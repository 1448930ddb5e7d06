"""No address reaches a file that is not ours, whatever a path means on Windows."""

import ntpath
from pathlib import PureWindowsPath
from urllib.parse import quote

import pytest
from starlette.routing import Route

from addin.backend import create_app
from addin.config.api_key import KeyStore, no_keychain
from addin.config.settings import Settings
from addin.excel import pages
from addin.excel.assets import STATIC

INSTALLED = PureWindowsPath(r"D:\python\.venv\Lib\site-packages\addin\excel\static")

HOSTILE = [
    r"D:\private\dataservice-addin\keys.json",
    r"C:keys.json",
    r"\\host\share\x.png",
    r"//host/share/x.png",
    r"\\?\C:\Windows\win.ini",
    r"\\.\pipe\x.json",
    r"..\..\config\api_key.py",
    r"..\manifest.xml",
    r"..%5cmanifest.xml",
    "../manifest.xml",
    "icons\\signal-32.png",
    "signal-32.png::$DATA",
    "signal-32.png.",
    "signal-32.png ",
    "SIGNAL-32.PNG",
    "CON",
    "NUL.json",
    "a" * 300 + ".png",
    "x\0.png",
    "/etc/passwd",
]


@pytest.mark.parametrize("folder", ["", "icons/", "taskpane/", "help/"])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_means_another_file_on_windows_is_not_served(sample_backend, folder, name):
    response = sample_backend.http.get(f"/{folder}{quote(name, safe='')}")
    assert response.status_code == 404
    assert "root:" not in response.text


def test_most_of_these_names_leave_the_folder_by_the_rules_of_windows():
    left = [name for name in HOSTILE if not _inside(ntpath.normpath(INSTALLED / "icons" / name))]
    assert len(left) >= 6


def test_no_route_takes_a_file_name_from_its_address(tmp_path):
    settings = Settings(url="https://data.example", cache_dir=tmp_path)
    keys = KeyStore(settings.url, open_keychain=no_keychain, file=tmp_path / "keys.json")
    app = create_app(settings, keys=keys, pages=pages.routes(settings))
    paths = [route.path for route in app.routes if isinstance(route, Route)]
    # Looked up in the registry, and among the contents that were read at the start.
    taking = [path for path in paths if "{" in path]
    assert [path.partition("{")[2] for path in taking] == ["function}", "name:path}"]
    served = {path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*.png")}
    assert {path[1:] for path in paths if path.endswith(".png")} == served


def _inside(path):
    return PureWindowsPath(path).is_relative_to(INSTALLED)
