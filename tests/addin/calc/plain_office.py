"""A LibreOffice that knows nothing of us, with the settings of a new profile."""

import csv
from pathlib import Path

from addin.calc.soffice import Prepared, prepared

ALL_SHEETS = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,-1"
"""Values as they are, not as they are formatted."""


def shown_without_us(book: Path, folder: Path) -> dict[str, list[list[str]]]:
    """Return what each sheet of a book shows, row by row."""
    into = folder / "shown"
    with prepared() as office:
        command = [part for part in office.command if "UserInstallation" not in part]
        profile = f"-env:UserInstallation={(folder / 'plain profile').as_uri()}"
        plain = Prepared((*command, profile), office.environment, office.pipe)
        plain.run(["--headless", "--convert-to", ALL_SHEETS, "--outdir", str(into), str(book)])
    found = {}
    for path in into.glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            found[path.stem.removeprefix(f"{book.stem}-")] = list(csv.reader(file))
    return found
