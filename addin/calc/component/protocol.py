"""The backend's messages as this component reads them. Generated: `make reference` writes them again."""

from typing import Any, Dict, List, NamedTuple, Optional, Type, TypeVar

M = TypeVar("M")


class Progress(NamedTuple):
    """How far loading is, while something is pending."""

    done: int
    of: int
    left_s: Optional[float]
    """About how long the rest takes; null where nobody can know."""
    pace: Optional[str] = None
    """What limits it, in one sentence, where that is known."""


class Question(NamedTuple):
    """Whether so many requests may be sent: a cell that depends on it says so, or shows its last known value."""

    id: int
    """To be sent with the user's answer."""
    requests: int
    left: Optional[int]
    """What is left of the month, where it is known."""
    text: str
    """One sentence for the user."""


class Quota(NamedTuple):
    """What is left of the month, as the service told it last."""

    tier: str
    cap: int
    """Requests of a month."""
    remaining: int
    used_here: int
    """Spent by this installation in this month."""


class Reply(NamedTuple):
    """The answers to a batch, in its order."""

    answers: List[Dict[str, Any]]
    requests: int
    """Spent since the last reply, each told once."""
    quota: Optional[Quota]
    generation: int
    """When it grows, a host forgets all that it kept of answers."""
    progress: Optional[Progress] = None
    question: Optional[Question] = None


class Refreshed(NamedTuple):
    """A refresh has begun: what is asked for from now on is new."""

    generation: int
    quota: Optional[Quota]


class Advice(NamedTuple):
    """What to change in a formula."""

    advice: Optional[str]
    """A sentence; null where nothing is known."""


_WITHIN: Dict[Any, Dict[str, Any]] = {
    Reply: {"quota": Quota, "progress": Progress, "question": Question},
    Refreshed: {"quota": Quota},
}
"""The messages that stand in others."""


def read(kind: Type[M], members: Dict[str, Any]) -> M:
    """Return the message; raises `ValueError` for what is none. Members of a later version are passed over."""
    try:
        found = {name: members[name] for name in kind.__annotations__ if name in members}
        for name, inner in _WITHIN.get(kind, {}).items():
            if found.get(name) is not None:
                found[name] = read(inner, found[name])
        return kind(**found)
    except (TypeError, KeyError) as error:
        raise ValueError(f"not a {kind.__name__} of the backend's protocol: {error}") from None
