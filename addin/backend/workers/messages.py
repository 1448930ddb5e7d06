"""What the workers of a port say to each other."""

from __future__ import annotations

import msgspec

from addin.protocol.messages import Question, ResourceReport


class WorkerQuery(msgspec.Struct, frozen=True, omit_defaults=True):
    """A worker's question to the others about the key that the store names `scope`, None without a key.

    With `question`: the user's answer to it, should the other hold it; with `granted`: so many requests were allowed,
    or declined; with `measure`: what the worker holds now. With none of them: what the other knows.
    """

    scope: str | None
    question: int | None = None
    granted: int | None = None
    load: bool = False
    measure: bool = False

    def text(self) -> str:
        """On one line."""
        return msgspec.json.encode(self).decode()


class WorkerReport(msgspec.Struct, frozen=True):
    """A worker's report on one key: its resources, its requests for formulas so far, the question that is open."""

    resources: list[ResourceReport]
    requests_total: int
    question: Question | None = None


class ConsentOutcome(msgspec.Struct, frozen=True):
    """For how many requests the answer was, where it was taken."""

    requests: int | None
