"""What the terminal shows: texts from files and services, without characters that would act on it."""

from __future__ import annotations

import codecs
import re
import sys

import typer

from dataservice.key_text import without_keys

_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but tab and line feed, what turns the direction of writing, and halves of characters."""

_PLAIN = str.maketrans(
    {"✓": "+", "✗": "x", "≠": "!=", "…": "...", "→": "->", "▸": ">", "–": "-", "\N{MINUS SIGN}": "-", "’": "'"}
)
"""What stands for our marks where the output cannot hold them; a check and a cross must not both be a question mark."""


def printable(text: str) -> str:
    r"""The text with each control character replaced by one that shows it.

    >>> printable("a\x1b[2Jb")
    'a␛[2Jb'
    """
    return _ACTING.sub(_picture, text.replace("\r\n", "\n"))


def escaped(json: str) -> str:
    """The same JSON with control characters escaped, so that nothing is lost."""
    return _ACTING.sub(lambda found: f"\\u{ord(found[0]):04x}", json)


def echo(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text on stdout, or with `err` on stderr, without control characters.

    An error repeats what was typed, so no API key is left in it: what stderr shows ends up in logs and tickets.
    """
    typer.echo(printable(without_keys(text) if err else text), err=err, nl=nl)


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else "\N{REPLACEMENT CHARACTER}"


def write_what_the_output_can_hold() -> None:
    """Let stdout hold every text, also in an encoding that lacks characters, such as that of a Windows code page.

    Into a file or a pipe Windows writes cp1252, in which `addin doctor > report.txt` cannot say "✓".
    """
    codecs.register_error("dataservice.plain", _in_plain_characters)
    reconfigure = getattr(sys.stdout, "reconfigure", None)  # what stands in for stdout may lack it
    if reconfigure is not None and not sys.stdout.encoding.lower().startswith("utf"):
        reconfigure(errors="dataservice.plain")


def _in_plain_characters(error: UnicodeError) -> tuple[str | bytes, int]:
    """What stands for characters that an encoding lacks: one that reads alike, or its number."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_PLAIN)
    return text.encode("ascii", "backslashreplace").decode(), error.end
