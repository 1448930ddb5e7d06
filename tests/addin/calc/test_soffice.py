"""Running LibreOffice from Python: found, given a profile of its own, and ended in any case."""

import os
import stat
import sys
from pathlib import Path

import pytest

from addin.calc.extension import Extension
from addin.calc.soffice import convert, find_soffice, prepared, python_in_the_way
from addin.errors import AddinError
from tests.addin.calc.books import column, write_book
from tests.addin.calc.counting import counted_backend, unused_url
from tests.addin.calc.office import require_soffice, running_office


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Return what makes a shell script the soffice to run."""

    def make(script: str):
        file = tmp_path / "soffice"
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("DATA_SERVICE_SOFFICE", str(file))
        return file

    return make


def test_the_soffice_that_the_environment_names_is_used(program):
    named = program("exit 0")
    assert find_soffice() == named


def test_libreoffice_gets_no_key(program, monkeypatch):
    monkeypatch.setenv("DATA_SERVICE_API_KEY", "ds_" + 40 * "0")
    program("env")
    with prepared() as office:
        told = office.run([])
    assert "DATA_SERVICE_ADDIN_FIT" in told
    assert "API_KEY" not in told


def test_a_soffice_that_is_named_but_not_there_is_told(monkeypatch):
    monkeypatch.setenv("DATA_SERVICE_SOFFICE", "nowhere/soffice")
    with pytest.raises(AddinError, match="nowhere/soffice, which is no file"):
        find_soffice()


def test_a_soffice_that_hangs_is_ended_with_all_it_started(program, tmp_path):
    program(f'sleep 600 & echo $! > "{tmp_path}/child"; wait')
    book = write_book(tmp_path / "a.xlsx", {"S": {"A1": 1}})
    with pytest.raises(AddinError, match="took longer than 1 s and was ended"):
        convert(book, to="csv", into=tmp_path / "made", timeout_s=1)
    child = int((tmp_path / "child").read_text())
    assert not _runs(child)


def _runs(process: int) -> bool:
    """Whether a process works; what was ended and not yet collected by its parent does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_soffice_that_fails_is_told_with_what_it_said(program, tmp_path):
    program("echo it is broken; exit 3")
    book = write_book(tmp_path / "a.xlsx", {"S": {"A1": 1}})
    with pytest.raises(AddinError, match="exit code 3: it is broken"):
        convert(book, to="csv", into=tmp_path / "made")


def test_a_soffice_that_asks_to_be_started_again_is(program, tmp_path):
    program(f'test -e "{tmp_path}/again" && echo done && exit 0; touch "{tmp_path}/again"; exit 81')
    with prepared() as office:
        assert office.run(["--version"]) == "done\n"


def test_another_python_first_on_the_path_does_not_reach_soffice(program, tmp_path, monkeypatch):
    other = tmp_path / "venv" / "bin"
    other.mkdir(parents=True)
    (other / "python3").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", f"{other}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("VIRTUAL_ENV", str(other.parent))
    program('echo "$PATH|$VIRTUAL_ENV"')
    with prepared() as office:
        path, environment = office.run([]).strip().split("|")
    assert str(other) not in path.split(os.pathsep)
    assert "/usr/bin" in path.split(os.pathsep)
    assert environment == ""


@pytest.mark.parametrize(
    ("home", "other", "ours", "told"),
    [
        ("3.11", "3.11", False, True),
        ("3.11", "3.12", False, False),
        (None, "3.11", False, False),
        ("3.11", "3.11", True, False),
    ],
)
def test_a_python_that_would_end_soffice_is_found(home, other, ours, told, tmp_path):
    program, folder = tmp_path / "program", tmp_path / "venv" / "bin"
    program.mkdir()
    folder.mkdir(parents=True)
    (folder.parent / "pyvenv.cfg").touch()
    (program / "soffice").touch()
    home_line = f"PYTHONHOME=file:///usr/lib/python{home}" if home else "PYTHONHOME=$ORIGIN/python-core"
    (program / "pythonloader.unorc").write_text(f"[Bootstrap]\n{home_line}\n")
    for name in ("python3", f"python{other}"):
        (folder / name).touch(mode=0o755)
    if ours:
        packages = folder.parent / "lib" / "python3.11" / "site-packages"
        packages.mkdir(parents=True)
        (packages / "dataservice_addin_libreoffice.pth").touch()
    found = python_in_the_way(program / "soffice", f"{folder}{os.pathsep}/usr/bin")
    assert found == (folder / "python3" if told else None)


def test_our_functions_work_in_an_activated_environment(sample_service, tmp_path, monkeypatch):
    require_soffice()
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    with counted_backend(sample_service, tmp_path) as backend:
        assert float(column(tmp_path, ['=DS.SIGNAL("us-cpi")'], backend.url)[0]) > 0


def test_a_soffice_that_was_killed_leaves_nothing_in_the_temporary_directory(sample_service, tmp_path):
    require_soffice()
    with running_office(Extension(url=unused_url())) as office:
        office.new_hidden()
        assert all(file.exists() for file in office.files)
    assert not any(file.exists() for file in office.files)


def test_a_book_is_not_converted_onto_itself(tmp_path):
    book = write_book(tmp_path / "a.xlsx", {"S": {"A1": 1}})
    with pytest.raises(ValueError, match="onto itself"):
        convert(book, to="xlsx", into=tmp_path)


def test_books_become_csv_pdf_and_ods_and_nothing_else_is_left(tmp_path):
    require_soffice()
    book = write_book(tmp_path / "a.xlsx", {"S": {"A1": 'a "quoted", one', "A2": 1.5, "A3": "=A2*2"}})
    made = tmp_path / "made"
    assert convert(book, to="csv", into=made).read_text() == '"a ""quoted"", one"\n1.5\n3\n'
    assert convert(book, to="pdf", into=made).read_bytes().startswith(b"%PDF")
    assert convert(book, to="ods", into=made).read_bytes().startswith(b"PK")
    assert sorted(file.name for file in made.iterdir()) == ["a.csv", "a.ods", "a.pdf"]


def test_a_file_that_is_no_book_is_told(tmp_path):
    require_soffice()
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04 not a zip")
    with pytest.raises(AddinError, match=r"could not convert|ended with"):
        convert(tmp_path / "a.xlsx", to="csv", into=tmp_path / "made", timeout_s=60)
