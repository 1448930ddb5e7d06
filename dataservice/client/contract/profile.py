"""The profile of a service: what a probe found where the contract says "not shown", and what the client makes of it."""

from __future__ import annotations

import msgspec

from dataservice.client.contract.completeness.evidence import NOTHING_SEEN, Evidence

VERSION = "v1"
"""Of the paths that were probed; a profile of other paths says nothing of these."""

VALID_S = 30 * 86_400.0
"""A service may change: a profile holds as long as a history does before it is pulled again."""

ENTRY = "#profile/"
"""Behind the scope of a key, which names its service too: profiles of two services or keys stand apart."""


class Finding(msgspec.Struct, frozen=True):
    """One open question: as documented, as found, and what the client does about it."""

    question: str
    documented: str
    found: str
    does: str = "as documented"
    differs: bool = False


class Profile(msgspec.Struct, frozen=True):
    """The findings of a probe at the time `made_at`, in seconds since the epoch, after so many requests."""

    made_at: float
    requests: int
    findings: tuple[Finding, ...]
    version: str = VERSION
    evidence: Evidence = NOTHING_SEEN

    @property
    def deviations(self) -> tuple[Finding, ...]:
        """The findings that are not as documented."""
        return tuple(finding for finding in self.findings if finding.differs)

    def is_of(self, version: str) -> bool:
        """Return whether the service says the `version` now that it said then; one that says none is the same."""
        return not version or not self.evidence.version or version == self.evidence.version

    def holds(self, now: float) -> bool:
        """Return whether the client goes by it."""
        return self.version == VERSION and self.made_at <= now + 60.0 and now < self.made_at + VALID_S


encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(Profile).decode


def profile_name(version: str = "") -> str:
    """The name of the entry of the profile of a `version` that the service says; of the last one without it."""
    return f"{ENTRY}{VERSION}{f'/{version}' if version else ''}"
