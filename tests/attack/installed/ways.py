"""The documented ways to install a wheel, each into a folder of its own, without anything of this checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
UV = str(Path(sys.executable).with_name("uv"))
TIMEOUT_S = 600


@dataclass(frozen=True, slots=True)
class Installed:
    """A program as a user has it: where its commands are, and the environment of the user's terminal."""

    way: str
    programs: Path
    environ: Mapping[str, str] = field(repr=False)

    def run(self, *words: str, given: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        """A command of ours with arguments, run to its end in the user's home."""
        return run([str(self.programs / words[0]), *words[1:]], {**self.environ, **more}, given)


def run(words: Sequence[str], environ: Mapping[str, str], given: str = "") -> subprocess.CompletedProcess[str]:
    """A command run to its end in the user's home."""
    return subprocess.run(
        words, env=environ, cwd=environ["HOME"], input=given, capture_output=True, text=True, check=False,
        timeout=TIMEOUT_S,
    )  # fmt: skip


def built(into: Path) -> Path:
    """The wheel that one command builds, by way of the source archive."""
    into.mkdir()
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(into), str(PROJECT)]
    done(run(command, {**os.environ, "HOME": str(into)}))
    (wheel,) = into.glob("*.whl")
    return wheel


def user(home: Path) -> dict[str, str]:
    """The environment of a user with an empty home folder, whose path shows no environment of Python."""
    home.mkdir(parents=True)
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("DATA_SERVICE_", "PYTHON", "VIRTUAL_ENV", "UV_TOOL", "PIPX_"))
    }
    system = [folder for folder in os.environ["PATH"].split(os.pathsep) if not Path(folder, "addin").exists()]
    return {
        **kept,
        "HOME": str(home),
        "PATH": os.pathsep.join([str(home / ".local" / "bin"), *system]),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_STATE_HOME": str(home / "state"),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        "UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR", str(Path("~/.cache/uv").expanduser())),
    }


def with_pip(wheel: Path, python: str, home: Path) -> Installed:
    """`pip install` into a virtual environment."""
    environ = user(home)
    done(run([python, "-m", "venv", str(home / "env")], environ))
    done(run([str(home / "env/bin/python"), "-m", "pip", "install", "--quiet", str(wheel)], environ))
    return Installed("pip", home / "env" / "bin", environ)


def with_uv_pip(wheel: Path, python: str, home: Path) -> Installed:
    """`uv pip install` into an environment without pip."""
    environ = _with_uv_on_path(user(home))
    done(run([UV, "venv", "--quiet", "--python", python, str(home / "env")], environ))
    done(run([UV, "pip", "install", "--quiet", "--python", str(home / "env/bin/python"), str(wheel)], environ))
    return Installed("uv pip", home / "env" / "bin", environ)


def with_uv_tool(wheel: Path, python: str, home: Path) -> Installed:
    """`uv tool install`."""
    environ = _with_uv_on_path(user(home))
    done(run([UV, "tool", "install", "--quiet", "--python", python, str(wheel)], environ))
    return Installed("uv tool", home / ".local" / "bin", environ)


def with_pipx(wheel: Path, python: str, home: Path) -> Installed:
    """`pipx install`, with a pipx of its own."""
    environ = _with_uv_on_path(user(home))
    done(run([UV, "tool", "install", "--quiet", "pipx"], environ))
    done(run([str(home / ".local/bin/pipx"), "install", "--python", python, str(wheel)], environ))
    return Installed("pipx", home / ".local" / "bin", environ)


WAYS: tuple[Callable[[Path, str, Path], Installed], ...] = (with_pip, with_uv_pip, with_uv_tool, with_pipx)


def done(finished: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    """The same, if it succeeded; raises `AssertionError` with what it said."""
    assert finished.returncode == 0, f"{finished.args}\n{finished.stdout[-2000:]}\n{finished.stderr[-2000:]}"
    return finished


def _with_uv_on_path(environ: dict[str, str]) -> dict[str, str]:
    programs = Path(environ["HOME"], "programs")
    programs.mkdir()
    (programs / "uv").symlink_to(shutil.which("uv") or UV)
    return {**environ, "PATH": f"{programs}{os.pathsep}{environ['PATH']}"}
