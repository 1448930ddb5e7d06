"""Whom https to the service trusts."""

from __future__ import annotations

import ssl
from pathlib import Path

import httpx

from addin.errors import SettingsError


def trusted(ca_file: Path | None) -> ssl.SSLContext | bool:
    """Whom https trusts: the usual authorities, or those in SSL_CERT_FILE or SSL_CERT_DIR; and those in `ca_file`.

    Raises `SettingsError` if the file cannot be read or holds no certificate.
    """
    if ca_file is None:
        return True
    context = httpx.create_ssl_context()
    try:
        context.load_verify_locations(cafile=ca_file)
    except (OSError, ssl.SSLError) as error:
        why = "holds no certificate in PEM form" if isinstance(error, ssl.SSLError) else error.strerror
        raise SettingsError(f"the setting ca_file cannot be used: {ca_file} {why}") from None
    return context
