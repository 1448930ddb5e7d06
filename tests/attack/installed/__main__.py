"""Install the wheel in every documented way and use every command: `python -m tests.attack.installed [PYTHON …]`.

Each Python named (this one if none) and each way has an empty home. Every command shows its help, and demo, template
and refresh work. A missing package is told; the command that is told is run, and then the package is there. At the end
`addin uninstall` leaves nothing in the home.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
import warnings
from pathlib import Path

import openpyxl

from dataservice.server import Store, import_directory, running, write_sample
from docs.generate.commands import commands
from tests.attack.installed.ways import UV, WAYS, Installed, built, done, run
from tests.embedded import SAMPLE_AS_OF


def main(pythons: list[str]) -> None:
    """Print one line for each Python and way; a failure ends it with what was said."""
    with tempfile.TemporaryDirectory(prefix="ds-installed-") as name:
        folder = Path(name)
        wheel = built(folder / "dist")
        write_sample(folder / "data", as_of=SAMPLE_AS_OF)
        with Store(folder / "service.db") as store:
            import_directory(store, folder / "data")
            with running(store) as service:
                key = store.create_key("pro")
                for number, python in enumerate(pythons):
                    for install in WAYS:
                        began = time.monotonic()
                        home = folder / f"{number} {install.__name__}"
                        installed = install(wheel, python, home)
                        used(installed, {"DATA_SERVICE_URL": service.url, "DATA_SERVICE_API_KEY": key})
                        print(f"{python}: {installed.way} works, {time.monotonic() - began:.0f} s", flush=True)  # noqa: T201


def used(installed: Installed, key: dict[str, str]) -> None:
    """Use every command of an installed program, with an embedded service's address and key in `key`."""
    shown = [done(installed.run(*words, "--help")).stdout for words, _ in commands()]
    assert all(text.startswith("Usage: ") for text in shown)
    _add_what_is_missing(installed, "demo", "--once")
    assert "Formulas on made-up data" in done(installed.run("addin", "demo", "--once")).stdout
    done(installed.run("addin", "template", "-o", "first.xlsx"))
    done(installed.run("addin", "refresh", "first.xlsx", **key))
    assert _errors_in(Path(installed.environ["HOME"], "first.xlsx")) == []
    _add_what_is_missing(installed, "mcp", **key)
    done(installed.run("addin", "uninstall", "--yes", **key))
    folders = [Path(installed.environ["HOME"], name) for name in ("config", "cache", "state")]
    assert [str(path) for folder in folders for path in folder.rglob("*dataservice*")] == []


def _add_what_is_missing(installed: Installed, *words: str, **key: str) -> None:
    """Run the command that missing packages are told with, in the user's shell."""
    told = installed.run("addin", *words, **key)
    assert told.returncode == 1, f"addin {words[0]} needs nothing but the wheel's own requirements"
    advice = re.split("packages?: ", told.stderr.strip())[1]
    done(run(["sh", "-c", advice], installed.environ))
    done(installed.run("addin", *words, **key))


def _errors_in(book: Path) -> list[str]:
    cells = (
        cell for sheet in openpyxl.load_workbook(book, data_only=True) for row in sheet.iter_rows() for cell in row
    )
    return [cell.coordinate for cell in cells if cell.data_type == "e"]


if __name__ == "__main__":
    warnings.filterwarnings("ignore", module="openpyxl")  # of what it would lose if it wrote the books
    assert Path(UV).exists(), "uv is missing: run `make test` once"
    main(sys.argv[1:] or [sys.executable])
