"""Texts by others, as a model may read them: without characters that nobody sees, and told apart from our own words."""

from __future__ import annotations

import re
from typing import Any

from dataservice.key_text import KEY, without_keys
from udfs.records import HOW_SEVERAL, SEE_SIGNALS

WORDS_OF_OTHERS = "words_of_others"
"""The member of a result that names those members whose texts others wrote."""

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, such as the escape of a terminal; tabs and new lines stay
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphens, fillers, Mongolian selectors
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"  # of no width, or turning the direction
    "\ufe00-\ufe0f\U000e0000-\U000e0fff"  # selectors and tags: whole sentences can be hidden in them
    "\ue000-\uf8ff\U000f0000-\U0010ffff"  # private ones, which every program shows otherwise
    "]"
)
_KEY_AS_WORD = re.compile(rf"(?<![^\s'\"(\[,;]){KEY.pattern}(?![^\s'\")\],;:])")
"""A key that stands alone or in a sentence: in an address or the name of a file it may be the digest of a picture."""

_HALF = re.compile("[\ud800-\udfff]")


def seen(value: Any) -> Any:
    """The same value with only such characters in its texts and names as a reader sees; half a character is `\\ufffd`.

    No API key is left as a word in them: what was given in the wrong place is repeated to a model, and to who keeps its
    talks. Addresses and names of files, which may hold as many digits, stay as they are.

    >>> seen({"head\\u200bline": ["Oil\\u202e up", 3]})
    {'headline': ['Oil up', 3]}
    """
    if isinstance(value, str):
        value = _KEY_AS_WORD.sub(lambda found: without_keys(found[0]), value)
        if value.isascii() and value.isprintable():
            return value
        return _HALF.sub("\ufffd", _UNSEEN.sub("", value))
    if isinstance(value, dict):
        return {seen(name): seen(each) for name, each in value.items()}
    return [seen(each) for each in value] if isinstance(value, list | tuple) else value


_WORDS = {
    SEE_SIGNALS: "list_signals lists and searches those there are",
    HOW_SEVERAL: "give several in slugs",
    "set one with `addin key set` or in the task pane": "the user must set one with `addin key set`",
    "set a valid one with `addin key set` or in the task pane": "the user must set a valid one with `addin key set`",
    "try Refresh in a minute": "try again in a minute",
    "press Refresh after that": "try again after that",
    "not a range": "not a list",
    "TRUE or FALSE": "true or false",
}
"""What messages advise to do in a sheet, and the same for a model."""


def in_words_of_tools(message: str) -> str:
    """The message of a cell with the advice that fits a tool.

    >>> in_words_of_tools("no signal 'x'; SIGNALS lists and searches those there are")
    "no signal 'x'; list_signals lists and searches those there are"
    """
    for cells, tools in _WORDS.items():
        message = message.replace(cells, tools)
    return message
