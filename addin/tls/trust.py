"""The commands by which each system trusts our authority, forgets it, and says whether it trusts it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from addin.tls.certificates import AUTHORITY_NAME, Certificates

Platform: TypeAlias = Literal["windows", "mac", "linux"]

NSS_DATABASE = Path(".pki/nssdb")
"""Where Chromium on Linux keeps the certificates that a user trusts."""

CERTUTIL_NOTE = "(certutil comes with libnss3-tools)"


@dataclass(frozen=True, slots=True)
class Step:
    """One command, and what it is for."""

    command: tuple[str, ...]
    purpose: str


def platform() -> Platform:
    """The system this runs on."""
    return {"win32": "windows", "darwin": "mac"}.get(sys.platform, "linux")  # type: ignore[return-value]


def trust_steps(system: Platform, authority: Path, *, home: Path) -> list[Step]:
    """The commands that make `system` trust the authority, for this user only if the system can do that.

    >>> [step.command[0] for step in trust_steps("windows", Path("authority.pem"), home=Path())]
    ['certutil']
    """
    match system:
        case "windows":
            return [Step(("certutil", "-user", "-addstore", "Root", str(authority)), "trust it as this user")]
        case "mac":
            keychain = home / "Library/Keychains/login.keychain-db"
            added = ("security", "add-trusted-cert", "-r", "trustRoot", "-k", str(keychain), str(authority))
            return [Step(added, "trust it in the login keychain")]
        case "linux":
            new = Step(_nss(home, "-N", "--empty-password"), "make Chromium's list")
            add = _nss(home, "-A", "-t", "C,,", "-n", AUTHORITY_NAME, "-i", str(authority))
            trusted = Step(add, f"trust it in Chromium {CERTUTIL_NOTE}")
            return [trusted] if (home / NSS_DATABASE / "cert9.db").exists() else [new, trusted]


def untrust_steps(system: Platform, fingerprint: str, *, home: Path) -> list[Step]:
    """The commands that make `system` forget the authority with this SHA-1 fingerprint."""
    match system:
        case "windows":
            return [Step(("certutil", "-user", "-delstore", "Root", fingerprint), "trust it no longer")]
        case "mac":
            return [Step(("security", "delete-certificate", "-Z", fingerprint, "-t"), "trust it no longer")]
        case "linux":
            return [Step(_nss(home, "-D", "-n", AUTHORITY_NAME), "trust it no longer in Chromium")]


def trust_check(system: Platform, authority: Path, fingerprint: str, *, home: Path) -> Step:
    """The command that succeeds if `system` trusts the authority."""
    match system:
        case "windows":
            return Step(("certutil", "-user", "-verifystore", "Root", fingerprint), "whether it is trusted")
        case "mac":
            return Step(("security", "verify-cert", "-L", "-c", str(authority)), "whether it is trusted")
        case "linux":
            return Step(_nss(home, "-L", "-n", AUTHORITY_NAME), "whether Chromium trusts it")


def _nss(home: Path, *arguments: str) -> tuple[str, ...]:
    return ("certutil", "-d", f"sql:{home / NSS_DATABASE}", *arguments)


def distrust(own: Certificates) -> str | None:
    """Return why this system is not known to trust our authority; None if it does."""
    fingerprint = own.fingerprint()
    if fingerprint is None:
        return "there is none"
    return run([trust_check(platform(), own.authority, fingerprint, home=Path.home())])


def may_be_trusted(fingerprint: str, authority: Path, *, home: Path) -> bool:
    """Return whether this system trusts an authority, or cannot say that it does not."""
    check = trust_check(platform(), authority, fingerprint, home=home)
    if shutil.which(check.command[0]) is None:
        return platform() != "linux" or (home / NSS_DATABASE / "cert9.db").exists()
    return run([check]) is None


def untrust(own: Certificates, *, home: Path) -> str | None:
    """Let the system forget every authority that was ever made here; None if it has, else what is still there."""
    left = []
    own.remember()
    for fingerprint, authority in own.remembered().items():
        wrong = None
        if may_be_trusted(fingerprint, authority, home=home):
            wrong = run(untrust_steps(platform(), fingerprint, home=home))
        if wrong is None:
            own.forget(fingerprint)
        else:
            left.append(f"{wrong}; the authority {fingerprint} may still be trusted")
    return "; ".join(left) or None


def run(steps: Sequence[Step]) -> str | None:
    """Run the commands; None if all succeeded, else what went wrong."""
    for step in steps:
        program = shutil.which(step.command[0])
        if program is None:
            return f"there is no {step.command[0]} here"
        done = subprocess.run([program, *step.command[1:]], capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode != 0:
            said = (done.stderr or done.stdout).strip().splitlines()
            return f"{step.command[0]} ended with {done.returncode}{f': {said[-1]}' if said else ''}"
    return None
