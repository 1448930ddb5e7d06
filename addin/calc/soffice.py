"""LibreOffice without a screen: with a fresh profile and our extension; it always recalculates and always ends."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from addin.calc.extension import Extension, extension_parts
from addin.config.secrets import without_secrets
from addin.errors import AddinError

Format: TypeAlias = Literal["xlsx", "ods", "pdf", "csv"]
"""What a book can be converted to."""

SOFFICE = "DATA_SERVICE_SOFFICE"
"""The environment variable with the path of the soffice to run."""

TIMEOUT_S = 120.0
"""Many times what a large book takes from a cold start."""

RESTART = 81
"""With this exit code soffice asks to be restarted, after it has written a new profile."""

_PYTHON_VARIABLES = frozenset({"VIRTUAL_ENV", "PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "__PYVENV_LAUNCHER__"})

_SYSTEM_FOLDERS = frozenset(Path(folder) for folder in ("/usr/bin", "/bin", "/usr/sbin", "/sbin"))

_SIGNPOST = "dataservice_addin_libreoffice.pth"
"""With this file in its environment, a Python inside of LibreOffice finds the module uno."""

_PLACES = (
    "/Applications/LibreOffice.app/Contents/MacOS/soffice",
    "C:/Program Files/LibreOffice/program/soffice.com",
    "/usr/lib/libreoffice/program/soffice",
    "/opt/libreoffice/program/soffice",
)

_CSV = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false"
"""Commas, quotes, UTF-8, from the first line, values as they are displayed."""

_PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load">
<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>{recalculate}</value></prop>
<prop oor:name="ODFRecalcMode" oor:op="fuse"><value>{recalculate}</value></prop></item>
<item oor:path="/org.openoffice.Setup/L10N">
<prop oor:name="ooSetupSystemLocale" oor:op="fuse"><value>{locale}</value></prop></item>
<item oor:path="/org.openoffice.Setup/Product">
<prop oor:name="ooSetupLastVersion" oor:op="fuse"><value>99.9</value></prop></item>
</oor:items>
"""
"""Whether to recalculate at loading, and one way of writing numbers on every machine.

For a profile of an older version LibreOffice tries out the graphics first, which takes longer than most books.
"""

ALWAYS, NEVER = 0, 1
"""When Calc works out what a file stores; never is what it does by itself, for nearly every file."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A soffice command with its own profile, the environment it needs, and the pipe that it makes."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    pipe: Path

    def run(self, arguments: Sequence[str], *, timeout_s: float = TIMEOUT_S) -> str:
        """What soffice printed; raises `AddinError` if it fails or takes longer. No process of it keeps running."""
        code, output = self._run(arguments, timeout_s)
        if code == RESTART:
            code, output = self._run(arguments, timeout_s)
        if code:
            raise AddinError(f"LibreOffice ended with exit code {code}: {output.strip()[-500:]}")
        return output

    def _run(self, arguments: Sequence[str], timeout_s: float) -> tuple[int, str]:
        """The exit code and what was printed; after the time the process and all it started are ended."""
        process = subprocess.Popen(  # noqa: S603 - the command is the soffice that was found, and our own arguments
            [*self.command, *arguments],
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            raise AddinError(f"LibreOffice took longer than {timeout_s:g} s and was ended") from None
        finally:
            end(process)
        return process.returncode, output


def find_soffice() -> Path:
    """The soffice to run: DATA_SERVICE_SOFFICE, on the path, or where LibreOffice is usually installed.

    Raises `AddinError` where there is none.
    """
    named = os.environ.get(SOFFICE)
    for place in (named,) if named else (shutil.which("soffice"), shutil.which("libreoffice"), *_PLACES):
        if place and Path(place).is_file():
            return Path(place)
    wanted = f"{SOFFICE} names {named}, which is no file" if named else "LibreOffice is not installed here"
    raise AddinError(f"{wanted}; install it, or set {SOFFICE} to its soffice")


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without secrets and without other Pythons, virtual environments among them.

    On Linux, LibreOffice may use the system's Python, which looks for its library beside the first `python3` on PATH.
    Without its own library LibreOffice aborts as soon as it needs Python.
    """
    kept = {name: value for name, value in without_secrets(environ).items() if name not in _PYTHON_VARIABLES}
    if os.name == "posix" and "PATH" in kept:
        folders = kept["PATH"].split(os.pathsep)
        kept["PATH"] = os.pathsep.join(f for f in folders if not _has_other_python(Path(f))) or os.defpath
    return kept


