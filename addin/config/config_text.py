"""One setting in the text of a config file, with everything else in it left as its user wrote it."""

from __future__ import annotations

import json
import re


def with_setting(text: str, name: str, value: str | None) -> str:
    """The text of a TOML file in which the setting has this value; without the setting where it is None.

    >>> with_setting("# mine\\nurl = 'a'\\n", "url", "https://b"), with_setting('url = "a"\\nport = 1\\n', "url", None)
    ('# mine\\nurl = "https://b"\\n', 'port = 1\\n')
    """
    own = re.compile(rf"^[ \t]*{re.escape(name)}[ \t]*=.*\n?", re.MULTILINE)
    head, table = _before_tables(text)
    line = "" if value is None else f"{name} = {json.dumps(value, ensure_ascii=False)}\n"
    if own.search(head):
        return own.sub(lambda _: line, head, count=1) + table
    head = head if not head or head.endswith("\n") else f"{head}\n"
    return head + line + table


def _before_tables(text: str) -> tuple[str, str]:
    """Return what stands before the first `[table]`, and the rest."""
    found = re.search(r"^[ \t]*\[", text, re.MULTILINE)
    return (text, "") if found is None else (text[: found.start()], text[found.start() :])
