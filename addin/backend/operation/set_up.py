"""What an administrator should know of the backend's set-up before anybody uses it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

from addin.backend.http import LOOPBACK
from addin.config.settings import PREFIX, SECRETS, Settings
from addin.errors import SettingsError

OTHERS = frozenset({"config", "db", "addin_url", "addin_ca", "addin_fit", "soffice"})
"""Variables that are read beside the settings and secrets."""

LINK = re.compile(r"(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP)(_\w+)?)")
"""What Kubernetes sets for a service that is called data-service."""


def unknown_variables(environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """The variables that begin like settings and are none, each with the one that was meant, or nothing.

    >>> unknown_variables({f"{PREFIX}OIDC_ISSUR": "https://login.example", f"{PREFIX}URL": "https://x.example"})
    [('DATA_SERVICE_OIDC_ISSUR', 'DATA_SERVICE_OIDC_ISSUER')]
    """
    known = {*Settings.__struct_fields__, *SECRETS, *(f"{name}_file" for name in SECRETS), *OTHERS}
    found = []
    for variable in sorted(environ):
        name = variable.removeprefix(PREFIX).lower()
        is_ours = variable.startswith((PREFIX, PREFIX.lower())) and environ[variable].strip()
        if not is_ours or name in known or name.startswith("test_") or LINK.fullmatch(name.upper()):
            continue
        close = difflib.get_close_matches(name.removeprefix(PREFIX.lower()), known, 1, cutoff=0.7)
        found.append((variable, f"{PREFIX}{close[0].upper()}" if close else ""))
    return found


def refuse_unknown(environ: Mapping[str, str]) -> None:
    """Raise `SettingsError` for variables that are no settings: what somebody meant by them would not hold."""
    if unknown := unknown_variables(environ):
        told = [f"{name} is no setting{f'; did you mean {meant}?' if meant else ''}" for name, meant in unknown]
        raise SettingsError(f"{'. '.join(told)}. Correct or unset it; all of them: addin check-config")


def concerns(settings: Settings, *, has_key: bool, has_metrics_token: bool = False) -> list[str]:
    """Return what is open to others, one sentence each; `has_key` where a key is kept on this server.

    >>> concerns(Settings(), has_key=True)
    []
    >>> concerns(Settings(per_user_keys=True), has_key=True)
    ['a key is kept on this server that nobody uses, because each user has one: addin key forget']
    """
    is_public = bool(settings.public_url) or settings.host not in LOOPBACK
    is_open = is_public and settings.oidc_issuer is None
    is_plain = (settings.public_url or "").startswith("http:")
    found = (
        (
            has_key and settings.per_user_keys,
            "a key is kept on this server that nobody uses, because each user has one: addin key forget",
        ),
        (
            is_open and not settings.per_user_keys,
            "whoever reaches this backend spends its key: set oidc_issuer or per_user_keys, or put it behind a sign-in",
        ),
        (is_open and settings.serve_sheet, "whoever reaches this backend may use its sheet (serve_sheet)"),
        (
            is_open and not has_metrics_token,
            "whoever reaches this backend can read /metrics: set DATA_SERVICE_METRICS_TOKEN, or let a proxy refuse it",
        ),
        (is_plain, "public_url is no https address: keys and sessions are accepted over https only"),
    )
    return [sentence for holds, sentence in found if holds]
