"""The version of this product: taken from tags and the commit in a checkout, else the one that was installed.

The build runs this file alone, so it needs the standard library only.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from pathlib import Path

NEXT = "0.2.0"
"""The version that is being made as long as no tag names one; raised after each release."""

PROJECT = Path(__file__).resolve().parent.parent
_DESCRIBED = re.compile(r"(?:v(?P<tag>\d+(?:\.\d+)*)-(?P<since>\d+)-g)?(?P<commit>[0-9a-f]{7,40})")
_GIT_S = 10.0


def version_of(described: str, commits: int, changes: str) -> str:
    """The version of what `git describe --tags --long --always --match v*` tells, for `changes` not committed yet.

    Of two commits the later one has the higher version, and no two states have the same.

    >>> version_of("v0.2.0-0-g1a2b3c4", 900, ""), version_of("v0.2.0-3-g1a2b3c4", 903, "")
    ('0.2.0', '0.2.1.dev3+g1a2b3c4')
    >>> version_of("1a2b3c4", 903, "a line")
    '0.2.0.dev903+g1a2b3c4.d31b9ee4'
    """
    found = _DESCRIBED.fullmatch(described)
    if found is None:
        raise ValueError(f"git describes the checkout as {described!r}, which names no commit")
    changed = f".d{hashlib.sha256(changes.encode()).hexdigest()[:7]}" if changes else ""
    if found["tag"] is None:
        return f"{NEXT}.dev{commits}+g{found['commit'][:7]}{changed}"
    if found["since"] == "0" and not changes:
        return found["tag"]
    *major, last = found["tag"].split(".")
    return f"{'.'.join([*major, str(int(last) + 1)])}.dev{found['since']}+g{found['commit'][:7]}{changed}"


@cache
def product_version() -> str:
    """The version of the code that runs, such as `0.2.0` or `0.2.1.dev3+g1a2b3c4`."""
    if (PROJECT / ".git").exists() and (PROJECT / "pyproject.toml").exists():
        try:
            return _of_checkout()
        except (OSError, ValueError, subprocess.SubprocessError):
            pass  # no git here, or one that does not trust the folder
    return _installed()


def _of_checkout() -> str:
    described = _git("describe", "--tags", "--long", "--always", "--abbrev=7", "--match", "v[0-9]*")
    return version_of(described, int(_git("rev-list", "--count", "HEAD")), _git("diff", "HEAD", "--", "*.py", "*.js"))


def _git(*arguments: str) -> str:
    done = subprocess.run(  # noqa: S603 - our own arguments
        ["git", "-C", str(PROJECT), *arguments],  # noqa: S607 - whichever git is on the path
        capture_output=True,
        text=True,
        errors="replace",
        check=True,
        timeout=_GIT_S,
    )
    return done.stdout.strip()


def _installed() -> str:
    """The version of the source archive that this is, or of the installed package."""
    try:
        told = re.search(r"^Version: (\S+)$", (PROJECT / "PKG-INFO").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        told = None
    if told is not None:
        return told[1]
    try:
        return installed_version("dataservice-addin")
    except PackageNotFoundError:
        return NEXT


def office_version() -> str:
    """The version as Office and LibreOffice want it, as four numbers that only grow.

    The last one counts the commits of a version that is being made; a release has the highest.
    """
    return four_numbers(product_version())


def four_numbers(version: str) -> str:
    """The four numbers of a version.

    >>> four_numbers("0.2.0.dev903+g1a2b3c4"), four_numbers("0.2.0"), four_numbers("0.2.1.dev3+g1")
    ('0.2.0.903', '0.2.0.65534', '0.2.1.3')
    """
    released, _, made = version.partition("+")[0].partition(".dev")
    numbers = [part for part in released.split(".")[:3] if part.isdecimal()]
    return ".".join([*[*numbers, "0", "0"][:3], made or "65534"])
