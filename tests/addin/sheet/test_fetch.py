"""Fetching the component: pinned, checked, all or nothing."""

import base64
import hashlib
import io
import sys
import tarfile
from dataclasses import replace

import pytest

from addin.sheet.component import FOLDER, PACKAGES, STAMP, is_here, stamp_text
from addin.sheet.fetch import FetchError, fetch, unpack


def archive(folder, files):
    path = folder / "x-1.0.0.tgz"
    with tarfile.open(path, "w:gz") as packed:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            packed.addfile(info, io.BytesIO(content))
    return path


def package_of(path, files):
    integrity = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
    return replace(PACKAGES[0], integrity=f"sha512-{integrity}", files=files)


def test_only_the_files_that_are_needed_are_unpacked(tmp_path):
    path = archive(tmp_path, {"package/dist/a.js": b"code", "package/b.js": b"more", "../evil": b""})
    out = tmp_path / "out"
    out.mkdir()
    unpack(package_of(path, {"dist/a.js": "a.js"}), path, out)
    assert {file.name: file.read_bytes() for file in out.iterdir()} == {"a.js": b"code"}


def test_another_archive_than_the_one_that_was_checked_is_refused(tmp_path):
    path = archive(tmp_path, {"package/a.js": b"other"})
    with pytest.raises(FetchError, match="is not the archive that was checked"):
        unpack(PACKAGES[0], path, tmp_path)


def test_an_archive_that_is_not_there_is_told(tmp_path):
    with pytest.raises(FetchError, match=r"left no odoo-o-spreadsheet-19\.3\.7\.tgz"):
        unpack(PACKAGES[0], tmp_path / PACKAGES[0].archive, tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")
def test_npm_gets_no_key(tmp_path, monkeypatch):
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\nenv | grep -c API_KEY\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("DATA_SERVICE_API_KEY", "ds_" + 40 * "0")
    with pytest.raises(FetchError, match="npm could not fetch it: 0"):
        fetch(lambda _: None, tmp_path / "component")


def test_nothing_is_fetched_twice(tmp_path):
    (tmp_path / STAMP).write_text(stamp_text(), encoding="utf-8")
    said = []
    assert is_here(tmp_path)
    assert not fetch(said.append, tmp_path)
    assert said == []
    (tmp_path / STAMP).write_text(stamp_text().replace("19.3.7", "19.3.6"), encoding="utf-8")
    assert not is_here(tmp_path)


def test_a_program_that_fails_changes_nothing_and_says_why(tmp_path, monkeypatch):
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text("#!/bin/sh\necho 'no network' >&2\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(npm.parent))
    target = tmp_path / "component"
    with pytest.raises(FetchError, match="no network"):
        fetch(lambda _: None, target)
    assert not target.exists()


@pytest.mark.usefixtures("component")
def test_every_file_has_its_licence_beside_it():
    names = {path.name for path in FOLDER.iterdir()}
    assert names == {name for package in PACKAGES for name in package.files.values()} | {STAMP}
    assert all(any("LICENSE" in name for name in package.files.values()) for package in PACKAGES)
