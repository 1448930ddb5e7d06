"""Formulas that only show another cell, or a link to what is in it: the few of others that we work out ourselves."""

from __future__ import annotations

import re
from dataclasses import dataclass

from addin.formulas import Area, references


@dataclass(frozen=True, slots=True)
class Copy:
    """A formula that only shows another cell, or a link to what is in it.

    `=A1`, `=A1&""` (a blank cell stays blank), `=HYPERLINK(A1)`, `=HYPERLINK(A1,"Open")` and
    `=IF(A1="","",HYPERLINK(A1,"Open"))`. `label` is what a link shows instead of its address.
    """

    source: Area
    as_text: bool = False
    label: str | None = None
    blank_if_blank: bool = False


_SOURCE = r"(?P<source>(?:'(?:[^']|'')+'!|[\w.]+!)?\$?[A-Za-z]{1,3}\$?\d{1,7})"
_LINK = r'HYPERLINK\((?P<again>[^,()"]+),"(?P<label>(?:[^"]|"")*)"\)'
_COPIES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        _SOURCE,
        _SOURCE + '&""',
        rf"HYPERLINK\({_SOURCE}\)",
        _LINK.replace('(?P<again>[^,()"]+)', _SOURCE),
        rf'IF\({_SOURCE}="","",{_LINK}\)',
    )
)
"""The formulas that `copied` knows, without white space."""


def copied(formula: str) -> Copy | None:
    """The cell that the formula only shows; None for a formula that does anything else."""
    for pattern in _COPIES:
        if match := pattern.fullmatch(formula.removeprefix("=")):
            parts = match.groupdict()
            areas = references(parts["source"])
            if not areas or not isinstance(areas[0], Area) or parts.get("again", parts["source"]) != parts["source"]:
                return None
            label = parts.get("label")
            return Copy(
                areas[0],
                as_text=pattern is not _COPIES[0],
                label=None if label is None else label.replace('""', '"'),
                blank_if_blank="again" in parts,
            )
    return None
