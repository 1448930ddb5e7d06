"""What the backend runs with at login: the settings of the terminal in which it was installed, in a file of the user's.

At login no shell has exported anything. So the variables that count are kept: ours without the key, the proxy's, the
firm's certificates, and where the user's folders are. While the backend runs it looks at this file: if it changes, the
backend restarts, and if it is gone, the backend ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from addin.config.settings import PREFIX, SECRETS, config_dir, write_private
from addin.errors import AddinError

_KEPT = re.compile(r"(?:HTTPS?|ALL|NO)_PROXY|SSL_CERT_(?:FILE|DIR)|XDG_(?:CONFIG|CACHE|STATE|DATA)_HOME", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Record:
    """The form of the entry, the command it starts, and the variables that the command finds."""

    form: str
    command: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    http: bool = False


def kept_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that a backend needs as this terminal has them; never the key.

    >>> kept_variables({"DATA_SERVICE_PORT": "8766", "DATA_SERVICE_API_KEY": "ds_…", "LANG": "C", "NO_PROXY": "a.b"})
    {'DATA_SERVICE_PORT': '8766', 'NO_PROXY': 'a.b'}
    """
    secret = {f"{PREFIX}{name}".upper() for name in SECRETS}
    return {
        name: value
        for name, value in sorted(environ.items())
        if value.strip() and name.upper() not in secret and (name.startswith(PREFIX) or _KEPT.fullmatch(name))
    }


def record_file() -> Path:
    """Return where the record is, if there is one."""
    return config_dir() / "autostart.json"


def read_record(file: Path) -> Record | None:
    """Return the record in `file`, or None. Raises `AddinError` for a damaged one."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        return Record(**{**content, "command": tuple(content["command"])})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise AddinError(f"{file} cannot be used ({error}); write it again with: addin autostart install") from None


def write_record(file: Path, record: Record) -> None:
    """Write the record; only its owner can read it, because a proxy's address may hold a password."""
    write_private(file, json.dumps(asdict(record), indent=1, ensure_ascii=False).encode())