def python_in_the_way(soffice: Path, path: str) -> Path | None:
    """The Python on `path` with which `soffice` aborts if a user starts it from this terminal, or None.

    Only a LibreOffice that uses the system's Python is affected, and only by a Python of the same version; an
    environment with this package shows it the way.
    """
    settings = soffice.resolve().with_name("pythonloader.unorc")
    if not settings.exists():
        return None
    home = re.search(r"^PYTHONHOME=file:///usr/lib/(python3\.\d+)", settings.read_text(encoding="utf-8"), re.MULTILINE)
    first = shutil.which("python3", path=path)
    if home is None or first is None or Path(first).parent in _SYSTEM_FOLDERS:
        return None
    folder, library = Path(first).parent, Path("lib") / home.group(1) / "os.py"
    if (folder.parent / "lib" / home.group(1) / "site-packages" / _SIGNPOST).exists():
        return None
    is_environment = (folder.parent / "pyvenv.cfg").exists() and (folder / home.group(1)).exists()
    has_library = (Path(first).resolve().parent.parent / library).exists()
    return Path(first) if is_environment or has_library else None


def _has_other_python(folder: Path) -> bool:
    return folder not in _SYSTEM_FOLDERS and any((folder / name).exists() for name in ("python3", "python"))


@contextmanager
def prepared(
    extension: Extension | None = None,
    *,
    fit_tables: bool = False,
    locale: str = "en-US",
    recalculate: int = ALWAYS,
) -> Iterator[Prepared]:
    """A soffice that starts with a fresh profile and `extension`; both are deleted afterwards.

    With `fit_tables`, array formulas of ours are resized to their results when a book is loaded.
    """
    soffice = find_soffice()
    with tempfile.TemporaryDirectory(prefix="dataservice-calc-", ignore_cleanup_errors=True) as folder:
        profile, bundled = Path(folder) / "profile", Path(folder) / "extensions"
        (profile / "user").mkdir(parents=True)
        settings = _PROFILE.format(locale=locale, recalculate=recalculate)
        (profile / "user" / "registrymodifications.xcu").write_text(settings, encoding="utf-8")
        bundled.mkdir()
        environment = {
            **clean_environment(os.environ),
            **dict.fromkeys(("TMPDIR", "TMP", "TEMP"), folder),
            "DATA_SERVICE_ADDIN_FIT": "yes" if fit_tables else "no",
        }
        if extension is not None:
            _unpack(extension, bundled / "dataservice")
            environment["DATA_SERVICE_ADDIN_URL"] = extension.url
        command = (
            str(soffice),
            f"-env:BUNDLED_EXTENSIONS={bundled.as_uri()}",
            f"-env:UserInstallation={profile.as_uri()}",
            "--norestore",
            "--nologo",
        )
        pipe = pipe_file(_own_pipe(profile))
        try:
            yield Prepared(command, environment, pipe)
        finally:
            pipe.unlink(missing_ok=True)


def pipe_file(name: str) -> Path:
    """The socket that LibreOffice makes for a pipe on Linux and Mac, and leaves behind when it is killed."""
    return Path("/", "tmp", f"OSL_PIPE_{os.getuid() if os.name == 'posix' else 0}_{name}")


def _own_pipe(profile: Path) -> str:
    """The pipe by which a second soffice with the same profile finds the first."""
    digest = hashlib.md5(profile.as_uri().encode("utf-16-le"), usedforsecurity=False).digest()
    return "SingleOfficeIPC_" + "".join(f"{byte:x}" for byte in digest)


def convert(
    book: Path,
    *,
    to: Format,
    into: Path,
    extension: Extension | None = None,
    fit_tables: bool = False,
    timeout_s: float = TIMEOUT_S,
) -> Path:
    """Convert `book` after recalculating it, and return the new file in the folder `into`.

    With an `extension`, our functions are called through the backend at its address. A csv holds the first sheet.
    Raises `AddinError` where LibreOffice is missing, fails, or takes longer than `timeout_s` seconds.
    """
    target = into / f"{book.stem}.{to}"
    if target.resolve() == book.resolve():
        raise ValueError(f"{book} would be converted onto itself; give another folder")
    into.mkdir(parents=True, exist_ok=True)
    with prepared(extension, fit_tables=fit_tables) as office, tempfile.TemporaryDirectory(dir=into) as fresh:
        kind = _CSV if to == "csv" else to
        arguments = ["--headless", "--convert-to", kind, "--outdir", fresh, str(book.resolve())]
        output = office.run(arguments, timeout_s=timeout_s)
        made = Path(fresh) / target.name
        if not made.exists():
            raise AddinError(f"LibreOffice could not convert {book}: {output.strip()[-500:] or 'it did not say why'}")
        return made.replace(target)


def _unpack(extension: Extension, folder: Path) -> None:
    for name, content in extension_parts(extension).items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def end(process: subprocess.Popen[str]) -> None:
    """End the process and those that it started, soffice.bin among them."""
    if process.poll() is None:
        if sys.platform == "win32":
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], check=False, capture_output=True)  # noqa: S603, S607
        else:
            os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
