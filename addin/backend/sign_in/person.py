"""Who signed in, and with which role: decided from the claims of the provider."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec
from starlette.requests import Request


class Role(StrEnum):
    """The role of a person: admins see everybody's usage, and may end sessions and delete keys."""

    USER = "user"
    ADMIN = "admin"


class Person(msgspec.Struct, frozen=True):
    """A person who signed in: the provider's own name for them, which never changes, a name to show, and the role.

    `id` is a short name for addresses, counters and logs, which does not give the subject away.
    """

    subject: str
    name: str
    role: Role
    id: str = ""


def subject_of(claims: Mapping[str, Any]) -> str:
    """The provider's own name for who these claims are about; empty if there is none that can be written down."""
    return _text(claims.get("sub"))


def person_of(claims: Mapping[str, Any], *, users: str, admins: str) -> Person | None:
    """Return who these claims are about; None for somebody who may not sign in.

    `users` and `admins` are rules such as `groups=finance`; everybody is a user where there is no rule for users.

    >>> person_of({"sub": "1", "groups": ["finance"]}, users="", admins="groups=finance").role
    <Role.ADMIN: 'admin'>
    """
    subject = subject_of(claims)
    is_admin = bool(admins) and _holds(claims, admins)
    if not subject or not (is_admin or not users or _holds(claims, users)):
        return None
    name = next(filter(None, (_text(claims.get(each)) for each in ("name", "email", "preferred_username"))), subject)
    return Person(subject, name[:100], Role.ADMIN if is_admin else Role.USER)


def person_in(request: Request) -> Person | None:
    """Return who signed in; None where nobody has to."""
    found: Person | None = request.scope.get("state", {}).get("person")
    return found


def _holds(claims: Mapping[str, Any], rule: str) -> bool:
    """Return whether a claim has the value of the rule, or is a list that has it.

    An address of e-mail that the provider has not verified is what somebody typed, so it is as if it were not there.
    """
    claim, _, value = (part.strip() for part in rule.partition("="))
    if claim == "email" and claims.get("email_verified") not in (True, "true"):
        return False
    found = claims.get(claim)
    return value in map(_text, found if isinstance(found, list) else [found])


def _text(claim: object) -> str:
    """A claim's value as text that can be stored and compared; empty for anything else, such as half a character."""
    if not isinstance(claim, str | int):
        return ""
    try:
        str(claim).encode()
    except UnicodeEncodeError:
        return ""
    return str(claim)
