"""What an administrator should know of the backend's set-up before anybody uses it."""

from __future__ import annotations

from collections.abc import Mapping

from addin.backend.http import LOOPBACK
from addin.config.settings import Settings, misspelt
from addin.errors import SettingsError

GUARDING = frozenset({"oidc_issuer", "oidc_client_id", "oidc_users", "oidc_admins", "per_user_keys", "public_url"})
"""Settings that decide who may use the backend: one that is misspelt must not leave it open."""


def refuse_misspelt(environ: Mapping[str, str]) -> None:
    """Raise `SettingsError` for a variable that looks like one that decides who may use the backend."""
    for variable, meant in misspelt(environ).items():
        if meant in GUARDING:
            raise SettingsError(
                f"{variable} is no setting; it looks like {meant}, which decides who may use this backend"
            )


def concerns(settings: Settings, *, has_key: bool) -> list[str]:
    """What is open to others, one sentence each; `has_key` where a key is kept on this server.

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
        (is_open, "whoever reaches this backend can read /metrics: let the proxy refuse it, or set oidc_issuer"),
        (is_plain, "public_url is no https address: keys and sessions are accepted over https only"),
    )
    return [sentence for holds, sentence in found if holds]
