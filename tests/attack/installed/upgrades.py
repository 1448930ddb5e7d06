"""An earlier version upgraded in every documented way: `python -m tests.attack.installed.upgrades [REVISION] [PYTHON]`.

The version of an earlier commit (the one before, unless one is named) is set up with an address and a key, and fetches
values. After the upgrade the new version runs with the same settings, key, cache and archive, shows the same values,
and sends no request for them.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from shutil import copy

from dataservice.server import RunningService, Store, import_directory, running, write_sample
from tests.attack.installed.ways import PROJECT, UV, Installed, done, run, user
from tests.embedded import SAMPLE_AS_OF

NAME = "dataservice-addin"
FORMULAS = (
    '=DS.SIGNAL("us-cpi")',
    '=ROWS(DS.SIGNAL_HISTORY("us-10y","MAX"))',
    '=DS.REVISIONS("us-cpi")',
    '=DS.INDEX("risk-dial")',
    "=ROWS(DS.SIGNALS())",
)


class Shelf:
    """A folder of wheels, from which all installers take ours."""

    def __init__(self, folder: Path, old: Path, new: Path) -> None:
        self.folder, self._old, self._new = folder, old, new
        folder.mkdir()

    def begin(self) -> None:
        """Offer the earlier version only."""
        for wheel in self.folder.iterdir():
            wheel.unlink()
        copy(self._old, self.folder)

    def publish(self) -> None:
        """Offer the new version, too."""
        copy(self._new, self.folder)


def wheel_of(revision: str, folder: Path) -> Path:
    """The wheel of a commit, built in a clone of its own."""
    clone = folder / "clone"
    environ = user(folder / "home")
    done(run(["git", "clone", "--quiet", str(PROJECT), str(clone)], environ))
    done(run(["git", "-C", str(clone), "checkout", "--quiet", revision], environ))
    done(run([UV, "build", "--quiet", "--wheel", "--out-dir", str(folder / "dist"), str(clone)], environ))
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


def by_pip(python: str, home: Path, environ: dict[str, str]) -> tuple[Installed, Callable[[], object]]:
    """`pip install --upgrade`."""
    done(run([python, "-m", "venv", str(home / "env")], environ))
    pip = [str(home / "env/bin/python"), "-m", "pip", "install", "--quiet", "--pre", NAME]
    done(run(pip, environ))
    return Installed("pip install --upgrade", home / "env/bin", environ), lambda: done(
        run([*pip, "--upgrade"], environ)
    )


def by_uv_tool(python: str, home: Path, environ: dict[str, str]) -> tuple[Installed, Callable[[], object]]:
    """`uv tool upgrade`."""
    done(run([UV, "tool", "install", "--quiet", "--python", python, "--prerelease", "allow", NAME], environ))
    installed = Installed("uv tool upgrade", home / ".local/bin", environ)
    return installed, lambda: done(run([UV, "tool", "upgrade", "--quiet", NAME], environ))


def by_pipx(python: str, home: Path, environ: dict[str, str]) -> tuple[Installed, Callable[[], object]]:
    """`pipx upgrade`."""
    done(run([python, "-m", "venv", str(home / "own")], environ))
    done(run([str(home / "own/bin/python"), "-m", "pip", "install", "--quiet", "pipx"], environ))
    pipx = str(home / "own/bin/pipx")
    done(run([pipx, "install", "--python", python, "--pip-args=--pre", NAME], environ))
    return Installed("pipx upgrade", home / ".local/bin", environ), lambda: done(run([pipx, "upgrade", NAME], environ))


def upgraded(
    installed: Installed, upgrade: Callable[[], object], shelf: Shelf, service: RunningService, key: str
) -> str:
    """Set the earlier version up, use it and upgrade it, and say how; `AssertionError` where anything is lost."""
    given = ("setup", "--url", service.url, "--key", "--host", "none", "--no-start")
    done(installed.run("addin", *given, given=f"{key}\n"))
    before, values = _version(installed), _values(installed)
    shelf.publish()
    upgrade()
    sent = service.request_count
    after = _version(installed)
    assert after != before, f"{installed.way} kept {before}"
    assert _values(installed) == values
    bought = service.request_count - sent
    assert bought == 0, f"{bought} requests for what was there"
    return f"{before} → {after}, {len(values)} formulas, {bought} requests"


def _version(installed: Installed) -> str:
    return done(installed.run("addin", "--version")).stdout.split()[-1]


def _values(installed: Installed) -> list[str]:
    return [done(installed.run("addin", "eval", formula)).stdout for formula in FORMULAS]


def main(revision: str, python: str) -> None:
    """Print one line for each way."""
    with tempfile.TemporaryDirectory(prefix="ds-upgraded-") as name, Store(Path(name) / "service.db") as store:
        folder = Path(name)
        for each in ("old", "new"):
            (folder / each).mkdir()
        shelf = Shelf(folder / "wheels", wheel_of(revision, folder / "old"), wheel_of("HEAD", folder / "new"))
        write_sample(folder / "data", as_of=SAMPLE_AS_OF)
        import_directory(store, folder / "data")
        with running(store) as service:
            for way in (by_pip, by_uv_tool, by_pipx):
                began = time.monotonic()
                shelf.begin()
                home = folder / way.__name__
                wheels = str(shelf.folder)
                environ = {**user(home), "PIP_FIND_LINKS": wheels, "UV_FIND_LINKS": wheels}
                installed, upgrade = way(python, home, environ)
                told = upgraded(installed, upgrade, shelf, service, store.create_key("pro"))
                print(f"{installed.way}: {told}, {time.monotonic() - began:.0f} s", flush=True)  # noqa: T201


if __name__ == "__main__":
    earlier, python, *_ = [*sys.argv[1:], *["HEAD~1", sys.executable][len(sys.argv) - 1 :]]
    main(earlier, python)
