"""The open-source packages that the sheet is made of: which they are, where their files are, whether they are here.

Nothing of them is in the repository. `addin.sheet.fetch` brings them; a wheel that is built afterwards contains them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "component"
"""Where the files are, beside this one."""

ADVICE = "addin sheet --fetch"
"""The command that brings them."""

FETCHED_MB = 9
"""What is downloaded, of which 2.6 MB stay."""


@dataclass(frozen=True, slots=True)
class Package:
    """A package of the npm registry: its pinned version, its archive's hash as npm writes it, the files we need."""

    name: str
    version: str
    licence: str
    integrity: str
    files: Mapping[str, str]
    """Path in the package → name in our folder."""

    @property
    def archive(self) -> str:
        """The name that npm gives the package's archive."""
        return f"{self.name.removeprefix('@').replace('/', '-')}-{self.version}.tgz"


PACKAGES = (
    Package(
        "@odoo/o-spreadsheet",
        "19.3.7",
        "LGPL-3.0-or-later",
        "sha512-Ok/S/7DTMunM4tZLowYJ9Y3ps9ApO6kY6ID3HbjUrR2c0vHFymM3knjm+XtdG8M2rrXhtMK03Nw7oWJ9Wg1PIQ==",
        {
            "dist/o_spreadsheet.min.iife.js": "o_spreadsheet.js",
            "dist/o_spreadsheet.css": "o_spreadsheet.css",
            "dist/o_spreadsheet.xml": "o_spreadsheet.xml",
            "LICENSE": "o_spreadsheet.LICENSE.txt",
        },
    ),
    Package(
        "@odoo/owl",
        "2.8.3",
        "LGPL-3.0-only",
        "sha512-DbVDXISsfBGV1siB0Em/eXo2P0n7ZwFEe3qoQM3gQ4rlZHCWCSxA2hH+MaHSN0RYBEjxtxAPtwJ227nkhhjqgQ==",
        {"dist/owl.iife.min.js": "owl.js", "LICENSE": "owl.LICENSE.txt"},
    ),
    Package(
        "chart.js",
        "4.5.0",
        "MIT",
        "sha512-aYeC/jDgSEx8SHWZvANYMioYMZ2KX02W6f6uVfyteuCGcadDLcYVHdfdygsTQkQ4TKn5lghoojAsPj5pu0SnvQ==",
        {"dist/chart.umd.min.js": "chart.js", "LICENSE.md": "chart.LICENSE.txt"},
    ),
    Package(
        "luxon",
        "3.7.2",
        "MIT",
        "sha512-vtEhXh/gNjI9Yg1u4jX/0YVPMvxzHuGgCm6tC5kZyb08yjGWGnqAjGJvcXbqQR2P3MyMEFnRbpcdFS6PBcLqew==",
        {"build/global/luxon.min.js": "luxon.js", "LICENSE.md": "luxon.LICENSE.txt"},
    ),
    Package(
        "chartjs-adapter-luxon",
        "1.3.1",
        "MIT",
        "sha512-yxHov3X8y+reIibl1o+j18xzrcdddCLqsXhriV2+aQ4hCR66IYFchlRXUvrJVoxglJ380pgytU7YWtoqdIgqhg==",
        {"dist/chartjs-adapter-luxon.umd.min.js": "chart_dates.js", "LICENSE.md": "chart_dates.LICENSE.txt"},
    ),
    Package(
        "bootstrap",
        "5.3.3",
        "MIT",
        "sha512-8HLCdWgyoMguSO9o+aH+iuZ+aht+mzW0u3HIMzVu7Srrpv7EBBxTnrFlSCskwdY1+EOFQSm7uMJhNQHkdPcmjg==",
        {"dist/css/bootstrap.min.css": "bootstrap.css", "LICENSE": "bootstrap.LICENSE.txt"},
    ),
)

STAMP = "versions.txt"
"""Written last: names the packages that are there."""


def stamp_text() -> str:
    """Return what the stamp holds when every file is there in its pinned version."""
    return "".join(
        f"{package.name} {package.version} ({package.licence}) {package.integrity}\n" for package in PACKAGES
    )


def is_here(folder: Path = FOLDER) -> bool:
    """Return whether every file is there, in the pinned versions."""
    try:
        return (folder / STAMP).read_text(encoding="utf-8") == stamp_text()
    except OSError:
        return False
